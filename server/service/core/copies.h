// Hosts whose identity two programs use, as after a disk or a directory was copied: who of them is told, and
// what an administrator sees of it. The rule is policy/instances.h's. Writer thread only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/service/core/transaction.h"

namespace gleaner::service {

// A program of the host spoke. One that says nothing of itself is of a version of before.
[[nodiscard]] policy::Heard hear_instance(Transaction& tx, Host& host,
                                          const std::optional<protocol::Instance>& said);
// What it is told; absent: nothing.
[[nodiscard]] std::optional<protocol::InstanceOrder> order_of(policy::Heard heard);
// It joined as a host of its own after it was told that it is a copy of `original`, as it says.
void note_parted(Transaction& tx, const storage::HostRow& joined, HostId original);

// That a host runs twice, and what became of it: for a day. Empty: it does not.
[[nodiscard]] std::string copied_text(const Model& model, const Host& host, Timestamp now);
// The same of all hosts, with their names.
[[nodiscard]] std::vector<std::string> copy_warnings(const Model& model, Timestamp now);

}  // namespace gleaner::service
