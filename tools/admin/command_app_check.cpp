// app check: does a bundle keep the contract?
#include <fmt/format.h>

#include "tools/admin/commands.h"
#include "tools/admin/documents.h"
#include "tools/admin/figures.h"
#include "tools/admin/prepared_bundle.h"
#include "tools/local/check.h"

namespace gleaner::admin {
namespace {

constexpr Duration progress_every = std::chrono::milliseconds{200};

struct CheckOptions {
  std::string bundle;
  ProblemOptions content;
  std::uint64_t seed = 1;
  std::string platform;
  std::string unconfined;
  bool keep = false;
};

struct Shown {
  const char* word;
  Tint tint;
};

Shown shown(local::Verdict verdict) {
  switch (verdict) {
    case local::Verdict::passed:
      return {"ok", Tint::good};
    case local::Verdict::noted:
      return {"note", Tint::warning};
    case local::Verdict::failed:
      return {"FAIL", Tint::bad};
  }
  return {"", Tint::none};
}

// One line on a terminal, nothing elsewhere: what counts is said at the end.
class CheckProgress {
 public:
  explicit CheckProgress(Outside& outside) : outside_(outside), text_(outside.error, outside.error_display) {}
  void show(const std::string& doing, double fraction) {
    if (!outside_.error_display.terminal) return;
    const SteadyTime now = outside_.clock.steady();
    if (now - last_ < progress_every) return;
    last_ = now;
    text_.draw({fit(progress_bar(fraction, 32, outside_.error_display) + " " + doing,
                    outside_.error_display.columns - 1)});
  }
  void clear() { text_.clear(); }

