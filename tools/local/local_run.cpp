#include "tools/local/local_run.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "shared/base/limits.h"
#include "tools/local/kernel_pool.h"

namespace gleaner::local {
namespace {

constexpr const char* usual_strategy = "gleaner";

class LocalRun {
 public:
  LocalRun(const LocalProblem& problem, const LocalWorld& world)
      : problem_(problem), world_(world), work_(std::filesystem::absolute(problem.work)) {}

  Result<LocalResult> run() {
    TRY(prepare());
    LocalResult result;
    for (int stage = 0;; ++stage) {
      if (stage == limits::stages_max)
        return Error{ErrorKind::invalid, "the manager plans more than " + std::to_string(limits::stages_max) +
                                             " stages: it must answer `end` at last"};
      auto plan = manager_->plan(stage);
      if (!plan.ok()) return local_error(plan.error(), "planning stage " + std::to_string(stage));
      if (plan->end) return result;
      TRY(run_stage(stage, *plan, result));
    }
  }

 private:
  Status prepare() {
    if (world_.files.exists(work_))
      return Error{ErrorKind::conflict, work_.string() + " exists already: remove it first"};
    TRY_ASSIGN(bundle_, open_bundle(problem_.bundle, this_platform()));
    TRY(check_content(bundle_, problem_.content));
    if (!problem_.strategy.empty()) TRY(sized_units(problem_.strategy, 1, 1));  // say so before computing
    const io::Path problem_directory = work_ / "problem";
    TRY(write_problem(world_.files, problem_directory, problem_.content));
    TRY(world_.files.make_directories(work_ / "manager"));
    TRY(world_.files.make_directories(work_ / "segments"));
    TRY_ASSIGN(auto spec, world_.confinement.manager(
                              bundle_, {work_ / "manager", problem_directory, work_ / "segments"}));
    manager_ = std::make_unique<contract::ManagerSession>(world_.processes, std::move(spec),
                                                          problem_directory, work_ / "manager",
                                                          std::chrono::seconds{limits::manager_seconds_max});
    if (const Status checked = manager_->check(); !checked.ok())
      return local_error(checked.error(), "the manager");
    start_pool();
    return {};
  }

  void start_pool() {
    const int cores = cores_here();
    KernelPool::Setup setup;
    setup.bundle = bundle_;
    setup.work = work_;
    const int asked = bundle_.manifest.threads;
    const int wanted = asked > 0 ? asked : cores;
    setup.kernels = problem_.jobs > 0 ? problem_.jobs : std::max(cores / wanted, 1);
    setup.threads = asked > 0 ? wanted : std::max(cores / setup.kernels, 1);
    setup.on_log = world_.on_log;
    kernels_ = setup.kernels;
    pool_ = std::make_unique<KernelPool>(world_.processes, world_.files, world_.clock, world_.confinement,
                                         std::move(setup));
  }

  [[nodiscard]] Result<std::unique_ptr<UnitSource>> units(std::int64_t items) const {
    if (problem_.strategy.empty() && kernels_ == 1) return listed_units({{0, items}});
    return sized_units(problem_.strategy.empty() ? usual_strategy : problem_.strategy, items, kernels_);
  }

  Status run_stage(int stage, const contract::StagePlan& plan, LocalResult& result) {
    io::Path directory = work_ / "problem";
    if (!plan.inputs.empty() || bundle_.manifest.keeps_inputs) {
      directory = work_ / ("problem-" + std::to_string(stage));
      TRY(write_problem(world_.files, directory, seen_by_kernels(bundle_, problem_.content),
                        Planned{work_ / "manager", plan.inputs}));
    }
    // A wrong hints file would stop the server: say so here too.
    if (!plan.hints.empty()) TRY(contract::read_hints(plan.hints, plan.items));
    LocalProgress progress{stage, plan.name, plan.items, 0, kernels_, -1, 0};
    const SteadyTime began = world_.clock.steady();
    TRY_ASSIGN(auto source, units(plan.items));
    pool_->begin_stage(directory, stage, std::move(source));
    std::vector<contract::Piece> pieces;
    origins_.clear();
    TRY(compute(stage, pieces, progress, began));
    const SteadyTime computed = world_.clock.steady();
    const auto by_items = [](const auto& a, const auto& b) { return a.range < b.range; };
    std::sort(pieces.begin(), pieces.end(), by_items);
    std::sort(origins_.begin(), origins_.end(), by_items);
    progress.combined = 0;
    report(progress, began);
    auto files = manager_->combine(stage, pieces, origins_, [&](double fraction) {
      progress.combined = fraction;
      report(progress, began);
    });
    if (!files.ok()) return local_error(files.error(), "combining stage " + std::to_string(stage));
    result.files = std::move(*files);
    result.stages.push_back({plan.name, plan.items, pool_->items_computed(), pool_->units(),
                             to_seconds(computed - began), to_seconds(world_.clock.steady() - computed)});
    return {};
  }

  // Until all items are in, or the manager has enough.
  Status compute(int stage, std::vector<contract::Piece>& pieces, LocalProgress& progress, SteadyTime began) {
    bool enough = false;
    std::vector<ComputedPiece> computed;
    while (!enough && !pool_->stage_done()) {
      if (world_.interrupted()) return Error{ErrorKind::io, "interrupted: nothing was kept"};
      computed.clear();
      TRY(pool_->turn(computed));
      for (const ComputedPiece& piece : computed) TRY(accept(stage, piece, pieces, enough));
      progress.computed = pool_->items_computed();
      report(progress, began);
    }
    return {};
  }

  Status accept(int stage, const ComputedPiece& piece, std::vector<contract::Piece>& pieces, bool& enough) {
    const std::string items =
        "items " + std::to_string(piece.range.begin) + " to " + std::to_string(piece.range.end - 1);
    auto validation = manager_->validate(stage, piece.range, piece.segment);
    if (!validation.ok()) return local_error(validation.error(), "validating " + items);
    if (validation->verdict == contract::Verdict::invalid)
      return Error{ErrorKind::invalid, "the manager finds " + items + " of stage " + std::to_string(stage) +
                                           " wrong: " + validation->reason};
    enough = enough || validation->verdict == contract::Verdict::enough;
    const io::Path path =
        work_ / "segments" / (std::to_string(stage) + "-" + std::to_string(piece.range.begin));
    // Not synced: after a power cut everything is computed anew anyway.
    TRY(world_.files.write_at(path, 0, piece.segment));
    pieces.push_back({piece.range, piece.range.begin, path});
    origins_.push_back({piece.range, piece.seconds / static_cast<double>(piece.range.size()), "localhost"});
    return {};
  }

  void report(LocalProgress& progress, SteadyTime began) const {
    progress.stage_seconds = to_seconds(world_.clock.steady() - began);
    world_.on_progress(progress);
  }

  const LocalProblem& problem_;
  const LocalWorld& world_;
  io::Path work_;
  LocalBundle bundle_;
  int kernels_ = 1;
  std::unique_ptr<contract::ManagerSession> manager_;
  std::unique_ptr<KernelPool> pool_;
  std::vector<contract::Origin> origins_;  // of the stage's pieces
};

}  // namespace

Result<LocalResult> run_locally(const LocalProblem& problem, const LocalWorld& world) {
  return LocalRun(problem, world).run();
}

}  // namespace gleaner::local
