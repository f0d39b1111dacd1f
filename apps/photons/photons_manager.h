// What the items mean: plans them, checks that they add up and computes a part again, and makes tables,
// curves and maps of their sums.
#pragma once

#include "apps/kit/manager.h"
#include "apps/photons/settings.h"

namespace gleaner::photons {

class PhotonsManager final : public kit::Manager {
 public:
  [[nodiscard]] Status check(const kit::Problem& problem) override;
  [[nodiscard]] Result<std::optional<kit::Stage>> plan(int stage) override;
  [[nodiscard]] Result<kit::Validation> validate(int stage, kit::SegmentReader& segment) override;
  [[nodiscard]] Status combine(int stage, kit::ItemSource& items, kit::Output& output) override;
  [[nodiscard]] Status preview(int stage, kit::ItemSource& items, kit::Output& output) override;

 private:
  [[nodiscard]] Status check_item(std::int64_t item, std::string_view bytes, bool again) const;
  [[nodiscard]] Status report(kit::ItemSource& items, kit::Output& output) const;

  Settings settings_;
};

}  // namespace gleaner::photons
