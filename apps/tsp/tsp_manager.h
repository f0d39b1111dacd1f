// What the beginnings mean: plans them, checks that each item visited as many tours as there are and summed
// their lengths right, and tells the best tour.
#pragma once

#include "apps/kit/manager.h"
#include "apps/tsp/settings.h"
#include "apps/tsp/tsplib.h"

namespace gleaner::tsp {

class TspManager final : public kit::Manager {
 public:
  [[nodiscard]] Status check(const kit::Problem& problem) override;
  [[nodiscard]] Result<std::optional<kit::Stage>> plan(int stage) override;
  [[nodiscard]] Result<kit::Validation> validate(int stage, kit::SegmentReader& segment) override;
  [[nodiscard]] Status combine(int stage, kit::ItemSource& items, kit::Output& output) override;
  [[nodiscard]] Status preview(int stage, kit::ItemSource& items, kit::Output& output) override;

 private:
  [[nodiscard]] std::int64_t items() const;
  [[nodiscard]] Status check_item(std::int64_t item, std::string_view bytes) const;
  // Computes it again, if that is quick.
  [[nodiscard]] Status recompute(std::int64_t item, std::string_view bytes) const;
  [[nodiscard]] Status report(kit::ItemSource& items, kit::Output& output, bool all) const;
  [[nodiscard]] std::vector<kit::ItemHint> hints() const;

  Settings settings_;
  Instance instance_;
  Bounds bounds_;
};

}  // namespace gleaner::tsp
