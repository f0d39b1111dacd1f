#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "shared/bundle/wrap.h"
#include "shared/protocol/segment.h"
#include "tools/local/check_parts.h"
#include "tools/local/difference.h"
#include "tools/local/kernel_pool.h"

namespace gleaner::local {
namespace {

constexpr std::int64_t alone_items = 5;
constexpr std::chrono::milliseconds next_second{1100};  // a program that writes the time writes another one
constexpr std::int64_t variant_items = 3;
// A kernel that computed this long after it was told to stop was not listening.
constexpr double overrun_seconds_max = 0.25;
constexpr double save_moments[] = {0.6, 0.3, 0};  // parts of the time that the item took before

std::int64_t bytes_in(const io::Path& directory) {
  std::int64_t bytes = 0;
  std::error_code failure;
  for (std::filesystem::recursive_directory_iterator entry(directory, failure), end; !failure && entry != end;
       entry.increment(failure))
    if (entry->is_regular_file(failure)) bytes += static_cast<std::int64_t>(entry->file_size(failure));
  return bytes;
}

}  // namespace

Status KernelChecks::run() {
  if (reference_.count() == 0) {
    context_.findings.noted("determinism", "there are no items to compare", "choose other parameters");
    return {};
  }
  TRY(again());
  // What differs when it is merely repeated would differ in all that follows.
  if (context_.findings.has_failed("determinism")) return {};
  if (context_.native != nullptr) TRY(compared_with_native());
  TRY(alone());
  if (context_.findings.has_failed("independence")) return {};
  TRY(variants());
  TRY(divided(2, 2));
  TRY(divided(3, 7));
  if (context_.findings.has_failed("partition")) return {};
  TRY(ended_early());
  TRY(killed());
  if (context_.bundle.manifest.checkpoint && !context_.findings.has_failed("checkpoint")) TRY(saved());
  return {};
}

Trial KernelChecks::trial(const std::string& purpose, std::map<std::string, std::string> environment,
                          int threads) {
  return {context_.bundle, context_.world,
          Trial::Place{context_.fresh(purpose), reference_.problem,
                       threads > 0 ? threads : context_.threads(), std::move(environment)}};
}

Result<bool> KernelChecks::agree(std::int64_t item, const Bytes& bytes) {
  const Bytes& expected = reference_.items[static_cast<std::size_t>(item)];
  if (bytes == expected) return true;
  if (context_.bundle.manifest.comparison == bundle::Comparison::exact) return false;
  auto same = manager_.compare(reference_.stage, item, expected, bytes);
  if (!same.ok()) return local_error(same.error(), "comparing two results of item " + std::to_string(item));
  return same->same;
}

Result<std::int64_t> KernelChecks::first_difference(std::int64_t begin, const std::vector<Bytes>& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::int64_t item = begin + static_cast<std::int64_t>(i);
    if (item >= reference_.count()) break;
    TRY_ASSIGN(const bool same, agree(item, items[i]));
    if (!same) return item;
  }
  return std::int64_t{-1};
}

bool KernelChecks::worked(const Trial::Outcome& outcome, const std::string& check, const std::string& when) {
  if (outcome.end == Trial::End::too_large) {
    context_.findings.failed("memory", "the kernel took more than twice the manifest's memory " + when,
                             "clients kill such kernels: use less memory, or raise "
                             "limits.memory_megabytes");
    return false;
  }
  if (outcome.end != Trial::End::failed) return true;
  context_.findings.failed(check, outcome.failure + ", " + when,
                           "it computed the same items correctly before: look for the difference");
  return false;
}

void KernelChecks::differs(const std::string& check, std::int64_t item, const std::string& when,
                           const std::string& advice) {
  context_.findings.failed(
      check, fmt::format("item {} of stage {} has other bytes {}", item, reference_.stage, when), advice);
}

