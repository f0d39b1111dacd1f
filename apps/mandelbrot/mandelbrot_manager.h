// What the rows mean: plans them with cost hints, checks them, and turns them into image.png and counts.json.
#pragma once

#include "apps/kit/manager.h"
#include "apps/mandelbrot/deep.h"

namespace gleaner::mandelbrot {

class MandelbrotManager final : public kit::Manager {
 public:
  [[nodiscard]] Status check(const kit::Problem& problem) override;
  [[nodiscard]] Result<std::optional<kit::Stage>> plan(int stage) override;
  [[nodiscard]] Result<kit::Validation> validate(int stage, kit::SegmentReader& segment) override;
  [[nodiscard]] Status combine(int stage, kit::ItemSource& items, kit::Output& output) override;
  [[nodiscard]] Status preview(int stage, kit::ItemSource& items, kit::Output& output) override;

 private:
  // Draws the rows of `items`; rows that are missing stay dark.
  [[nodiscard]] Status draw(kit::ItemSource& items, kit::Output& output) const;
  [[nodiscard]] Status load_orbit();
  // Computes one pixel of the row again, which the sender cannot foresee.
  [[nodiscard]] Status check_pixel(std::int64_t row, std::string_view bytes) const;
  Settings settings_;
  std::optional<ReferenceOrbit> orbit_;  // of a deep view, once it is needed
};

// A row's cost relative to others: iterations on a few columns, for a few hundred rows, interpolated between.
// `orbit`: of a deep view, else null.
[[nodiscard]] std::vector<kit::ItemHint> estimate_costs(const Settings& settings,
                                                        const ReferenceOrbit* orbit = nullptr);

}  // namespace gleaner::mandelbrot
