// What the points mean: checks some of each segment, looks for the collision that gives the logarithm, and
// has enough when there is one.
#pragma once

#include "apps/dlog/collisions.h"
#include "apps/kit/manager.h"

namespace gleaner::dlog {

class DlogManager final : public kit::Manager {
 public:
  [[nodiscard]] Status check(const kit::Problem& problem) override;
  [[nodiscard]] Result<std::optional<kit::Stage>> plan(int stage) override;
  [[nodiscard]] Result<kit::Validation> validate(int stage, kit::SegmentReader& segment) override;
  [[nodiscard]] Status combine(int stage, kit::ItemSource& items, kit::Output& output) override;
  [[nodiscard]] Status preview(int stage, kit::ItemSource& items, kit::Output& output) override;

 private:
  [[nodiscard]] std::int64_t items() const;
  [[nodiscard]] Status check_points(const Points& points) const;
  [[nodiscard]] Status report(kit::ItemSource& items, kit::Output& output, bool last);

  Group group_;
  std::optional<Collisions> collisions_;
};

}  // namespace gleaner::dlog