Status KernelChecks::compared_with_native() {
  Trial kernel(*context_.native, context_.world,
               Trial::Place{context_.fresh("kernel"), reference_.problem, context_.threads()});
  TRY_ASSIGN(const auto outcome, kernel.run({reference_.stage, {0, reference_.count()}}));
  const std::string here = "by the kernel for " + this_platform();
  if (!worked(outcome, "platforms", here)) return {};
  TRY_ASSIGN(const std::int64_t item, first_difference(0, outcome.items));
  if (item >= 0)
    differs("platforms", item, "when it is computed " + here,
            "hosts of both platforms would never agree: look for arithmetic that compilers may reorder "
            "(-ffp-contract=off), for the C library's functions, and for the sizes of types");
  return {};
}

// The very same unit, by another process in another directory.
Status KernelChecks::again() {
  const std::string doing = "computing it again";
  if (bundle::is_completed(context_.bundle.manifest)) std::this_thread::sleep_for(next_second);
  Trial kernel = trial("kernel");
  const auto count = static_cast<double>(reference_.count());
  const auto take = [&](std::int64_t item, const Bytes&) -> Result<bool> {
    context_.doing(doing, static_cast<double>(item) / count);
    return true;
  };
  TRY_ASSIGN(const auto outcome, kernel.run({reference_.stage,
                                             {0, reference_.plan.items},
                                             false,
                                             -1,
                                             reference_.enough ? reference_.count() : -1,
                                             false,
                                             take}));
  if (!worked(outcome, "determinism", "when it was started again")) return {};
  TRY_ASSIGN(const std::int64_t item, first_difference(0, outcome.items));
  if (item >= 0) {
    const Difference found = difference_of(context_.bundle, reference_.items[static_cast<std::size_t>(item)],
                                           outcome.items[static_cast<std::size_t>(item)]);
    differs("determinism", item, "when the same unit is computed again, " + found.where,
            !found.advice.empty() ? found.advice
                                  : "look for the clock, rand(), addresses, uninitialised memory, unordered "
                                    "containers, races of threads");
  } else {
    context_.findings.passed("determinism", "computed again, all items have the same bytes");
  }
  const std::int64_t left = bytes_in(kernel.directory()), allowed = context_.bundle.manifest.disk_bytes;
  if (left > allowed)
    context_.findings.failed(
        "disk",
        fmt::format("the kernel left {} bytes in its directory; the manifest allows {}", left, allowed),
        "remove files that are no longer needed, or raise limits.disk_megabytes");
  else
    context_.findings.passed("disk", fmt::format("{} bytes are left in the kernel's directory", left));
  return {};
}

// Single items, each by a process of its own, with only the inputs that such a unit would be sent.
Status KernelChecks::alone() {
  for (std::int64_t i = 0; i < std::min(alone_items, reference_.count()); ++i) {
    const std::int64_t item =
        i == 0 ? reference_.count() - 1 : context_.random.between(0, reference_.count() - 1);
    context_.doing("computing single items", static_cast<double>(i) / alone_items);
    const io::Path problem = context_.fresh("problem");
    TRY(write_problem(context_.world.files, problem,
                      seen_by_kernels(context_.bundle, context_.request.content),
                      Planned{context_.work / "manager", reference_.plan.inputs, {item, item + 1}}));
    Trial kernel(context_.bundle, context_.world, {context_.fresh("kernel"), problem, context_.threads()});
    TRY_ASSIGN(const auto outcome, kernel.run({reference_.stage, {item, item + 1}}));
    if (!worked(outcome, "independence", "given item " + std::to_string(item) + " alone")) return {};
    TRY_ASSIGN(const std::int64_t other, first_difference(item, outcome.items));
    if (other < 0) continue;
    differs(
        "independence", other, "when it is computed alone",
        "an item may depend on the problem and on its own number only: not on where its unit begins, nor on "
        "items before it");
    return {};
  }
  context_.findings.passed("independence", "single items have the same bytes");
  return {};
}

