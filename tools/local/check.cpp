#include "tools/local/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "shared/base/limits.h"
#include "shared/protocol/segment.h"
#include "tools/local/check_parts.h"
#include "tools/local/foreign.h"
#include "tools/local/remedies.h"

namespace gleaner::local {
namespace {

constexpr std::int64_t results_bytes_max = std::int64_t{1} << 30;  // all items of a stage are held in memory
constexpr std::size_t validated_bytes = 8 << 20;
constexpr Duration validated_age = std::chrono::seconds{1};
constexpr double long_item_seconds = 60;       // what a volunteer's computer may lose by being switched off
constexpr double quick_item_seconds = 0.0002;  // where framing and journals begin to be seen
constexpr double mebibyte = 1 << 20;

std::string at_stage(int stage) {
  return stage == 0 ? "" : " of stage " + std::to_string(stage + 1);
}

class BundleCheck {
 public:
  BundleCheck(const CheckRequest& request, const CheckWorld& world, const LocalBundle& bundle,
              const LocalBundle* native)
      : context_{bundle, request, world, std::filesystem::absolute(request.work), Random(request.seed),
                 {},     0,       native} {
    report_.manifest = bundle.manifest;
  }

  // What can be told without running the kernel, for the reason `why`.
  Result<CheckReport> look(const std::string& why, const std::string& advice) {
    TRY_ASSIGN(const bool placed, bundle_.kernels_are_placed());
    if (placed) context_.findings.noted("platforms", why, advice);
    bundle_.interpreter();
    TRY(bundle_.needed_libraries_are_there());
    report_.not_run = why;
    report_.findings = context_.findings.in_order();
    return std::move(report_);
  }

  Result<CheckReport> run() {
    const io::Path problem = context_.work / "problem";
    TRY(write_problem(context_.world.files, problem, context_.request.content));
    const io::Path directory = context_.work / "manager";
    TRY(context_.world.files.make_directories(directory));
    TRY(context_.world.files.make_directories(context_.segments()));
    TRY_ASSIGN(auto manager, context_.manager(problem, directory));
    bundle_.note_confinement();
    if (const Status checked = manager->check(); !checked.ok())
      return local_error(checked.error(), "the manager");
    TRY(bundle_.unknown_parameter());
    bundle_.interpreter();
    TRY(bundle_.needed_libraries_are_there());
    TRY_ASSIGN(const bool placed, bundle_.kernels_are_placed());
    for (int stage = 0; stage < limits::stages_max; ++stage) {
      Reference reference;
      reference.stage = stage;
      auto plan = manager->plan(stage);
      if (!plan.ok()) return local_error(plan.error(), "planning stage " + std::to_string(stage));
      if (plan->end) break;
      if (stage == 0) TRY(bundle_.defaults_change_nothing(*plan));
      reference.plan = std::move(*plan);
      TRY_ASSIGN(const bool whole, check_stage(reference, *manager));
      if (!whole) break;
    }
    if (placed) bundle_.note_platforms();
    report_.findings = context_.findings.in_order();
    return std::move(report_);
  }

 private:
  // False: the rest makes no sense.
  Result<bool> check_stage(Reference& reference, contract::ManagerSession& manager) {
    CheckContext& c = context_;
    reference.problem = c.work / "problem";
    if (!reference.plan.inputs.empty() || c.bundle.manifest.keeps_inputs) {
      reference.problem = c.fresh("problem");
      TRY(write_problem(c.world.files, reference.problem, seen_by_kernels(c.bundle, c.request.content),
                        Planned{c.work / "manager", reference.plan.inputs}));
    }
    if (!reference.plan.hints.empty()) TRY(contract::read_hints(reference.plan.hints, reference.plan.items));
    reference.manager_snapshot = c.fresh("snapshot");
    TRY(copy_work(c.work / "manager", reference.manager_snapshot));
    TRY_ASSIGN(const bool computed, compute(reference, manager));
    if (!computed) return false;
    TRY(KernelChecks(c, reference, manager).run());
    TRY_ASSIGN(const bool combined, combine(reference, manager));
    if (!combined) return false;
    TRY(ManagerChecks(c, reference).run());
    TRY(WrapChecks(c, reference, manager).run());
    return true;
  }