 private:
  Outside& outside_;
  LiveText text_;
  SteadyTime last_{};
};

const char* found_by_manager(bundle::Checks checks) {
  switch (checks) {
    case bundle::Checks::all:
      return "every wrong result: none is computed twice unless it is asked for";
    case bundle::Checks::some:
      return "some wrong results: others are found where a second host computes them";
    case bundle::Checks::form:
      break;
  }
  return "malformed results only: wrong ones are found where a second host computes them";
}

std::string json_of(const local::CheckReport& report, std::uint64_t seed) {
  std::vector<Document> findings;
  for (const local::Finding& finding : report.findings) {
    Document each;
    each.text("check", finding.check)
        .text("verdict", finding.verdict == local::Verdict::failed  ? "failed"
                         : finding.verdict == local::Verdict::noted ? "noted"
                                                                    : "passed")
        .text("what", finding.what)
        .text("advice", finding.advice);
    findings.push_back(std::move(each));
  }
  std::vector<Document> stages;
  for (const local::StageFigures& stage : report.stages)
    stages.push_back(std::move(Document()
                                   .text("name", stage.name)
                                   .number("items", stage.items)
                                   .number("computed", stage.computed)
                                   .number("bytes", stage.bytes)
                                   .number("peak_memory_bytes", stage.peak_bytes)
                                   .seconds("seconds", stage.seconds)
                                   .seconds("cpu_seconds", stage.cpu_seconds)
                                   .seconds("slowest_item_seconds", stage.slowest_item_seconds)));
  return Document()
      .text("name", report.manifest.name)
      .text("passed", report.passed() ? "yes" : "no")
      .text("not_run", report.not_run)
      .text("seed", std::to_string(seed))
      .text("manager_finds", report.manifest.checks == bundle::Checks::all    ? "all"
                             : report.manifest.checks == bundle::Checks::some ? "some"
                                                                              : "form")
      .list("checks", findings)
      .list("stages", stages)
      .render();
}

void print(Session& session, const local::CheckReport& report, const CheckOptions& options) {
  std::ostream& out = session.people();
  const Display& display = session.people_display();
  int failed = 0;
  for (const local::Finding& finding : report.findings) {
    const auto [word, tint] = shown(finding.verdict);
    failed += finding.verdict == local::Verdict::failed ? 1 : 0;
    out << tinted(fmt::format("{:<5}", word), tint, display) << fmt::format("{:<14}", finding.check)
        << finding.what << '\n';
    if (!finding.advice.empty()) out << fmt::format("{:19}-> {}\n", "", finding.advice);
  }
  const std::string name = report.manifest.name + ' ' + report.manifest.version;
  if (!report.not_run.empty() && failed == 0) {
    out << name << ": nothing is wrong with its files, and whether it keeps the contract is not known: "
        << report.not_run << '\n';
    return;
  }
  if (report.not_run.empty())
    out << "its manager finds " << found_by_manager(report.manifest.checks)
        << " (`checks` in manifest.toml)\n";
  if (failed == 0)
    out << name << " keeps the contract, as far as "
        << counted(static_cast<std::int64_t>(report.findings.size()), "check")
        << " with this problem can tell\n";
  else
    out << name << " fails " << counted(failed, "check") << "; the same choices again: --seed "
        << options.seed << '\n';
}

Result<ExitCode> check(Session& session, const CheckOptions& options) {
  Outside& outside = session.outside();
  local::CheckRequest request;
  TRY_ASSIGN(const PreparedBundle prepared, PreparedBundle::prepare(outside, options.bundle));
  request.bundle = prepared.directory();
  request.platform = options.platform;
  if (prepared.is_completed() && !options.platform.empty() && options.platform != local::this_platform())
    return Error{ErrorKind::invalid,
                 "a wrapped program is signed for the platform of the computer that signs it (" +
                     local::this_platform() + "): check it on a computer of the other one"};
  request.seed = options.seed;
  TRY_ASSIGN(request.content, local_content(outside.files, options.content));
  TRY_ASSIGN(request.work, unused_work("gleaner-check-"));
  io::Path place = request.work;
  TRY_ASSIGN(const auto confinement, find_confinement(outside, options.unconfined, place += "-sandbox"));
  CheckProgress progress(outside);
  const local::CheckWorld world{outside.files,
                                outside.processes,
                                outside.clock,
                                confinement,
                                [&](const std::string& doing, double done) { progress.show(doing, done); },
                                outside.interrupted};
  const auto report = local::check_bundle(request, world);
  progress.clear();
  const Status ended = end_work(outside, request.work, options.keep);
  if (!report.ok()) return report.error();
  TRY(ended);
  if (session.json())
    session.print_json(json_of(*report, options.seed));
  else
    print(session, *report, options);
  return report->passed() ? ExitCode::ok : ExitCode::failed;
}

std::string check_list() {
  std::string text = "The checks:\n";
  for (const local::CheckInfo& info : local::checks())
    text += fmt::format("  {:<14}{}\n", info.name, info.about);
  return text;
}

}  // namespace

void add_check_command(CLI::App& applications, Action& chosen) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* command = applications.add_subcommand("check", "Stress-test a bundle the way a grid would");
  command->add_option("bundle", options->bundle, "the bundle: a directory with a manifest.toml")
      ->required()
      ->type_name("DIR");
  declare_problem_options(command, options->content);
  command
      ->add_option("--seed", options->seed,
                   "seed of the random choices: where units are cut, killed and damaged")
      ->capture_default_str();
  command
      ->add_option(
          "--platform", options->platform,
          "check the kernel that hosts of this platform get, for example aarch64-linux; one of another "
          "kind of computer runs under qemu-user or Wine, if that is installed")
      ->type_name("PLATFORM");
  declare_unconfined(command, options->unconfined);
  command->add_flag("--keep", options->keep, "keep the work directory for inspection");
  command->footer(
      check_list() +
      "\nThe bundle's programs run in the sandbox of volunteers' computers, without your files and the "
      "network.\n"
      "The problem is computed about five times: choose parameters that take a second or two.\n"
      "Exit status: 0 if no check failed, 1 if one did.\n\n"
      "Example:\n  gleaner-admin app check build/bundles/mandelbrot --param width=64 --param height=48");
  on_parse(command, chosen, options, check);
}

}  // namespace gleaner::admin