Status KernelChecks::variants() {
  struct Variant {
    std::string what;
    std::map<std::string, std::string> environment;
    int threads;
  };
  std::vector<Variant> all{{"with GLEANER_CPU=baseline", {{"GLEANER_CPU", "baseline"}}, 0},
                           {"with GLEANER_CPU=avx2", {{"GLEANER_CPU", "avx2"}}, 0}};
  if (context_.bundle.manifest.threads != 1)
    for (const int threads : {1, 2, 3})
      all.push_back({"with GLEANER_THREADS=" + std::to_string(threads), {}, threads});
  for (const Variant& variant : all) {
    context_.doing("computing " + variant.what, 0);
    const std::int64_t begin =
        context_.random.between(0, std::max<std::int64_t>(0, reference_.count() - variant_items));
    const Range range{begin, std::min(begin + variant_items, reference_.count())};
    Trial kernel = trial("kernel", variant.environment, variant.threads);
    TRY_ASSIGN(const auto outcome, kernel.run({reference_.stage, range}));
    if (!worked(outcome, "variants", variant.what)) return {};
    TRY_ASSIGN(const std::int64_t item, first_difference(begin, outcome.items));
    if (item < 0) continue;
    differs("variants", item, variant.what,
            "every variant must round alike: no FMA in one of them only, the same order of additions");
    return {};
  }
  context_.findings.passed("variants", "other threads and instructions give the same bytes");
  return {};
}

Status KernelChecks::divided(int kernels, int parts) {
  std::vector<Range> units = random_cuts(reference_.count(), parts, context_.random);
  shuffle(units, context_.random);
  const std::string when =
      fmt::format("when {} kernels compute {} units in any order", kernels, units.size());
  KernelPool::Setup setup;
  setup.bundle = context_.bundle;
  setup.work = context_.fresh("pool");
  setup.kernels = kernels;
  setup.threads = context_.threads();
  KernelPool pool(context_.world.processes, context_.world.files, context_.world.clock,
                  context_.world.confinement, std::move(setup));
  pool.begin_stage(reference_.problem, reference_.stage, listed_units(std::move(units)));
  std::vector<ComputedPiece> pieces;
  while (!pool.stage_done()) {
    if (context_.world.interrupted()) return Error{ErrorKind::io, "interrupted: nothing was kept"};
    pieces.clear();
    if (const Status turned = pool.turn(pieces); !turned.ok()) {
      context_.findings.failed(
          "partition", turned.error().message + ", " + when,
          "it computed the same items in one unit: look for state that a unit leaves behind");
      return {};
    }
    context_.doing("computing in parts",
                   static_cast<double>(pool.items_computed()) / static_cast<double>(reference_.count()));
    for (const ComputedPiece& piece : pieces) {
      TRY_ASSIGN(const auto views, protocol::split_segment(piece.segment, piece.range.size(),
                                                           context_.bundle.manifest.item_bytes));
      const std::vector<Bytes> items(views.begin(), views.end());
      TRY_ASSIGN(const std::int64_t item, first_difference(piece.range.begin, items));
      if (item < 0) continue;
      differs("partition", item, when,
              "a unit must leave no state behind that the next one uses: caches, sums, random states, files");
      return {};
    }
  }
  context_.findings.passed("partition",
                           "the same bytes from 2 and 3 kernels with 2 and 7 units in any order");
  return {};
}

Status KernelChecks::ended_early() {
  if (!context_.bundle.manifest.split) {
    context_.findings.passed("split", "the manifest says split = false");
    return {};
  }
  if (reference_.count() < 2) {
    context_.findings.noted("split", "one item cannot be split", "choose parameters with more items");
    return {};
  }
  context_.doing("ending a unit early", 0);
  const std::int64_t end = context_.random.between(1, std::max<std::int64_t>(1, reference_.count() / 2));
  Trial kernel = trial("kernel");
  TRY_ASSIGN(const auto outcome, kernel.run({reference_.stage, {0, reference_.count()}, false, end}));
  const std::string told = "asked to end before item " + std::to_string(end);
  if (!worked(outcome, "split", told)) return {};
  TRY_ASSIGN(const std::int64_t item, first_difference(0, outcome.items));
  const auto beyond = static_cast<std::int64_t>(outcome.items.size()) - end;
  if (item >= 0) {
    differs("split", item, "when the unit is " + told,
            "`end` changes where a unit ends, not what an item is");
  } else if (beyond <= 0) {
    context_.findings.passed("split", told + ", it does");
  } else if (outcome.overrun_seconds > overrun_seconds_max) {
    context_.findings.failed(
        "split", fmt::format("{}, it computed {} more for {:.2g} s", told, beyond, outcome.overrun_seconds),
        "read standard input between items and obey `end`, or set split = false");
  } else {
    context_.findings.noted(
        "split", fmt::format("{}, it had computed {} more before it read the request", told, beyond),
        "choose parameters with longer items to test this");
  }
  return {};
}