  Result<bool> compute(Reference& reference, contract::ManagerSession& manager) {
    CheckContext& c = context_;
    const std::string doing = "computing stage " + std::to_string(reference.stage + 1);
    const auto items = static_cast<double>(std::max<std::int64_t>(reference.plan.items, 1));
    Trial trial(c.bundle, c.world, {c.fresh("kernel"), reference.problem, c.threads()});
    Piece piece;
    std::int64_t bytes = 0;
    std::string refusal;
    double slowest = -1;
    SteadyTime item_since = c.world.clock.steady();
    const auto hand_on = [&](std::int64_t next) -> Result<bool> {
      if (piece.begin == next) return true;
      auto validation = manager.validate(reference.stage, {piece.begin, next}, piece.segment);
      if (!validation.ok() || validation->verdict == contract::Verdict::invalid) {
        refusal = "items " + std::to_string(piece.begin) + " to " + std::to_string(next - 1) + ": " +
                  (validation.ok() ? validation->reason : validation.error().message);
        return false;
      }
      reference.enough = validation->verdict == contract::Verdict::enough;
      piece = {next, {}, {}};
      return !reference.enough;
    };
    const auto take = [&](std::int64_t item, const Bytes& data) -> Result<bool> {
      const SteadyTime now = c.world.clock.steady();
      // The first one's time is the kernel's start, too.
      if (item <= 1 || to_seconds(now - item_since) > slowest) {
        slowest = to_seconds(now - item_since);
        reference.slowest_item = item;
        reference.slowest_seconds = slowest;
      }
      item_since = now;
      c.doing(doing, static_cast<double>(item) / items);
      bytes += static_cast<std::int64_t>(data.size());
      if (bytes > results_bytes_max)
        return Error{ErrorKind::too_large,
                     "the results are larger than 1 GiB, too large to compare: choose parameters "
                     "of a smaller problem"};
      if (piece.segment.empty()) piece.since = now;  // how long the kernel took to start makes no pieces
      protocol::append_item(piece.segment, data);
      if (piece.segment.size() < validated_bytes && now - piece.since < validated_age) return true;
      return hand_on(item + 1);
    };
    TRY_ASSIGN(auto outcome,
               trial.run({reference.stage, {0, reference.plan.items}, false, -1, -1, false, take}));
    if (outcome.end == Trial::End::done) TRY(hand_on(reference.plan.items));
    if (!refusal.empty()) {
      c.findings.failed("contract", "the manager rejects the kernel's items: " + refusal,
                        "kernel and manager disagree about what an item is");
      return false;
    }
    reference.items = std::move(outcome.items);
    reference.seconds = outcome.seconds;
    note_figures(reference, outcome, bytes);
    if (outcome.end == Trial::End::too_large) return false;
    if (outcome.end == Trial::End::failed) {
      std::string advice = remedy_for(c.bundle, outcome.failure);
      if (advice.empty())
        advice = fmt::format(
            "run it by hand: `app check --keep`, and in the directory that this prints "
            "printf 'gleaner 1\\nproblem {}\\nunit {} 0 {}\\nquit\\n' | {}",
            reference.problem.filename().string(), reference.stage, reference.plan.items,
            c.bundle.kernel.string());
      c.findings.failed("contract", outcome.failure + at_stage(reference.stage), advice);
      return false;
    }
    c.findings.passed("contract", "one kernel computes all items in order, and the manager accepts them");
    TRY(look_around(reference, trial, outcome));
    return true;
  }

  Status look_around(const Reference& reference, Trial& trial, const Trial::Outcome& outcome) {
    CheckContext& c = context_;
    const bool offers = trial.offers_checkpoints();
    if (c.bundle.manifest.checkpoint && !offers && outcome.end == Trial::End::done)
      c.findings.failed("checkpoint",
                        "the manifest says checkpoint = true, but the kernel offers no checkpoints",
                        "answer `ready 1 checkpoint`, or set checkpoint = false");
    if (!c.bundle.manifest.checkpoint && offers)
      c.findings.noted("checkpoint",
                       "the kernel offers checkpoints, but the manifest says checkpoint = false",
                       "set checkpoint = true, or no client will request one");
    if (reference.enough) return {};
    TRY_ASSIGN(const std::string fault, trial.quit());
    if (fault.empty())
      c.findings.passed("quit", "the kernel exits on request");
    else
      c.findings.failed("quit", fault, "exit with status 0 on `quit` and at the end of standard input");
    return {};
  }

