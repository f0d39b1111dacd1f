#include "server/service/work/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server/service/core/stage_changes.h"
#include "shared/base/limits.h"

namespace gleaner::service {
namespace {

// That it holds units of, in order.
std::vector<ProblemId> problems_of(const Model& model, const Host& host) {
  std::set<ProblemId> problems;
  for (const UnitId unit : host.units)
    if (const auto place = model.open_units.find(unit); place != model.open_units.end())
      problems.insert(place->second);
  return {problems.begin(), problems.end()};
}

bool is_relay(const Model& model, HostId host) {
  const auto found = model.hosts.find(host);
  return found != model.hosts.end() && found->second.row.children > 0;
}

protocol::UnitOrder order_for(const Transaction& tx, policy::RecordedStage& stage, HostId host,
                              const protocol::UnitReport& report, policy::Changes& changes) {
  if (!report.relay || !is_relay(tx.model, host))
    return stage.apply(policy::ReportEvent{host, report}, tx.now, changes);
  const auto& relay = *report.relay;
  return stage.apply(
      policy::RelayReportEvent{
          host, policy::RelayReport{report.unit, relay.begun, relay.seconds_left, relay.rate, relay.slots}},
      tx.now, changes);
}

}  // namespace

Status touch_host(Transaction& tx, Host& host) {
  if (host.row.state == protocol::HostState::active)
    tx.model.contacts.heard(host.row.last_contact, tx.now, tx.now);
  host.row.last_contact = tx.now;
  tx.model.project->heard(host.row.id, tx.now);
  // Memory is enough between the minutes: after a crash all hosts count as heard of anyway.
  if (host.row.last_contact - host.stored_contact < std::chrono::minutes{1} &&
      host.row.last_contact >= host.stored_contact)
    return {};
  host.stored_contact = host.row.last_contact;
  return tx.store.update_host(host.row);
}

Status give_back_unknown(Transaction& tx, Host& host, const protocol::WorkRequest& request) {
  std::set<UnitId> held;
  for (const auto& report : request.units) held.insert(report.unit);
  for (const auto& commit : request.commits) held.insert(commit.unit);
  const UnitSet open = host.units;
  for (const UnitId unit : open) {
    if (held.contains(unit)) continue;
    const auto place = tx.model.open_units.find(unit);
    if (place == tx.model.open_units.end()) continue;
    Problem& problem = tx.model.problems[place->second];
    if (!problem.stage) continue;
    policy::Changes changes;
    problem.stage->apply(
        policy::GiveBackEvent{host.row.id, unit, policy::GiveBack::returned, 0,
                              request.trouble ? "its relay gives it back: " + *request.trouble
                                              : "the host does not hold it (a reply or its state was lost)"},
        tx.now, changes);
    TRY(store_stage(tx, problem, changes));
  }
  return {};
}

Status take_reports(Transaction& tx, HostId host, const std::vector<protocol::UnitReport>& reports,
                    std::vector<protocol::UnitOrder>& orders) {
  for (const auto& report : reports) {
    const auto place = tx.model.open_units.find(report.unit);
    const auto found =
        place == tx.model.open_units.end() ? tx.model.problems.end() : tx.model.problems.find(place->second);
    if (found == tx.model.problems.end() || !found->second.stage) {
      orders.push_back(
          {report.unit, protocol::UnitAction::cancel, report.finished, "it is no longer needed"});
      continue;
    }
    Problem& problem = found->second;
    policy::Changes changes;
    protocol::UnitOrder order = order_for(tx, *problem.stage, host, report, changes);
    if (order.action == protocol::UnitAction::go_on && problem.row.state == protocol::ProblemState::paused) {
      order.action = protocol::UnitAction::pause;
      order.reason = "the problem is paused";
    }
    orders.push_back(std::move(order));
    TRY(store_stage(tx, problem, changes));
  }
  return {};
}

void keep_saved(Transaction& tx, const Host& host, std::vector<protocol::SavedItem>& saved) {
  if (host.row.disagreements > 0) return;  // as wrong as its results were, for all anybody knows
  for (protocol::SavedItem& one : saved) {
    const auto place = tx.model.open_units.find(one.unit);
    const auto found =
        place == tx.model.open_units.end() ? tx.model.problems.end() : tx.model.problems.find(place->second);
    if (found == tx.model.problems.end()) continue;
    Problem& problem = found->second;
    if (!problem.stage || !problem.manifest.checkpoint) continue;
    // Before the stage counts on it: whoever goes on with an item needs what was saved.
    if (!problem.saved.has_room(one.item, one.data.size())) {
      if (!std::exchange(problem.saved_full, true))
        tx.effects.warn(
            fmt::format("problem {}: the saved states of its items take more than {} MiB: no more are kept",
                        problem.row.id.value, limits::saved_per_problem_bytes_max >> 20));
      continue;
    }
    if (problem.stage->apply(policy::SaveEvent{host.row.id, one.unit, one.item, one.share}, tx.now))
      problem.saved.put(one.item, std::move(one.data));
  }
}

void keep_outputs(Transaction& tx, const Host& host, std::vector<protocol::UnitOutput>& outputs) {
  for (protocol::UnitOutput& one : outputs)
    if (host.units.contains(one.unit)) tx.model.outputs.put(one.unit, std::move(one.text), tx.now);
}

std::optional<std::vector<UnitId>> outputs_wanted(const Transaction& tx, const Host& host) {
  std::vector<UnitId> wanted;
  for (const UnitId unit : host.units)
    if (tx.model.outputs.wanted(unit, tx.now) &&
        wanted.size() < static_cast<std::size_t>(limits::outputs_per_heartbeat_max))
      wanted.push_back(unit);
  if (wanted.empty()) return std::nullopt;
  return wanted;
}

double heartbeat_interval(const Transaction& tx, const Host& host) {
  if (outputs_wanted(tx, host)) return LiveOutputs::interval_seconds;
  return tx.model.project->dispatch().heartbeat_seconds(problems_of(tx.model, host), tx.now);
}

std::optional<std::vector<protocol::StageNews>> stages_for(const Transaction& tx, const Host& host) {
  if (host.row.children == 0) return {};
  std::vector<protocol::StageNews> news;
  for (const ProblemId id : problems_of(tx.model, host)) {
    const auto found = tx.model.problems.find(id);
    if (found == tx.model.problems.end() || !found->second.stage) continue;
    if (news.size() == static_cast<std::size_t>(limits::progress_per_reply_max)) break;
    const policy::Stage& stage = found->second.stage->view();
    news.push_back({id, found->second.row.stage, stage.seconds_in_all(), stage.ledger().free().empty()});
  }
  return news;
}

std::vector<protocol::ProblemProgress> progress_for(const Transaction& tx, const Host& host) {
  std::vector<protocol::ProblemProgress> progress;
  for (const ProblemId id : problems_of(tx.model, host)) {
    const auto found = tx.model.problems.find(id);
    if (found == tx.model.problems.end() || !found->second.stage) continue;
    if (progress.size() == static_cast<std::size_t>(limits::progress_per_reply_max)) break;
    const auto counts = found->second.stage->view().counts(tx.now);
    const auto& stage = found->second.stage_row;
    progress.push_back(
        {id, counts.items, counts.accepted, counts.contributors,
         policy::done_of(stage.done_before, counts.cost_accepted, counts.cost, stage.cost_ahead)});
  }
  return progress;
}

}  // namespace gleaner::service
