// What hosts say of the units they hold: reports, saved items. Writer thread only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/service/core/transaction.h"

namespace gleaner::service {

// The host was heard of.
[[nodiscard]] Status touch_host(Transaction& tx, Host& host);
// A client lists all it holds. What it does not list it does not have: the reply with the grant was lost, or
// its disk.
[[nodiscard]] Status give_back_unknown(Transaction& tx, Host& host, const protocol::WorkRequest& request);
// Adds what the host is to do with each unit.
[[nodiscard]] Status take_reports(Transaction& tx, HostId host,
                                  const std::vector<protocol::UnitReport>& reports,
                                  std::vector<protocol::UnitOrder>& orders);
// Takes the data of those that are kept.
void keep_saved(Transaction& tx, const Host& host, std::vector<protocol::SavedItem>& saved);
// Keeps the output of kernels that administrators look at.
void keep_outputs(Transaction& tx, const Host& host, std::vector<protocol::UnitOutput>& outputs);
// The units whose output the host is to send; absent: none.
[[nodiscard]] std::optional<std::vector<UnitId>> outputs_wanted(const Transaction& tx, const Host& host);
// Seconds until the host is to report again: the shortest interval that a problem of its units or a viewer of
// their output wants.
[[nodiscard]] double heartbeat_interval(const Transaction& tx, const Host& host);
// Of what this host has units of.
[[nodiscard]] std::vector<protocol::ProblemProgress> progress_for(const Transaction& tx, const Host& host);
// Of what this relay has units of; absent: it is none.
[[nodiscard]] std::optional<std::vector<protocol::StageNews>> stages_for(const Transaction& tx,
                                                                         const Host& host);
}  // namespace gleaner::service