// What a volunteer's computer does when it is switched off: the finished items are kept, the rest is computed
// by another process in the same directory.
Status KernelChecks::killed() {
  if (reference_.count() < 2) {
    context_.findings.noted("resume", "with one item there is nothing to continue",
                            "choose parameters with more items");
    return {};
  }
  context_.doing("killing and continuing", 0);
  const std::int64_t at = context_.random.between(1, reference_.count() - 1);
  const std::int64_t end = std::min(reference_.count(), at + 1 + reference_.count() / 3);
  const io::Path directory = context_.fresh("kernel");
  const auto kernel = [&] {
    return Trial(context_.bundle, context_.world, {directory, reference_.problem, context_.threads()});
  };
  Trial first = kernel(), second = kernel();
  TRY_ASSIGN(const auto before, first.run({reference_.stage, {0, end}, false, -1, at}));
  if (!worked(before, "resume", "before it was to be killed")) return {};
  TRY_ASSIGN(const auto after, second.run({reference_.stage, {at, end}}));
  if (!worked(after, "resume", "when another process continues after it was killed")) return {};
  TRY_ASSIGN(const std::int64_t item, first_difference(at, after.items));
  if (item >= 0)
    differs("resume", item, "when another process continues in the same directory",
            "files that a killed kernel left behind must not count");
  else
    context_.findings.passed("resume", "killed before item " + std::to_string(at) + " and continued");
  return {};
}

Status KernelChecks::saved() {
  const std::int64_t item = reference_.slowest_item;
  for (const double moment : save_moments) {
    context_.doing("saving an item in progress", moment);
    const io::Path directory = context_.fresh("kernel");
    const auto kernel = [&] {
      return Trial(context_.bundle, context_.world, {directory, reference_.problem, context_.threads()});
    };
    Trial first = kernel(), second = kernel();
    // After the item before it, so that the kernel's start does not count.
    Trial::Unit unit{reference_.stage, {std::max<std::int64_t>(0, item - 1), item + 1}};
    unit.save = true;
    unit.save_after_seconds = moment * reference_.slowest_seconds;
    TRY_ASSIGN(const auto before, first.run(unit));
    if (!worked(before, "checkpoint", "asked for a checkpoint")) return {};
    if (before.end != Trial::End::saved) continue;  // the item was done before it could be saved
    if (!context_.world.files.exists(directory / "checkpoint")) {
      context_.findings.failed("checkpoint", "the kernel reported a saved item, but wrote no file checkpoint",
                               "write the file `checkpoint` in the working directory before you answer");
      return {};
    }
    TRY_ASSIGN(const auto after, second.run({reference_.stage, {item, item + 1}, true}));
    if (!worked(after, "checkpoint", "continuing from a checkpoint")) return {};
    TRY_ASSIGN(const std::int64_t other, first_difference(item, after.items));
    if (other >= 0)
      differs("checkpoint", other, "when it is continued from its checkpoint",
              "a checkpoint must have the item's whole state: sums, counters, random numbers");
    else
      context_.findings.passed("checkpoint",
                               fmt::format("item {} saved, killed and continued: the same bytes", item));
    return {};
  }
  context_.findings.noted("checkpoint", "every item was finished before it could be saved",
                          "choose parameters with items of some seconds");
  return {};
}

}  // namespace gleaner::local
