// Kernels that failed: who is to blame (policy/blame.h), what is held back or stopped for it, and how people
// have what failed tried again. Writer thread only.
#pragma once

#include <optional>

#include "server/service/core/transaction.h"
#include "shared/protocol/admin_messages.h"
#include "shared/protocol/messages.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service {

// Of a unit that `host` holds. `said`: what report.statement says, whose signature and project were checked.
// It counts against the host that says it, that one or one under it, once; a relay's unit goes on, unless the
// item is set aside. At a relay only hosts are held back, and it is to be passed up (Model::failures_below).
// `taken`: untrusted, why a relay is not believed.
[[nodiscard]] Status take_failure(Transaction& tx, HostId host, const protocol::FailureReport& report,
                                  const std::optional<protocol::Failure>& said, Result<bool>& taken);

// How the message of a problem begins that waits for its administrator: it survives a restart.
inline constexpr std::string_view stopped_mark = "stopped: ";
// Was it stopped: its application fails on most hosts, or an input is damaged? Then going on with it is
// trying again.
[[nodiscard]] bool is_stopped(const Problem& problem);

// Items that were set aside are handed out again, a failed problem goes on from where it failed, and an
// application that was stopped gets another chance. `refusal`: why nothing can be tried again; empty: done.
[[nodiscard]] Status retry(Transaction& tx, Problem& problem, std::string& refusal);

// Accepted items of the present stage are computed again: they are free, and a problem that was being
// combined runs. REQUIRES: it is not over.
[[nodiscard]] Status reopen_items(Transaction& tx, Problem& problem, const RangeSet& items,
                                  const std::string& reason);

// The same of items whose results say that they failed, of a finished or failed problem, too, which then runs
// again. Results of nothing else are deleted. REQUIRES: a stage was planned; the problem is not cancelled.
[[nodiscard]] Status retry_items(Transaction& tx, Problem& problem, const RangeSet& items);

// Its stage is longer from now on; open units stay. A problem that is over runs again. `longer`: the plan,
// with more items than the stage has. REQUIRES: a stage was planned; the problem is not cancelled.
[[nodiscard]] Status extend_stage(Transaction& tx, Problem& problem, std::vector<protocol::Input> inputs,
                                  const storage::StageRow& longer);

// The rest of the problem, and what failed of it, is computed by another version of its application, whose
// manifest says that it continues the present one's results, and takes the problem's parameters and inputs.
// Open units are given back. `refusal` as above.
[[nodiscard]] Status upgrade(Transaction& tx, Problem& problem, const Application& version,
                             std::string& refusal);

}  // namespace gleaner::service
