// run-local: a bundle computed on this machine, for its author and as the reference for a grid's results.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "shared/base/limits.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/text.h"
#include "tools/admin/commands.h"
#include "tools/admin/documents.h"
#include "tools/admin/figures.h"
#include "tools/admin/prepared_bundle.h"
#include "tools/local/local_run.h"

namespace gleaner::admin {
namespace {

constexpr int jobs_max = 256;
constexpr Duration redraw_every = std::chrono::milliseconds{200};
constexpr Duration log_line_every = std::chrono::seconds{5};

struct RunOptions {
  std::string bundle;
  ProblemOptions content;
  std::string out = ".";
  int jobs = 0;
  std::string strategy;
  std::string unconfined;
  bool keep = false;
};

std::string stage_label(int stage, const std::string& name) {
  return "stage " + std::to_string(stage + 1) + (name.empty() ? "" : " (" + name + ")");
}

// Progress and kernels' log lines on standard error.
class RunReport {
 public:
  explicit RunReport(Outside& outside)
      : outside_(outside), text_(outside.error, outside.error_display), last_(outside.clock.steady()) {}

  void progress(const local::LocalProgress& progress) {
    const SteadyTime now = outside_.clock.steady();
    if (now - last_ < (outside_.error_display.terminal ? redraw_every : log_line_every)) return;
    last_ = now;
    const bool combining = progress.combined >= 0;
    const double items = static_cast<double>(std::max<std::int64_t>(progress.items, 1));
    const double fraction = combining ? progress.combined : static_cast<double>(progress.computed) / items;
    const double rate =
        progress.stage_seconds > 0 ? static_cast<double>(progress.computed) / progress.stage_seconds : 0;
    const double left = static_cast<double>(progress.items - progress.computed);
    std::string line = fmt::format("{} {} {:5.1f} %", stage_label(progress.stage, progress.stage_name),
                                   progress_bar(fraction, 32, outside_.error_display), 100 * fraction);
    line += combining ? std::string("  combining")
                      : fmt::format("  {}/{} items  {} items/s  {} left  {}", count_text(progress.computed),
                                    count_text(progress.items), figure_text(rate),
                                    duration_text(rate > 0 ? left / rate : -1),
                                    counted(progress.kernels, "kernel"));
    if (outside_.error_display.terminal) line = fit(line, outside_.error_display.columns - 1);
    text_.draw({line});
  }

  void log(int kernel, const std::string& words) {
    text_.clear();
    outside_.error << "kernel " << kernel << ": " << protocol::clean_line(words, limits::message_length_max)
                   << '\n';
  }

  void clear() { text_.clear(); }

