// What the lines mean: plans them with cost hints, checks their lengths and a pixel, and joins them to
// image.png or, of an animation, to a picture a frame and animation.png.
#pragma once

#include "apps/kit/manager.h"
#include "apps/raytrace/render.h"

namespace gleaner::raytrace {

class RaytraceManager final : public kit::Manager {
 public:
  [[nodiscard]] Status check(const kit::Problem& problem) override;
  [[nodiscard]] Result<std::optional<kit::Stage>> plan(int stage) override;
  [[nodiscard]] Result<kit::Validation> validate(int stage, kit::SegmentReader& segment) override;
  [[nodiscard]] Status combine(int stage, kit::ItemSource& items, kit::Output& output) override;
  [[nodiscard]] Status preview(int stage, kit::ItemSource& items, kit::Output& output) override;

 private:
  // Writes the lines of `items`; lines that are missing are dark grey.
  [[nodiscard]] Status draw(kit::ItemSource& items, kit::Output& output) const;
  // Computes one pixel of the line again, which the sender cannot foresee, or all if that is quick.
  [[nodiscard]] Status check_again(std::int64_t item, std::string_view bytes) const;
  std::unique_ptr<Renderer> renderer_;
};

}  // namespace gleaner::raytrace