  void note_figures(const Reference& reference, const Trial::Outcome& outcome, std::int64_t bytes) {
    CheckContext& c = context_;
    if (c.bundle.emulator) {  // whose memory and time these would be
      report_.stages.push_back({reference.plan.name, reference.plan.items, reference.count(), bytes,
                                outcome.peak_bytes, outcome.seconds, outcome.cpu_seconds,
                                outcome.slowest_item_seconds});
      return;
    }
    const std::int64_t limit = c.bundle.manifest.memory_bytes;
    StageFigures figures{
        reference.plan.name, reference.plan.items, reference.count(),   bytes,
        outcome.peak_bytes,  outcome.seconds,      outcome.cpu_seconds, outcome.slowest_item_seconds};
    report_.stages.push_back(figures);
    const std::string used = fmt::format("{:.0f} MiB of {:.0f} MiB that the manifest allows",
                                         static_cast<double>(figures.peak_bytes) / mebibyte,
                                         static_cast<double>(limit) / mebibyte);
    if (figures.peak_bytes > limit)
      c.findings.failed("memory", "the kernel took " + used,
                        "clients kill such kernels: use less memory, or raise limits.memory_megabytes");
    else if (figures.peak_bytes > limit - limit / 10)
      c.findings.noted("memory", "the kernel took " + used, "leave some memory for larger problems");
    else
      c.findings.passed("memory", "at most " + used);
    note_speed(reference, figures);
  }

  void note_speed(const Reference& reference, const StageFigures& figures) {
    if (figures.computed == 0 || figures.seconds <= 0) return;
    const double each = figures.seconds / static_cast<double>(figures.computed);
    const int threads = context_.threads();
    const double busy = std::min(1.0, figures.cpu_seconds / (figures.seconds * threads));
    const std::string text = fmt::format(
        "{} items in {:.3g} s by one kernel{}, the slowest in {:.3g} s; it computed {:.0f} % of "
        "the time",
        figures.computed, figures.seconds, at_stage(reference.stage), figures.slowest_item_seconds,
        100 * busy);
    if (figures.slowest_item_seconds > long_item_seconds && !context_.bundle.manifest.checkpoint)
      context_.findings.noted("speed", text,
                              "an item that takes longer than a minute is lost when the computer is switched "
                              "off: make items smaller, or save checkpoints");
    else if (each < quick_item_seconds)
      context_.findings.noted("speed", text,
                              "the contract costs some microseconds an item: put more work into one");
    else
      context_.findings.passed("speed", text);
  }

  Result<bool> combine(Reference& reference, contract::ManagerSession& manager) {
    CheckContext& c = context_;
    const io::Path segment = c.segments() / ("stage-" + std::to_string(reference.stage));
    TRY(c.world.files.write_at(segment, 0, segment_of(reference, {0, reference.count()})));
    auto files = manager.combine(reference.stage, {{{0, reference.count()}, 0, segment}}, {},
                                 [&](double done) { c.doing("combining", done); });
    if (!files.ok()) {
      c.findings.failed("combination", files.error().message + at_stage(reference.stage),
                        "combine must accept all items that validate accepted");
      return false;
    }
    reference.files = std::move(*files);
    return true;
  }

  struct Piece {
    std::int64_t begin = 0;
    Bytes segment;
    SteadyTime since{};
  };

  CheckContext context_;
  BundleChecks bundle_{context_};
  CheckReport report_;
};

}  // namespace

bool CheckReport::passed() const {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.verdict == Verdict::failed; });
}

const std::vector<CheckInfo>& checks() {
  static const std::vector<CheckInfo> all{
      {"sandbox", "the programs run confined, as on volunteers' computers and on a server"},
      {"libraries", "programs need no shared library but those of C and C++ and the bundle's own"},
      {"interpreter", "a script's interpreter is there, and the manifest says that hosts need it"},
      {"platforms", "each kernel is a program of its platform, and platforms agree"},
      {"parameters", "the manager refuses parameters that it does not know"},
      {"defaults", "omitted parameters have the manifest's defaults"},
      {"contract", "one kernel computes all items, and the manager accepts them"},
      {"quit", "the kernel exits on request"},
      {"memory", "the kernel stays below the manifest's limit"},
      {"disk", "the kernel's files stay below the manifest's disk limit"},
      {"speed", "items are neither too small nor too large"},
      {"determinism", "the same items have the same bytes when they are computed again"},
      {"independence", "an item's bytes do not depend on the unit, nor on items computed before"},
      {"variants", "an item's bytes do not depend on the number of threads or the processor's instructions"},
      {"partition", "2 and 3 kernels with 2 and 7 units in any order compute the same"},
      {"split", "a unit ends early on request"},
      {"resume", "another kernel continues after one was killed"},
      {"checkpoint", "an item continued from its checkpoint has the same bytes"},
      {"validation", "the manager rejects damaged results and keeps running"},
      {"preview", "the manager makes a preview, or reports that it has none"},
      {"combination", "the result depends only on the items, not on pieces, order, duplicates or restarts"},
      {"rows", "rows of a wrapped program's table do not fail"},
      {"numbers", "each number of a wrapped program is found in its output"},
      {"compare", "a wrapped program's comparison finds an altered output different"},
  };
  return all;
}

