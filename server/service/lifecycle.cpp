// The life of a problem: planning (the manager says what the stage is) -> running -> combining -> the next
// stage, or finished. Managers work on the pool; every step is stored before the next begins, and begins
// again after a restart.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <numeric>

#include "server/service/service.h"
#include "shared/base/limits.h"

namespace gleaner::service {
namespace {

constexpr int garbage_ticks = 600;  // every ten minutes
constexpr Duration calendar_jump = std::chrono::seconds{10};
constexpr int account_ticks = 30;  // what a crash may forget of a problem's fair share

}  // namespace

ManagerSetup Service::manager_setup(const Problem& problem) const {
  const Application& application = model_.applications.at(problem.row.application);
  return {problem.row.id, application.row.archive, application.manifest.manager, problem.row.parameters,
          problem.row.inputs};
}

void Service::tick() {
  if (++ticks_ % garbage_ticks == 0) on_pool([this] { collect_garbage(); });
  if (tick_pending_.exchange(true)) return;  // the writer is behind: one tick waiting is enough
  const bool account = ticks_ % account_ticks == 0;
  decide_later([this, account]() -> Status {
    tick_pending_ = false;
    // Every waiting time would be wrong: hosts silent for hours, or not silent for hours to come.
    if (calendar_moved()) TRY(reload());
    TRY(tick_problems());
    tick_mapping();
    if (account) TRY(keep_accounts());
    return {};
  });
}

bool Service::calendar_moved() {
  const Duration offset = now().time_since_epoch() - dependencies_.clock.steady().time_since_epoch();
  const Duration drift = calendar_offset_ ? offset - *calendar_offset_ : Duration{0};
  calendar_offset_ = offset;
  if (drift < calendar_jump && drift > -calendar_jump) return false;
  spdlog::warn("the calendar moved by {:.0f} s: this computer slept, or its clock was set",
               to_seconds(drift));
  return true;
}

Status Service::tick_problems() {
  std::vector<ProblemId> ids;
  for (const auto& [id, problem] : model_.problems)
    if (problem.stage && problem.row.state == protocol::ProblemState::running) ids.push_back(id);
  for (const ProblemId id : ids) {
    Problem& problem = model_.problems[id];
    policy::Changes changes;
    problem.stage->tick(now(), changes);
    if (problem.log) problem.log->flush();
    TRY(store_stage(problem, changes));
    if (problem.row.state != protocol::ProblemState::running || !problem.stage) continue;
    const auto aside = problem.stage->view().set_aside().total();
    if (aside > 0 && !problem.stage->view().complete() &&
        problem.stage->view().accepted().total() + aside >= problem.stage_row.items &&
        problem.stage->view().open_units().empty()) {
      TRY(finish_problem(problem, protocol::ProblemState::failed,
                         std::to_string(aside) +
                             " items failed on several hosts; all others are done. The last "
                             "failures are in `gleaner-admin problem show`"));
    }
  }
  return {};
}

Status Service::keep_accounts() {
  for (auto& [id, problem] : model_.problems) {
    if (!problem.stage || problem.kept_service == problem.row.service) continue;
    problem.kept_service = problem.row.service;
    TRY(store_->update_problem(problem.row));
  }
  return {};
}

Status Service::advance(ProblemId id) {
  const auto found = model_.problems.find(id);
  if (found == model_.problems.end()) return {};
  Problem& problem = found->second;
  if (problem.job_running || previews_.contains(id)) return {};
  if (problem.row.state == protocol::ProblemState::planning) {
    start_planning(problem, problem.row.stage, {});
    return {};
  }
  if (problem.row.state == protocol::ProblemState::running && problem.stage &&
      problem.stage->view().complete() && problem.reviews == 0) {
    problem.row.state = protocol::ProblemState::combining;
    keep_totals(problem);
    TRY(store_->put_stage(problem.stage_row));
    TRY(store_->update_problem(problem.row));
  }
  if (problem.row.state == protocol::ProblemState::combining) return start_combining(problem);
  return {};
}

// ---- Planning ---------------------------------------------------------------------------------------------

Result<Service::PlannedStage> Service::plan(const ManagerSetup& setup, int stage) {
  contract::StagePlan plan;
  TRY(managers_.with(setup, [&](contract::ManagerSession& manager) -> Status {
    TRY(manager.check());
    TRY_ASSIGN(plan, manager.plan(stage));
    return {};
  }));
  PlannedStage planned;
  planned.end = plan.end;
  if (plan.end) return planned;
  if (stage >= limits::stages_max)
    return Error{ErrorKind::invalid, "the application plans more than 64 stages"};
  planned.row.problem = setup.problem;
  planned.row.stage = stage;
  planned.row.name = plan.name;
  planned.row.items = plan.items;
  if (!plan.hints.empty()) {
    TRY_ASSIGN(const auto hints, contract::read_hints(plan.hints, plan.items));
    for (const auto& hint : hints) planned.row.costs.push_back(hint.cost);
  }
  for (const auto& input : plan.inputs) {
    TRY_ASSIGN(const std::string digest, blobs_.put_file(input.path));
    TRY_ASSIGN(const std::int64_t bytes, blobs_.size(digest));
    planned.row.inputs.push_back({input.name, digest, bytes, input.range});
  }
  return planned;
}

// `done` (may be empty) hears how it went; a problem that cannot be planned fails, with the manager's words.
void Service::start_planning(Problem& problem, int stage, Done<protocol::ProblemInfo> done) {
  problem.job_running = true;
  const ManagerSetup setup = manager_setup(problem);
  on_pool([this, setup, stage, done = std::move(done)] {
    auto planned = std::make_shared<Result<PlannedStage>>(plan(setup, stage));
    decide<protocol::ProblemInfo>(
        [this, id = setup.problem, planned](Result<protocol::ProblemInfo>& info) -> Status {
          const auto found = model_.problems.find(id);
          if (found == model_.problems.end()) {
            info = Error{ErrorKind::not_found, "the problem was deleted while it was planned"};
            return {};
          }
          Problem& present = found->second;
          present.job_running = false;
          if (over(present.row.state)) {
            info = describe(present);
            return {};
          }
          if (!planned->ok()) {
            info = planned->error();
            return finish_problem(present, protocol::ProblemState::failed,
                                  "planning failed: " + planned->error().message);
          }
          TRY(begin_stage(present, **planned));
          info = describe(present);
          return {};
        },
        [done](Result<protocol::ProblemInfo> info) {
          if (done) done(std::move(info));
        });
  });
}

Status Service::begin_stage(Problem& problem, PlannedStage planned) {
  if (planned.end) return finish_problem(problem, protocol::ProblemState::finished, "");
  problem.stage_row = std::move(planned.row);
  problem.stage_row.started_at = now();
  problem.row.stage = problem.stage_row.stage;
  if (problem.row.state == protocol::ProblemState::paused) {
    problem.row.resume_to = protocol::ProblemState::running;
  } else {
    problem.row.state = protocol::ProblemState::running;
  }
  make_stage(problem, dependencies_.files, directory_, configuration_);
  if (const auto waiting = waiting_hosts(); !waiting.empty()) problem.stage->expect(waiting, now());
  spdlog::info("problem {} ({}): stage {} has {} items", problem.row.id.value, problem.row.name,
               problem.row.stage, problem.stage_row.items);
  TRY(store_->put_stage(problem.stage_row));
  return store_->update_problem(problem.row);
}

// ---- Combining --------------------------------------------------------------------------------------------

Result<std::vector<contract::Piece>> Service::accepted_pieces(const Problem& problem) const {
  TRY_ASSIGN(const auto accepted, store_->accepted(problem.row.id, problem.row.stage));
  std::vector<contract::Piece> pieces;
  for (const auto& row : accepted) {
    TRY_ASSIGN(const auto segment, store_->segment(row.segment));
    if (!segment) return Error{ErrorKind::internal, "an accepted segment is missing from the store"};
    pieces.push_back(
        {row.range, segment->range.begin, std::filesystem::absolute(blobs_.path(segment->digest))});
  }
  return pieces;
}

Status Service::start_combining(Problem& problem) {
  TRY_ASSIGN(auto pieces, accepted_pieces(problem));
  problem.job_running = true;
  on_pool([this, setup = manager_setup(problem), stage = problem.row.stage, pieces = std::move(pieces)] {
    combine(setup, stage, pieces);
  });
  return {};
}

void Service::combine(const ManagerSetup& setup, int stage, const std::vector<contract::Piece>& pieces) {
  struct Outcome {
    Status status;
    std::vector<protocol::ResultFile> files;
    PlannedStage next;
  };
  auto outcome = std::make_shared<Outcome>();
  outcome->status = [&]() -> Status {
    std::vector<contract::CombinedFile> combined;
    TRY(managers_.with(setup, [&](contract::ManagerSession& manager) -> Status {
      TRY_ASSIGN(combined, manager.combine(stage, pieces, [](double) {}));
      return {};
    }));
    for (const auto& file : combined) {
      TRY_ASSIGN(const std::string digest, blobs_.put_file(file.path));
      TRY_ASSIGN(const std::int64_t bytes, blobs_.size(digest));
      outcome->files.push_back({file.name, digest, bytes, file.media_type});
    }
    TRY_ASSIGN(outcome->next, plan(setup, stage + 1));
    return {};
  }();
  decide_later([this, id = setup.problem, stage, outcome]() -> Status {
    const auto found = model_.problems.find(id);
    if (found == model_.problems.end()) return {};
    Problem& problem = found->second;
    problem.job_running = false;
    if (over(problem.row.state) || problem.row.stage != stage) return {};
    if (!outcome->status.ok())
      return finish_problem(problem, protocol::ProblemState::failed,
                            "combining failed: " + outcome->status.error().message);
    problem.stage_row.finished_at = now();
    TRY(store_->put_stage(problem.stage_row));
    TRY(store_->put_results(id, outcome->files));
    return begin_stage(problem, std::move(outcome->next));
  });
}

// What people want to know after the stage object is gone.
void Service::keep_totals(Problem& problem) {
  if (!problem.stage) return;
  const auto counts = problem.stage->view().counts(now());
  auto& row = problem.stage_row;
  row.units = counts.units;
  row.splits = counts.splits;
  row.recovered = counts.recovered;
  row.copies = counts.copies;
  row.disputes = counts.disputes;
  row.cost_wasted = counts.cost_wasted;
}

Status Service::finish_problem(Problem& problem, protocol::ProblemState state, const std::string& message) {
  keep_totals(problem);
  if (problem.stage) {
    TRY(store_->put_stage(problem.stage_row));
    for (const policy::Unit* unit : problem.stage->view().open_units()) {
      policy::Unit closed = *unit;
      closed.state = policy::UnitState::cancelled;
      closed.closed = now();
      TRY(store_->put_unit(problem.row.id, problem.row.stage, closed));
      model_.open_units.erase(unit->id);
      model_.hosts[unit->host].units.erase(unit->id);
    }
  }
  problem.stage.reset();
  problem.saved = {};
  problem.row.state = state;
  problem.row.message = message;
  problem.row.finished_at = now();
  spdlog::info("problem {} ({}) is {}{}{}", problem.row.id.value, problem.row.name, protocol::name_of(state),
               message.empty() ? "" : ": ", message);
  const ProblemId id = problem.row.id;
  on_pool([this, id] { managers_.end(id, Managers::Keep::yes); });
  return store_->update_problem(problem.row);
}

void Service::collect_garbage() {
  decide<std::vector<std::string>>(
      [this](Result<std::vector<std::string>>& digests) -> Status {
        TRY_ASSIGN(auto referenced, store_->referenced_blobs());
        // A problem that is being planned or combined may have stored blobs that no row names yet.
        for (const auto& [id, problem] : model_.problems) {
          if (problem.job_running || problem.reviews > 0) {
            digests = Error{ErrorKind::unavailable, "jobs are under way"};
            return {};
          }
        }
        digests = std::move(referenced);
        return {};
      },
      [this](Result<std::vector<std::string>> digests) {
        if (!digests.ok()) return;  // the next round will do
        const auto removed = blobs_.collect(*digests, now(), std::chrono::hours{24});
        if (!removed.ok()) {
          spdlog::warn("clearing away old blobs failed: {}", removed.error().message);
        } else if (*removed > 0) {
          spdlog::info("removed {} files that nothing refers to", *removed);
        }
      });
}

}  // namespace gleaner::service
