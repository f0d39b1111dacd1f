#include "server/service/work/failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server/service/core/dispatch_terms.h"
#include "server/service/core/read_ahead.h"
#include "server/service/core/stage_changes.h"
#include "server/service/work/application_form.h"
#include "server/service/work/reports.h"
#include "server/service/work/trust.h"
#include "shared/base/clean_text.h"
#include "shared/base/figures.h"
#include "shared/json/text.h"

namespace gleaner::service {
namespace {

using policy::Ruling;
using protocol::ProblemState;

// Bytes of a host's words in the log; the failure keeps all of them.
constexpr std::size_t logged_message_max = 200;

Status keep_failure(Transaction& tx, Problem& problem, const policy::FailedEvent& event) {
  storage::FailureRow row{event.unit, event.host,    problem.row.id, problem.row.stage,       event.kind,
                          event.item, event.message, tx.now,         problem.application_name};
  TRY(tx.store.add_failure(row));
  tx.effects.warn(fmt::format("unit {} of problem {} failed on host {}: {}: {}", event.unit.value,
                              problem.row.id.value, event.host.value, protocol::name_of(event.kind),
                              clean_line(event.message, logged_message_max)));
  ++tx.model.failures;
  problem.recent_failures.push_back(std::move(row));
  if (problem.recent_failures.size() > recent_failures_max)
    problem.recent_failures.erase(problem.recent_failures.begin());
  return {};
}

// It waits for its administrator: its application fails on most hosts.
Status stop_failing(Transaction& tx, Problem& problem, const std::string& reason) {
  const ProblemId id = problem.row.id;
  problem.row.resume_to = std::exchange(problem.row.state, ProblemState::paused);
  problem.row.message = fmt::format(
      "{}{}: {}. Fix the application and run `gleaner-admin problem upgrade {} --app NAME@VERSION`, "
      "or `gleaner-admin problem retry {}`",
      stopped_mark, problem.application_name, reason, id.value, id.value);
  tx.effects.warn(fmt::format("problem {} ({}) is {}", id.value, problem.row.name, problem.row.message));
  tell_dispatch(tx, problem);
  return tx.store.update_problem(problem.row);
}

// The stage from its rows, with only these items set aside.
Status reopen_stage(Transaction& tx, Problem& problem, const RangeSet& set_aside = {}) {
  problem.stage_row.set_aside = set_aside.ranges();
  TRY(tx.store.put_stage(problem.stage_row));
  problem.saved = {};
  tell_dispatch(tx, problem);
  TRY_ASSIGN(auto stored, read_stage(tx.store, problem.stage_row));
  restore_stage(std::move(stored), tx.settings, tx.now, problem, tx.model);
  return restore_audits(tx, problem);
}

Status hand_out_again(Transaction& tx, Problem& problem, std::int64_t item) {
  RangeSet aside;
  for (const Range range : problem.stage_row.set_aside) aside.add(range);
  aside.remove({item, item + 1});
  if (aside.empty()) problem.row.message.clear();
  TRY(tx.store.update_problem(problem.row));
  return reopen_stage(tx, problem, aside);
}

Status apply(Transaction& tx, Host& host, Problem& problem, const std::vector<ProblemId>& paused,
             const Ruling& ruling) {
  switch (ruling.kind) {
    case Ruling::Kind::set_aside:
      return {};  // the stage's
    case Ruling::Kind::give_back:
      tx.effects.info(fmt::format("problem {}: item {} is handed out again: {}", problem.row.id.value,
                                  ruling.item, ruling.reason));
      return hand_out_again(tx, problem, ruling.item);
    case Ruling::Kind::hold_pair:
      tx.effects.warn(fmt::format("host {} gets no work of {} for {:.0f} s: {}", host.row.id.value,
                                  problem.application_name, ruling.seconds, ruling.reason));
      return {};
    case Ruling::Kind::hold_host:
      tx.effects.warn(fmt::format("host {} gets no work for {:.0f} s: it fails with several applications: {}",
                                  host.row.id.value, ruling.seconds, ruling.reason));
      host.row.health.blocked_until = tx.now + from_seconds(ruling.seconds);
      host.row.health.reason = ruling.reason;
      tell_dispatch(tx, host);
      return tx.store.update_host(host.row);
    case Ruling::Kind::stop_application:
      for (const ProblemId id : paused) TRY(stop_failing(tx, tx.model.problems.at(id), ruling.reason));
      tx.effects.add(effect::Announce{});
      return {};
  }
  return {};
}

// Clocks of hosts may be wrong by a time zone.
constexpr Duration said_valid = std::chrono::hours{24};

// Why it is not believed that the host of `said` failed so with the unit of `holder`; empty: it is.
std::string doubt(const Transaction& tx, const Host& holder, const Problem& problem, const policy::Unit& unit,
                  const protocol::SignedStatement& statement, const protocol::Failure& said) {
  const auto host = tx.model.hosts.find(said.host);
  if (host == tx.model.hosts.end() || host->second.row.public_key != statement.key)
    return fmt::format("is not signed by host {}", said.host.value);
  if (said.problem != problem.row.id || said.stage != problem.row.stage)
    return "is of another problem or stage than the unit";
  if (said.host == holder.row.id) return {};  // its own unit ends with it, whatever else it says
  const auto above = tx.model.index.relays().above(said.host);
  if (std::find(above.begin(), above.end(), holder.row.id) == above.end())
    return fmt::format("is of host {}, which is not under it", said.host.value);
  if (!unit.range.contains(said.item)) return "is of an item that the unit does not have";
  if (said.at < tx.now - said_valid || said.at > tx.now + said_valid)
    return "was made at " + utc_text(said.at) + ", by its clock";
  return {};
}

void pass_up(Model& model, const Problem& problem, const protocol::FailureReport& report,
             const protocol::Failure& said) {
  if (model.failures_below.size() == failures_below_max) return;
  model.failures_below.push_back({problem.row.id, problem.row.stage, report});
  auto& passed = model.failures_below.back().report;
  passed.unit = {};
  passed.item = said.item;  // by which the parent's unit is found
}

// Where a problem that failed goes on: with what it was doing then.
Status reopen_problem(Transaction& tx, Problem& problem) {
  auto& row = problem.row;
  row.finished_at = {};
  problem.accepted_at_end = 0;
  problem.stage_row.finished_at = {};
  row.state = problem.stage_row.items == 0 ? ProblemState::planning : ProblemState::running;
  return problem.stage_row.items == 0 ? Status{} : reopen_stage(tx, problem);
}

// The stage computes on: what was to be combined is not whole.
void back_to_running(Problem& problem) {
  auto& row = problem.row;
  ProblemState& state = row.state == ProblemState::paused ? row.resume_to : row.state;
  if (state == ProblemState::combining) state = ProblemState::running;
}

// A stage that had enough may need what it did without: it is as before that word.
Status forget_enough(Transaction& tx, Problem& problem) {
  problem.stage_row.enough = false;
  TRY(tx.store.put_stage(problem.stage_row));
  TRY_ASSIGN(auto stored, read_stage(tx.store, problem.stage_row));
  restore_stage(std::move(stored), tx.settings, tx.now, problem, tx.model);
  return restore_audits(tx, problem);
}

}  // namespace

Status take_failure(Transaction& tx, HostId host_id, const protocol::FailureReport& report,
                    const std::optional<protocol::Failure>& said, Result<bool>& taken) {
  taken = true;
  const auto host_found = tx.model.hosts.find(host_id);
  const auto place = tx.model.open_units.find(report.unit);
  if (host_found == tx.model.hosts.end() || place == tx.model.open_units.end()) return {};  // over already
  Host& holder = host_found->second;
  Problem& problem = tx.model.problems.at(place->second);
  if (!problem.stage || !holder.units.contains(report.unit)) return {};
  const policy::Unit* unit = problem.stage->view().unit(report.unit);
  TRY(touch_host(tx, holder));
  const bool below = said && said->host != host_id;
  if (said) {
    if (std::string why = doubt(tx, holder, problem, *unit, *report.statement, *said); !why.empty()) {
      tx.effects.warn(
          fmt::format("rejected a failure report of {} (host {}): {}", holder.row.name, host_id.value, why));
      taken = Error{ErrorKind::untrusted, "the statement of a host whose kernel failed " + why};
      return {};
    }
  }
  Host& failed = below ? tx.model.hosts.at(said->host) : holder;
  if (below) {
    if (said->at <= failed.row.failed_at) return {};  // it counted already
    failed.row.failed_at = said->at;
    TRY(touch_host(tx, failed));  // it is there
  }
  policy::FailedEvent event{problem.row.id, host_id, report.unit, failed.row.id};
  event.kind = said ? said->kind : report.kind;
  event.item = said ? said->item : report.item;
  event.message = said ? said->message : report.message;
  event.items_accepted = failed.row.items_accepted;
  event.failures = failed.row.health.failures;
  TRY(keep_failure(tx, problem, event));
  const policy::ProjectChanges changes = tx.model.project->apply(event, tx.now);
  if (changes.counted) {
    ++failed.row.health.failures;
    TRY(tx.store.update_host(failed.row));
  }
  if (said && tx.settings.relay != HostId{}) pass_up(tx.model, problem, report, *said);
  TRY(store_decided(tx, changes));
  for (const Ruling& ruling : changes.rulings) TRY(apply(tx, failed, problem, changes.paused, ruling));
  return {};
}

bool is_stopped(const Problem& problem) {
  return problem.row.state == ProblemState::paused && problem.row.message.starts_with(stopped_mark);
}

Status retry(Transaction& tx, Problem& problem, std::string& refusal) {
  auto& row = problem.row;
  const bool failed = row.state == ProblemState::failed;
  const bool stopped = is_stopped(problem);
  const bool aside = problem.stage && !problem.stage->view().ledger().set_aside().empty();
  if (!failed && !stopped && !aside) {
    refusal = "problem " + row.name + " is " + protocol::name_of(row.state) +
              ", and none of its items is quarantined: there is nothing to retry";
    return {};
  }
  row.message.clear();
  tx.model.project->forget_items(row.id);
  tx.model.project->forgive(row.application);
  if (failed) {
    TRY(reopen_problem(tx, problem));
  } else if (aside) {
    TRY(reopen_stage(tx, problem));
  }
  if (stopped) row.state = row.resume_to;
  tell_dispatch(tx, problem);
  tx.effects.info(fmt::format("problem {} ({}) is tried again", row.id.value, row.name));
  tx.effects.add(effect::Announce{});
  tx.due.insert(row.id);
  return tx.store.update_problem(row);
}

Status reopen_items(Transaction& tx, Problem& problem, const RangeSet& items, const std::string& reason) {
  const auto& row = problem.row;
  for (const Range range : items.ranges()) TRY(tx.store.unaccept(row.id, row.stage, range));
  back_to_running(problem);
  tell_dispatch(tx, problem);
  TRY(tx.store.update_problem(problem.row));
  tx.effects.add(effect::Announce{});
  if (problem.stage_row.enough) return forget_enough(tx, problem);
  policy::Changes changes;
  for (const Range range : items.ranges()) {
    tx.model.project->lost(row.id, range);
    problem.stage->apply(policy::RejectEvent{range, reason}, tx.now, changes);
  }
  return store_stage(tx, problem, changes);
}

Status retry_items(Transaction& tx, Problem& problem, const RangeSet& items) {
  const auto& row = problem.row;
  tx.effects.info(fmt::format("problem {} ({}): {} that failed are tried again", row.id.value, row.name,
                              items_text(items.total())));
  problem.row.message.clear();
  tx.model.project->forget_items(row.id);
  if (over(row.state)) TRY(reopen_problem(tx, problem));
  TRY(reopen_items(tx, problem, items, "the administrator retries failed items"));
  // A verdict on what comes must not rest on them.
  TRY_ASSIGN(const auto segments, tx.store.segments_over(row.id, row.stage, {0, problem.stage_row.items}));
  for (const auto& segment : segments)
    if (items.contains(segment.range)) TRY(tx.store.drop_segment(segment.id));
  tx.due.insert(row.id);
  return {};
}

Status extend_stage(Transaction& tx, Problem& problem, std::vector<protocol::Input> inputs,
                    const storage::StageRow& longer) {
  auto& row = problem.row;
  tx.effects.info(fmt::format("problem {} ({}): {} were added", row.id.value, row.name,
                              items_text(longer.items - problem.stage_row.items)));
  row.inputs = std::move(inputs);
  problem.stage_row.items = longer.items;
  problem.stage_row.costs = longer.costs;
  problem.stage_row.enough = false;
  RangeSet aside;
  for (const Range range : problem.stage_row.set_aside) aside.add(range);
  back_to_running(problem);
  if (over(row.state)) {
    row.message.clear();
    TRY(reopen_problem(tx, problem));
  } else {
    TRY(reopen_stage(tx, problem, aside));
  }
  tx.effects.add(effect::EndManager{row.id});  // it has read the old inputs
  tx.effects.add(effect::Announce{});
  tx.due.insert(row.id);
  return tx.store.update_problem(row);
}

Status upgrade(Transaction& tx, Problem& problem, const Application& version, std::string& refusal) {
  auto& row = problem.row;
  const Application& present = tx.model.applications.at(row.application);
  const auto& compatible = version.manifest.compatible_with;
  if (version.row.name != present.row.name ||
      std::find(compatible.begin(), compatible.end(), present.row.version) == compatible.end()) {
    refusal = version.row.name + "@" + version.row.version + " does not say that it continues results of " +
              problem.application_name + ": its author names \"" + present.row.version +
              "\" in `compatible_with` of manifest.toml";
    return {};
  }
  // It was checked against the form of the present version only, and its manager would fail with the stage.
  if (const Status fits = check_form(version, json::parse_or_null(row.parameters), row.inputs); !fits.ok()) {
    refusal = version.row.name + "@" + version.row.version + " does not take what problem " + row.name +
              " was added with: " + fits.error().message;
    return {};
  }
  if (tx.model.underway.jobs.contains(row.id)) {
    refusal = "its stage is being planned or combined: try again in a moment";
    return {};
  }
  if (problem.stage) {
    policy::Changes changes;
    std::vector<std::pair<HostId, UnitId>> open;
    for (const policy::Unit* unit : problem.stage->view().open_units())
      open.emplace_back(unit->host, unit->id);
    for (const auto& [host, unit] : open)
      problem.stage->apply(policy::GiveBackEvent{host, unit, policy::GiveBack::returned, 0,
                                                 "another version of the application takes over"},
                           tx.now, changes);
    TRY(store_stage(tx, problem, changes));
  }
  row.application = version.row.id;
  problem.manifest = version.manifest;
  problem.application_name = version.row.name + "@" + version.row.version;
  if (!over(row.state)) tell_dispatch(tx, problem);
  tx.effects.add(effect::EndManager{row.id});
  tx.effects.info(
      fmt::format("problem {} ({}) continues with {}", row.id.value, row.name, problem.application_name));
  TRY(tx.store.update_problem(row));
  std::string nothing_failed;
  return retry(tx, problem, nothing_failed);
}

}  // namespace gleaner::service
