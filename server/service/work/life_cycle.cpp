#include "server/service/work/life_cycle.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "server/policy/project/life_cycle.h"
#include "server/service/core/dispatch_terms.h"
#include "server/service/core/stage_changes.h"
#include "server/service/core/stage_waste.h"
#include "server/service/core/waiting.h"
#include "server/service/work/damage.h"
#include "server/service/work/origins.h"
#include "server/service/work/reviews.h"
#include "server/service/work/trust.h"
#include "shared/base/failpoint.h"

namespace gleaner::service {
namespace {

// What people want to know after the stage object is gone.
void keep_totals(Transaction& tx, Problem& problem) {
  if (!problem.stage) return;
  const auto counts = problem.stage->view().counts(tx.now);
  auto& row = problem.stage_row;
  row.units = counts.units;
  row.splits = counts.splits;
  row.recovered = counts.recovered;
  row.copies = counts.copies;
  row.disputes = counts.disputes;
  row.cost_wasted = counts.cost_wasted;
}

Status start_combining(Transaction& tx, Problem& problem) {
  TRY_ASSIGN(auto pieces, tx.store.accepted_segments(problem.row.id, problem.row.stage));
  tx.model.underway.jobs.insert(problem.row.id);
  HostNames hosts = host_names(tx.model, pieces);
  tx.effects.add(effect::Combine{manager_setup(tx.model, problem), problem.row.stage, std::move(pieces),
                                 std::move(hosts)});
  return {};
}

bool awaits_combining(const Problem& problem) {
  using protocol::ProblemState;
  const auto& row = problem.row;
  return (row.state == ProblemState::paused ? row.resume_to : row.state) == ProblemState::combining;
}

}  // namespace

Status advance(Transaction& tx, ProblemId id) {
  if (!tx.model.origin->plans()) return {};
  const auto found = tx.model.problems.find(id);
  if (found == tx.model.problems.end()) return {};
  Problem& problem = found->second;
  const Underway& underway = tx.model.underway;
  if (underway.jobs.contains(id) || underway.previews.contains(id) || tx.now < problem.job_at) return {};
  if (problem.row.state == protocol::ProblemState::planning) {
    tx.model.underway.jobs.insert(id);
    tx.effects.add(effect::Plan{manager_setup(tx.model, problem), problem.row.stage});
    return {};
  }
  if (problem.stage && !problem.unreviewed.empty())
    return start_review(tx, problem, std::exchange(problem.unreviewed, {}).ranges());
  if (problem.row.state == protocol::ProblemState::running && problem.stage &&
      problem.stage->view().complete() && !underway.reviews.contains(id)) {
    TRY_ASSIGN(const bool waits, audit_rest(tx, problem));
    if (waits) return {};
    problem.row.state = protocol::ProblemState::combining;
    tell_dispatch(tx, problem);
    keep_totals(tx, problem);
    TRY(tx.store.put_stage(problem.stage_row));
    TRY(tx.store.update_problem(problem.row));
  }
  if (problem.row.state == protocol::ProblemState::combining) return start_combining(tx, problem);
  return {};
}

Status advance_due(Transaction& tx) {
  while (!tx.due.empty()) {
    const ProblemId id = *tx.due.begin();
    tx.due.erase(tx.due.begin());
    TRY(advance(tx, id));
  }
  return {};
}

Status begin_stage(Transaction& tx, Problem& problem, PlannedStage planned) {
  if (planned.end) return finish_problem(tx, problem, protocol::ProblemState::finished, "");
  if (planned.row.stage > 0) {
    const auto& last = problem.stage_row;
    planned.row.done_before =
        policy::done_after(last.done_before, total_cost(last), last.cost_ahead, last.stage);
    problem.wasted_before = wasted_after(problem.wasted_before, last, planned.row.done_before);
  }
  problem.stage_row = std::move(planned.row);
  problem.stage_row.problem = problem.row.id;
  problem.stage_row.started_at = tx.now;
  problem.row.stage = problem.stage_row.stage;
  if (problem.row.state == protocol::ProblemState::paused) {
    problem.row.resume_to = protocol::ProblemState::running;
  } else {
    problem.row.state = protocol::ProblemState::running;
  }
  problem.saved = {};
  problem.pace = {};
  problem.unreviewed = {};
  tx.model.project->forget_items(problem.row.id);  // their numbers begin anew
  tell_dispatch(tx, problem);
  problem.stage = &tx.model.project->dispatch().apply(
      policy::BeginStageEvent{problem.row.id, stage_setup(problem, tx.settings)}, tx.now);
  tx.model.project->begin_stage(problem.row.id);
  problem.row.service = tx.model.project->dispatch().shares().service(problem.row.id, tx.now);
  tx.effects.add(effect::Announce{});
  tx.effects.info(fmt::format("problem {} ({}): stage {} has {} items", problem.row.id.value,
                              problem.row.name, problem.row.stage + 1, problem.stage_row.items));
  TRY(tx.store.put_stage(problem.stage_row));
  return tx.store.update_problem(problem.row);
}

Status finish_problem(Transaction& tx, Problem& problem, protocol::ProblemState state,
                      const std::string& message) {
  keep_totals(tx, problem);
  if (problem.stage) {
    TRY(tx.store.put_stage(problem.stage_row));
    TRY(close_units(tx, problem));
  }
  if (problem.stage != nullptr) problem.accepted_at_end = problem.stage->view().ledger().accepted().total();
  tx.model.project->dispatch().apply(policy::DropProblemEvent{problem.row.id}, tx.now);
  tx.model.project->drop_problem(problem.row.id);
  problem.stage = nullptr;
  problem.saved = {};
  problem.row.state = state;
  problem.row.message = message;
  problem.row.finished_at = tx.now;
  tx.effects.info(fmt::format("problem {} ({}) is {}{}{}", problem.row.id.value, problem.row.name,
                              protocol::name_of(state), message.empty() ? "" : ": ", message));
  tx.effects.add(effect::EndManager{problem.row.id});
  tx.effects.add(effect::Announce{});
  TRY(tx.store.update_problem(problem.row));
  return failpoint("problem-finished");
}

Status erase_problem(Transaction& tx, ProblemId id) {
  const auto found = tx.model.problems.find(id);
  if (found->second.stage != nullptr) {
    for (const policy::Unit* unit : found->second.stage->view().open_units())
      close_unit(tx.model, unit->id, unit->host);
  }
  TRY(tx.store.delete_problem(id));
  tx.model.origin->forget(id);
  tx.model.project->dispatch().apply(policy::DropProblemEvent{id}, tx.now);
  tx.model.project->drop_problem(id);
  tx.model.project->forget_items(id);
  tx.model.problems.erase(found);
  tx.effects.add(effect::Announce{});
  return {};
}

Status take_plan(Transaction& tx, ProblemId id, const Result<PlannedStage>& planned) {
  tx.model.underway.jobs.erase(id);
  const auto found = tx.model.problems.find(id);
  if (found == tx.model.problems.end() || over(found->second.row.state)) return {};
  if (!planned.ok()) {
    const std::string what = "planning failed: " + planned.error().message;
    if (may_pass(planned.error())) return put_off_job(tx, found->second, what);
    return finish_problem(tx, found->second, protocol::ProblemState::failed, what);
  }
  TRY(goes_on(tx, found->second));
  return begin_stage(tx, found->second, *planned);
}

Status take_combined(Transaction& tx, ProblemId id, int stage, const Result<CombinedStage>& combined) {
  tx.model.underway.jobs.erase(id);
  const auto found = tx.model.problems.find(id);
  if (found == tx.model.problems.end()) return {};
  Problem& problem = found->second;
  if (over(problem.row.state) || problem.row.stage != stage) return {};
  if (combined.ok() && !combined->damaged.empty()) {
    TRY(take_damage(tx, combined->damaged));
    return advance(tx, id);
  }
  if (!awaits_combining(problem)) return advance(tx, id);  // some of it was found damaged meanwhile
  if (!combined.ok()) {
    const std::string what = "combining failed: " + combined.error().message;
    if (may_pass(combined.error())) return put_off_job(tx, problem, what);
    return finish_problem(tx, problem, protocol::ProblemState::failed, what);
  }
  TRY(goes_on(tx, problem));
  problem.stage_row.finished_at = tx.now;
  TRY(tx.store.put_stage(problem.stage_row));
  TRY(tx.store.put_results(id, combined->files));
  TRY(failpoint("results-stored"));
  return begin_stage(tx, problem, combined->next);
}

Status resume_problems(Transaction& tx) {
  if (!tx.model.origin->plans()) return {};
  for (auto& [id, problem] : tx.model.problems) {
    TRY(restore_audits(tx, problem));
    TRY(resume_reviews(tx, problem));
    TRY(advance(tx, id));
  }
  return {};
}

Status tick_problems(Transaction& tx) {
  for (auto& [id, problem] : tx.model.problems) {
    if (problem.jobs_in_vain > 0 && tx.now >= problem.job_at) TRY(advance(tx, id));
    if (!problem.stage || problem.row.state != protocol::ProblemState::running) continue;
    policy::Changes changes;
    problem.stage->apply(policy::TickEvent{}, tx.now, changes);
    TRY(store_stage(tx, problem, changes));
    if (problem.row.state != protocol::ProblemState::running || !problem.stage || !tx.model.origin->plans())
      continue;
    if (policy::only_failed_items_left(problem.stage->view())) {
      TRY(finish_problem(
          tx, problem, protocol::ProblemState::failed,
          items_text(problem.stage->view().ledger().set_aside().total()) +
              " failed on every host, or no two hosts agreed; all others are done. `gleaner-admin problem "
              "show` has the last failures, `problem result --partial` the accepted items, and `problem "
              "retry` tries the failed ones again"));
    }
  }
  return {};
}

Status keep_accounts(Transaction& tx) {
  for (auto& [id, problem] : tx.model.problems) {
    if (!problem.stage) continue;
    problem.row.service = tx.model.project->dispatch().shares().service(id, tx.now);
    if (problem.kept_service == problem.row.service) continue;
    problem.kept_service = problem.row.service;
    TRY(tx.store.update_problem(problem.row));
  }
  return {};
}

}  // namespace gleaner::service
