#include "tools/admin/local_run.h"

#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "shared/base/limits.h"
#include "shared/bundle/bundle.h"
#include "tools/admin/kernel_pool.h"

namespace gleaner::admin {
namespace {

// Exit codes speak of the server; what fails here is this machine's.
Error local(const Error& error, const std::string& what) {
  return Error{error.kind == ErrorKind::unavailable ? ErrorKind::io : error.kind, error.message}.within(what);
}

Status link_input(const io::Path& directory, const std::string& name, const io::Path& target) {
  std::error_code failure;
  std::filesystem::remove(directory / name, failure);
  std::filesystem::create_symlink(std::filesystem::absolute(target), directory / name, failure);
  if (!failure) return {};
  return Error{ErrorKind::io,
               "cannot link input " + name + " into " + directory.string() + ": " + failure.message()};
}

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
      if (!plan.ok()) return local(plan.error(), "planning stage " + std::to_string(stage));
      if (plan->end) return result;
      TRY(run_stage(stage, *plan, result));
    }
  }

 private:
  Status prepare() {
    if (world_.files.exists(work_))
      return Error{ErrorKind::conflict, work_.string() + " is there already: remove it first"};
    const io::Path bundle_directory = std::filesystem::absolute(problem_.bundle);
    TRY_ASSIGN(manifest_, bundle::read_bundle(bundle_directory));
    const std::string kernel = manifest_.kernel_for({this_platform(), "any"});
    if (kernel.empty())
      return Error{ErrorKind::not_found, manifest_.name + " has no kernel for this machine (" +
                                             this_platform() +
                                             "): add one to its manifest, or run it elsewhere"};
    const io::Path problem_directory = work_ / "problem";
    TRY(write_problem(problem_directory, problem_.inputs, {}));
    TRY(world_.files.make_directories(work_ / "manager"));
    io::ProcessSpec spec;
    spec.arguments = {(bundle_directory / manifest_.manager).string()};
    spec.environment = {{"PATH", "/usr/bin:/bin"}, {"LANG", "C.UTF-8"}};
    spec.working_directory = work_ / "manager";
    spec.limits.open_files = 1024;
    manager_ = std::make_unique<contract::ManagerSession>(world_.processes, std::move(spec),
                                                          problem_directory, work_ / "manager",
                                                          std::chrono::seconds{limits::manager_seconds_max});
    if (const Status checked = manager_->check(); !checked.ok()) return local(checked.error(), "the manager");
    start_pool(bundle_directory / kernel);
    return {};
  }

  void start_pool(const io::Path& kernel) {
    const int cores = std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
    KernelPool::Setup setup;
    setup.manifest = manifest_;
    setup.kernel = kernel;
    setup.work = work_;
    const int wanted = manifest_.threads > 0 ? manifest_.threads : cores;
    setup.kernels = problem_.jobs > 0 ? problem_.jobs : std::max(cores / wanted, 1);
    setup.threads = manifest_.threads > 0 ? wanted : std::max(cores / setup.kernels, 1);
    setup.on_log = world_.on_log;
    kernels_ = setup.kernels;
    pool_ = std::make_unique<KernelPool>(world_.processes, world_.files, world_.clock, std::move(setup));
  }

  // The problem's own inputs (if the reader is to have them), and a plan's.
  Status write_problem(const io::Path& directory, const std::vector<std::pair<std::string, io::Path>>& own,
                       const std::vector<contract::PlannedInput>& planned) {
    TRY(world_.files.make_directories(directory / "inputs"));
    TRY(world_.files.write(directory / "parameters.json", problem_.parameters, io::Mode::normal));
    for (const auto& [name, path] : own) {
      if (!world_.files.exists(path))
        return Error{ErrorKind::not_found, "there is no file " + path.string() + " (input " + name + ")"};
      TRY(link_input(directory / "inputs", name, path));
    }
    for (const auto& input : planned) TRY(link_input(directory / "inputs", input.name, input.path));
    return {};
  }

  Status run_stage(int stage, const contract::StagePlan& plan, LocalResult& result) {
    io::Path directory = work_ / "problem";
    if (!plan.inputs.empty() || manifest_.keeps_inputs) {
      directory = work_ / ("problem-" + std::to_string(stage));
      TRY(write_problem(directory, manifest_.keeps_inputs ? decltype(problem_.inputs){} : problem_.inputs,
                        plan.inputs));
    }
    // A wrong hints file would stop the server: say so here too.
    if (!plan.hints.empty()) TRY(contract::read_hints(plan.hints, plan.items));
    LocalProgress progress{stage, plan.name, plan.items, 0, kernels_, -1, 0};
    const SteadyTime began = world_.clock.steady();
    pool_->begin_stage(directory, stage, plan.items);
    std::vector<contract::Piece> pieces;
    TRY(compute(stage, pieces, progress, began));
    const SteadyTime computed = world_.clock.steady();
    std::sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) { return a.range < b.range; });
    progress.combined = 0;
    report(progress, began);
    auto files = manager_->combine(stage, pieces, [&](double fraction) {
      progress.combined = fraction;
      report(progress, began);
    });
    if (!files.ok()) return local(files.error(), "combining stage " + std::to_string(stage));
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
    if (!validation.ok()) return local(validation.error(), "validating " + items);
    if (validation->verdict == contract::Verdict::invalid)
      return Error{ErrorKind::invalid, "the manager finds " + items + " of stage " + std::to_string(stage) +
                                           " wrong: " + validation->reason};
    enough = enough || validation->verdict == contract::Verdict::enough;
    const io::Path path =
        work_ / "segments" / (std::to_string(stage) + "-" + std::to_string(piece.range.begin));
    if (pieces.empty()) TRY(world_.files.make_directories(path.parent_path()));
    // Not synced: after a power cut everything is computed anew anyway.
    TRY(world_.files.write_at(path, 0, piece.segment));
    pieces.push_back({piece.range, piece.range.begin, path});
    return {};
  }

  void report(LocalProgress& progress, SteadyTime began) const {
    progress.stage_seconds = to_seconds(world_.clock.steady() - began);
    world_.on_progress(progress);
  }

  const LocalProblem& problem_;
  const LocalWorld& world_;
  io::Path work_;
  bundle::Manifest manifest_;
  int kernels_ = 1;
  std::unique_ptr<contract::ManagerSession> manager_;
  std::unique_ptr<KernelPool> pool_;
};

}  // namespace

Result<LocalResult> run_locally(const LocalProblem& problem, const LocalWorld& world) {
  return LocalRun(problem, world).run();
}

std::string this_platform() {
  utsname name{};
  CHECK_TRUE(::uname(&name) == 0);
  std::string system = name.sysname;
  for (char& c : system)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::string(name.machine) + "-" + system;
}

}  // namespace gleaner::admin
