#include "client/policy/project_shares.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "shared/base/check.h"

namespace gleaner::client_policy {

// The least of those that have work.
void ProjectShares::raise_start() {
  std::optional<double> least;
  for (const auto& [key, use] : uses_)
    if (use.contends) least = std::min(least.value_or(use.virtual_time), use.virtual_time);
  if (least) start_ = std::max(start_, *least);
}

void ProjectShares::join(const std::string& key) {
  raise_start();
  uses_.try_emplace(key, ProjectUse{start_, 0, true});
}

void ProjectShares::charge(const std::string& key, double core_seconds, double share) {
  CHECK_TRUE(core_seconds >= 0 && share > 0);
  const double left = std::exp2(-core_seconds / half_life);
  for (auto& [other, use] : uses_) use.recent *= left;
  ProjectUse& use = uses_.at(key);
  use.virtual_time += core_seconds / share;
  use.recent += core_seconds;
  raise_start();
}

void ProjectShares::set_contends(const std::string& key, bool contends) {
  ProjectUse& use = uses_.at(key);
  if (use.contends == contends) return;
  raise_start();  // before it counts itself, or after it did for the last time
  use.contends = contends;
  if (contends) use.virtual_time = std::max(use.virtual_time, start_);
}

std::size_t ProjectShares::next(const std::vector<ProjectClaim>& claims) const {
  const auto finish = [this](const ProjectClaim& claim) {
    return virtual_time(claim.key) + claim.ahead / claim.share;
  };
  std::size_t best = claims.size();
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (!claims[i].askable) continue;
    if (best == claims.size()) {
      best = i;
      continue;
    }
    const double mine = finish(claims[i]);
    const double least = finish(claims[best]);
    if (mine < least || (mine == least && claims[i].key < claims[best].key)) best = i;
  }
  return best;
}

double ProjectShares::recent_part(const std::string& key) const {
  double all = 0;
  for (const auto& [other, use] : uses_) all += use.recent;
  return all > 0 ? uses_.at(key).recent / all : 0;
}

void ProjectShares::restore(std::map<std::string, ProjectUse> uses) {
  uses_ = std::move(uses);
  start_ = 0;
  raise_start();
}

}  // namespace gleaner::client_policy