bool Findings::has_failed(const std::string& check) const {
  const auto found = findings_.find(check);
  return found != findings_.end() && found->second.verdict == Verdict::failed;
}

void Findings::add(Finding finding) {
  const auto [known, fresh] = findings_.try_emplace(finding.check, finding);
  if (!fresh && finding.verdict > known->second.verdict) known->second = std::move(finding);
}

std::vector<Finding> Findings::in_order() const {
  std::vector<Finding> ordered;
  for (const CheckInfo& info : checks())
    if (const auto found = findings_.find(info.name); found != findings_.end())
      ordered.push_back(found->second);
  CHECK_TRUE(ordered.size() == findings_.size());
  return ordered;
}

Result<std::unique_ptr<contract::ManagerSession>> CheckContext::manager(const io::Path& problem,
                                                                        const io::Path& directory) const {
  TRY_ASSIGN(auto spec, world.confinement.manager(bundle, {directory, problem, segments()}));
  return std::make_unique<contract::ManagerSession>(world.processes, std::move(spec), problem, directory,
                                                    std::chrono::seconds{limits::manager_seconds_max});
}

std::vector<Range> random_cuts(std::int64_t items, std::int64_t parts, Random& random) {
  std::vector<std::int64_t> ends{0, items};
  // Cuts that fall together are tried again; with few items all of them are taken soon.
  const auto wanted = static_cast<std::size_t>(std::min(parts, items)) + 1;
  while (ends.size() < wanted) {
    const std::int64_t cut = random.between(1, items - 1);
    if (std::find(ends.begin(), ends.end(), cut) == ends.end()) ends.push_back(cut);
  }
  std::sort(ends.begin(), ends.end());
  std::vector<Range> ranges;
  for (std::size_t i = 1; i < ends.size(); ++i) ranges.push_back({ends[i - 1], ends[i]});
  return ranges;
}

void shuffle(std::vector<Range>& ranges, Random& random) {
  for (std::size_t i = ranges.size(); i > 1; --i) std::swap(ranges[i - 1], ranges[random.below(i)]);
}

Bytes segment_of(const Reference& reference, Range range) {
  Bytes segment;
  for (std::int64_t item = range.begin; item < range.end; ++item)
    protocol::append_item(segment, reference.items[static_cast<std::size_t>(item)]);
  return segment;
}

Result<CheckReport> check_bundle(const CheckRequest& request, const CheckWorld& world) {
  if (world.files.exists(request.work))
    return Error{ErrorKind::conflict, request.work.string() + " exists already: remove it first"};
  const std::string asked = request.platform.empty() ? this_platform() : request.platform;
  TRY_ASSIGN(LocalBundle bundle, open_bundle(request.bundle, asked));
  TRY(check_content(bundle, request.content));
  TRY(world.files.make_directories(request.work));
  TRY_ASSIGN(const Bytes head, world.files.read_range(bundle.kernel, 0, program_head_bytes));
  const std::string found = platform_of(head);
  // The check says what is wrong with a file that is none or another's.
  const bool runs_here =
      found == "any" || found == this_platform() || (found.empty() && asked == this_platform());
  if (runs_here) return BundleCheck(request, world, bundle, nullptr).run();
  const std::string why = "the kernel for " + asked + " was not run";
  const auto emulator = find_emulator(found, std::filesystem::absolute(request.work));
  if (!emulator) {
    const std::string package = emulator_package(found);
    return BundleCheck(request, world, bundle, nullptr)
        .look(why + ": this computer has no emulator for " + (found.empty() ? "that platform" : found),
              package.empty() ? "check it on such a computer"
                              : "install " + package + ", or check it on such a computer");
  }
  const std::string runner = io::Path(emulator->command.front()).filename().string();
  if (!emulator->confinable && world.confinement.confines())
    return BundleCheck(request, world, bundle, nullptr)
        .look(why + ": the sandbox has no place for " + runner,
              std::string("run it without the sandbox: --unconfined \"") + unconfined_words + "\"");
  bundle.emulator = *emulator;
  const auto native = open_bundle(request.bundle, this_platform());
  return BundleCheck(request, world, bundle, native.ok() ? &*native : nullptr).run();
}

}  // namespace gleaner::local
