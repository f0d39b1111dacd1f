// LA, LE, LZ: the placement that leaves the least idle area under the longest queue (4.11), alone or weighted
// by the predicted error. The sum is over the hosts, with the task's own seconds taken off once; as printed
// they are taken off for every host, which makes the area negative. The printed denominator is the same for
// all pairs and is left out.
#include <algorithm>
#include <cmath>

#include "server/policy/mapping/weighted.h"

namespace gleaner::policy {
namespace {

constexpr const char* idle_area_source = "Page 2009, algorithm 4.1 and (4.11), corrected";
constexpr double least_area = 1e-9;  // in place of 0, so that the error weight still decides

class IdleArea final : public Score {
 public:
  IdleArea(const MappingInput& input, const MappingCosts& costs, const GreedyOptions& options,
           Direction direction)
      : weights_(error_weights(input, options, direction)), costs_(costs), direction_(direction) {}
  void begin(const MappingDraft& plan, std::span<const std::size_t>) override {
    longest_ = 0;
    sum_ = 0;
    for (const std::size_t host : costs_.hosts()) {
      longest_ = std::max(longest_, plan.ready(host));
      sum_ += plan.ready(host);
    }
  }
  [[nodiscard]] double value(const MappingDraft& plan, std::size_t task, std::size_t host) const override {
    const double whole =
        static_cast<double>(costs_.hosts().size()) * std::max(longest_, plan.finish(task, host));
    double area = whole - sum_ - costs_(task, host);
    if (area < 1e-12 * whole) area = 0;  // what rounding leaves of nothing
    if (direction_ == Direction::none) return area;
    return weighted(std::max(area, least_area), weights_(task, host), direction_);
  }

 private:
  Matrix weights_;
  const MappingCosts& costs_;
  Direction direction_;
  double longest_ = 0;
  double sum_ = 0;
};

}  // namespace

MappingEntry la_entry() {
  return by_score<IdleArea, Direction::none>("la", "the open task and host that leave the least idle area",
                                             idle_area_source);
}

MappingEntry le_entry() {
  return by_score<IdleArea, Direction::times_weight>("le", "experimental: la times the error weight",
                                                     idle_area_source);
}

MappingEntry lz_entry() {
  return by_score<IdleArea, Direction::over_weight>("lz", "experimental: la over the error weight",
                                                    idle_area_source);
}

}  // namespace gleaner::policy
