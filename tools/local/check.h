// Does a bundle keep the contract (apps/CONTRACT.md)? Its kernel and manager are run as a grid would run
// them, and worse: alone, again, in parts, out of order, stopped, killed and continued, with results that
// came twice or were damaged. All choices are random from a seed. The programs are confined as they are on a
// grid. The caller's thread blocks; they die with it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/bundle/manifest.h"
#include "shared/io/files.h"
#include "shared/io/process.h"
#include "tools/local/confinement.h"
#include "tools/local/local_bundle.h"

namespace gleaner::local {

struct CheckRequest {
  io::Path bundle;
  Content content;
  io::Path work;  // made; must not exist; the caller removes it
  std::uint64_t seed = 1;
  std::string platform = {};  // of the kernel; empty: this machine's
};

// What one check found, over all stages. Noted: allowed, but worth knowing, or not to be told from this
// problem.
enum class Verdict { passed, noted, failed };
struct Finding {
  std::string check;  // one word of checks()
  Verdict verdict = Verdict::passed;
  std::string what;    // a sentence
  std::string advice;  // what to do about it; empty if there is nothing to do
};

// What the first run of a stage, one kernel from its first item to its last, looked like.
struct StageFigures {
  std::string name;
  std::int64_t items = 0;     // planned
  std::int64_t computed = 0;  // fewer where the manager had enough
  std::int64_t bytes = 0;     // of their results
  std::int64_t peak_bytes = 0;
  double seconds = 0;
  double cpu_seconds = 0;
  double slowest_item_seconds = 0;
};

struct CheckReport {
  bundle::Manifest manifest;
  std::vector<Finding> findings;  // at most one a check, in order of checks()
  std::vector<StageFigures> stages;
  std::string not_run;  // why the kernel was not run, and only its file looked at; empty: it was run
  [[nodiscard]] bool passed() const;
};

struct CheckWorld {
  io::Files& files;
  io::ProcessRunner& processes;
  const Clock& clock;
  const Confinement& confinement;
  std::function<void(const std::string& doing, double fraction)> on_progress;  // often
  std::function<bool()> interrupted;
};

// The names of all checks with what each is about, in the order in which they are made.
struct CheckInfo {
  std::string name;
  std::string about;
};
[[nodiscard]] const std::vector<CheckInfo>& checks();

// Errors are about the request, not the bundle's behaviour: not_found and invalid (no bundle, no kernel for
// this platform, parameters that the manager refuses, results too large to hold), io (interrupted; disk).
[[nodiscard]] Result<CheckReport> check_bundle(const CheckRequest& request, const CheckWorld& world);

}  // namespace gleaner::local