 private:
  Outside& outside_;
  LiveText text_;
  SteadyTime last_;
};

struct Delivered {
  contract::CombinedFile file;
  io::Path path;
  BlobName blob;
};

// A manager of the superuser's ran as another user; and it says nothing of who may execute a result.
Status make_own(const io::Path& path) {
  std::error_code error;
  if (::geteuid() == 0 && ::lchown(path.c_str(), 0, ::getegid()) != 0)
    return Error{ErrorKind::io, "cannot take over " + path.string()};
  using std::filesystem::perms;
  std::filesystem::permissions(
      path, perms::owner_read | perms::owner_write | perms::group_read | perms::others_read, error);
  if (error) return Error{ErrorKind::io, "cannot set the permissions of " + path.string()};
  return {};
}

// From the work directory, which is beside them on the same file system, to where they are wanted.
Result<std::vector<Delivered>> deliver(io::Files& files, const local::LocalResult& result,
                                       const io::Path& out) {
  std::vector<Delivered> delivered;
  for (const auto& file : result.files) {
    TRY(check_result_name(file.name));
    const io::Path path = out / file.name;
    std::error_code error;  // the manager has ended: what it made is what it will be
    if (std::filesystem::canonical(file.path, error) != file.path)
      return Error{ErrorKind::invalid, "the manager replaced the result " + file.name + " by a link"};
    TRY_ASSIGN(BlobName blob, blob_of_file(files, file.path));
    TRY(files.rename(file.path, path));
    TRY(make_own(path));
    delivered.push_back({file, path, std::move(blob)});
  }
  return delivered;
}

std::string json_of(const local::LocalResult& result, const std::vector<Delivered>& delivered) {
  std::vector<Document> files;
  for (const Delivered& each : delivered)
    files.push_back(std::move(Document()
                                  .text("name", each.file.name)
                                  .text("path", each.path.string())
                                  .text("media_type", each.file.media_type)
                                  .text("digest", each.blob.digest)
                                  .number("bytes", each.blob.bytes)));
  std::vector<Document> stages;
  for (const local::LocalStage& stage : result.stages)
    stages.push_back(std::move(Document()
                                   .text("name", stage.name)
                                   .number("items", stage.items)
                                   .number("computed", stage.computed)
                                   .number("units", stage.units)
                                   .seconds("compute_seconds", stage.compute_seconds)
                                   .seconds("combine_seconds", stage.combine_seconds)));
  return Document().list("results", files).list("stages", stages).render();
}

Result<ExitCode> run(Session& session, const RunOptions& options) {
  Outside& outside = session.outside();
  local::LocalProblem problem;
  TRY_ASSIGN(const PreparedBundle prepared, PreparedBundle::prepare(outside, options.bundle));
  problem.bundle = prepared.directory();
  problem.jobs = options.jobs;
  problem.strategy = options.strategy;
  TRY_ASSIGN(problem.content, local_content(outside.files, options.content));
  const io::Path out = options.out;
  problem.work = out / (".gleaner-run-" + to_hex(crypto::random_secret(6)));
  TRY(outside.files.make_directories(out));
  io::Path place = problem.work;
  TRY_ASSIGN(const auto confinement, find_confinement(outside, options.unconfined, place += "-sandbox"));
  RunReport report(outside);
  const local::LocalWorld world{outside.files,
                                outside.processes,
                                outside.clock,
                                confinement,
                                [&](const local::LocalProgress& progress) { report.progress(progress); },
                                [&](int kernel, const std::string& words) { report.log(kernel, words); },
                                outside.interrupted};
  const auto result = local::run_locally(problem, world);
  report.clear();
  Result<std::vector<Delivered>> delivered =
      result.ok() ? deliver(outside.files, *result, out) : Result<std::vector<Delivered>>(result.error());
  const Status ended = end_work(outside, problem.work, options.keep);
  if (!delivered.ok()) return delivered.error();
  TRY(ended);
  if (session.json()) {
    session.print_json(json_of(*result, *delivered));
    return ExitCode::ok;
  }
  for (std::size_t i = 0; i < result->stages.size(); ++i) {
    const local::LocalStage& stage = result->stages[i];
    outside.error << stage_label(static_cast<int>(i), stage.name) << ": " << counted(stage.computed, "item")
                  << " in " << counted(stage.units, "unit") << ", "
                  << fmt::format("{:.2f}", stage.compute_seconds) << " s computing, "
                  << fmt::format("{:.2f}", stage.combine_seconds) << " s combining\n";
  }
  for (const Delivered& each : *delivered) outside.out << each.path.string() << '\n';
  return ExitCode::ok;
}

}  // namespace

void add_run_local_command(CLI::App& program, Action& chosen) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* command = program.add_subcommand(
      "run-local", "Compute a problem on this machine, without a server or signatures");
  command->add_option("bundle", options->bundle, "the bundle: a directory with a manifest.toml")
      ->required()
      ->type_name("DIR");
  declare_problem_options(command, options->content);
  command->add_option("-o,--out", options->out, "directory for the results; made if missing")
      ->capture_default_str()
      ->type_name("DIR");
  command->add_option("--jobs", options->jobs, "kernel processes; else as many as there are cores for")
      ->check(CLI::Range(1, jobs_max));
  command
      ->add_option("--strategy", options->strategy,
                   "the sizing strategy that hands out units, as problems name it; else gleaner")
      ->type_name("NAME[,KEY=VALUE...]");
  declare_unconfined(command, options->unconfined);
  command->add_flag("--keep", options->keep, "keep the work directory for inspection");
  command->footer(
      "The bundle's programs run in the sandbox of volunteers' computers, without your files and the "
      "network.\n"
      "Results with the same names are replaced. With --jobs 1 one kernel computes all items in one go:\n"
      "the reference that a grid's result must equal byte for byte.\n\n"
      "Example:\n  gleaner-admin run-local build/bundles/mandelbrot --param width=640 --param height=480 -o "
      "out");
  on_parse(command, chosen, options, run);
}

}  // namespace gleaner::admin
