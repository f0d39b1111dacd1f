// What a manager makes: the plan of a stage, files of a result. On the pool.
#pragma once

#include <vector>

#include "server/service/core/kernel.h"
#include "server/service/work/life_cycle.h"

namespace gleaner::service {

// Asks the manager what the stage is; blocks. Its inputs are put among the blobs.
[[nodiscard]] Result<PlannedStage> plan_stage(Kernel& kernel, const ManagerSetup& setup, int stage);

// Keeps files that a manager made, as blobs.
[[nodiscard]] Result<std::vector<protocol::ResultFile>> keep_files(
    Kernel& kernel, ProblemId problem, const std::vector<contract::CombinedFile>& files);

}  // namespace gleaner::service
