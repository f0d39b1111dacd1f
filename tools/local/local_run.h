// A problem computed on this machine, without server, network or signatures: the manager plans, kernel
// processes compute, the manager validates and combines, stage after stage. With one kernel it is the
// reference that a grid's result must equal byte for byte. The programs are confined as they are on a grid.
// The caller's thread blocks; kernels die with it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/contract/manager_session.h"
#include "shared/io/files.h"
#include "shared/io/process.h"
#include "tools/local/confinement.h"
#include "tools/local/local_bundle.h"

namespace gleaner::local {

struct LocalProblem {
  io::Path bundle;  // directory with a manifest.toml
  Content content;
  io::Path work;  // made; must not exist; the caller removes it once it has taken the results out
  int jobs = 0;   // kernel processes; 0: as many as the machine has cores for
  // How the server would size units (unit_source.h); empty: gleaner, but one kernel computes all in one go.
  std::string strategy;
};

struct LocalProgress {
  int stage = 0;
  std::string stage_name;
  std::int64_t items = 0;
  std::int64_t computed = 0;
  int kernels = 1;
  double combined = -1;  // fraction; negative: still computing
  double stage_seconds = 0;
};

struct LocalStage {
  std::string name;
  std::int64_t items = 0;
  std::int64_t computed = 0;  // fewer where the manager had enough
  std::int64_t units = 0;
  double compute_seconds = 0;
  double combine_seconds = 0;
};

struct LocalResult {
  std::vector<contract::CombinedFile> files;  // of the last stage; inside `work`
  std::vector<LocalStage> stages;
};

struct LocalWorld {
  io::Files& files;
  io::ProcessRunner& processes;
  const Clock& clock;
  const Confinement& confinement;
  std::function<void(const LocalProgress&)> on_progress;  // often
  std::function<void(int kernel, const std::string& text)> on_log;
  std::function<bool()> interrupted;
};

// Errors: invalid (manifest, parameters, strategy, or a result that the manager finds wrong), io (kernel or
// manager failed: with its last words; interrupted), not_found (no kernel for this platform; no such file).
[[nodiscard]] Result<LocalResult> run_locally(const LocalProblem& problem, const LocalWorld& world);

}  // namespace gleaner::local
