// Several hosts' results of the same items, compared item by item: who agrees with whom. Called on the pool;
// touches no model. Errors: io (a segment cannot be read), whatever the manager's comparison answers.
#pragma once

#include <string>
#include <vector>

#include "server/policy/trust/verdict.h"
#include "server/service/core/effects.h"
#include "server/service/core/kernel.h"

namespace gleaner::service {

struct ReviewFinding {
  Range range;  // consecutive items with the same verdict of the same hosts
  policy::Verdict verdict;
  std::vector<policy::Opinion> opinions;
  std::string failure = {};  // of the manager's comparison, which counted as a difference
};

[[nodiscard]] Result<std::vector<ReviewFinding>> compare(const effect::Review& job, Kernel& kernel);

}  // namespace gleaner::service
