#include "server/service/work/stage_planning.h"

#include "shared/base/limits.h"

namespace gleaner::service {

Result<PlannedStage> plan_stage(Kernel& kernel, const ManagerSetup& setup, int stage) {
  contract::StagePlan plan;
  TRY(kernel.managers().with(setup, [&](contract::ManagerSession& manager) -> Status {
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
  planned.row.cost_ahead = plan.ahead;
  if (!plan.hints.empty()) {
    TRY_ASSIGN(const auto file, kernel.managers().open(setup.problem, plan.hints));
    TRY_ASSIGN(const auto hints, contract::read_hints(file.path(), plan.items));
    for (const auto& hint : hints) planned.row.costs.push_back(hint.cost);
  }
  for (const auto& input : plan.inputs) {
    TRY_ASSIGN(const auto file, kernel.managers().open(setup.problem, input.path));
    TRY_ASSIGN(const std::string digest, kernel.blobs().put_file(file.path()));
    TRY_ASSIGN(const std::int64_t bytes, kernel.blobs().size(digest));
    planned.row.inputs.push_back({input.name, digest, bytes, input.range});
  }
  return planned;
}

Result<std::vector<protocol::ResultFile>> keep_files(Kernel& kernel, ProblemId problem,
                                                     const std::vector<contract::CombinedFile>& files) {
  std::vector<protocol::ResultFile> kept;
  for (const auto& file : files) {
    TRY_ASSIGN(const auto held, kernel.managers().open(problem, file.path));
    TRY_ASSIGN(const std::string digest, kernel.blobs().put_file(held.path()));
    TRY_ASSIGN(const std::int64_t bytes, kernel.blobs().size(digest));
    kept.push_back({file.name, digest, bytes, file.media_type});
  }
  return kept;
}

}  // namespace gleaner::service
