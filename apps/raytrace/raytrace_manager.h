// What the lines mean: plans them with cost hints, checks their lengths, and joins them to image.png.
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
  std::unique_ptr<Renderer> renderer_;
};

}  // namespace gleaner::raytrace
