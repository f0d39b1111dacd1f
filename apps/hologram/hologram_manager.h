// Plans the stages of a reconstruction, checks a random line of every block by computing it again, turns rows
// into columns on the disk between the stages, and draws the result. What a stage's items have as inputs lies
// in stage-K/ of the stage before until the stage is combined and the next one planned.
#pragma once

#include <optional>
#include <random>

#include "apps/hologram/stages.h"
#include "apps/kit/manager.h"

namespace gleaner::hologram {

class HologramManager final : public kit::Manager {
 public:
  [[nodiscard]] Status check(const kit::Problem& problem) override;
  [[nodiscard]] Result<std::optional<kit::Stage>> plan(int stage) override;
  [[nodiscard]] Result<kit::Validation> validate(int stage, kit::SegmentReader& segment) override;
  [[nodiscard]] Status combine(int stage, kit::ItemSource& items, kit::Output& output) override;
  [[nodiscard]] Status preview(int stage, kit::ItemSource& items, kit::Output& output) override;

 private:
  [[nodiscard]] Status check_item(int stage, std::int64_t item, bool whole, std::string_view bytes);
  [[nodiscard]] Status finish(int stage, kit::ItemSource& items, kit::Output& output);
  [[nodiscard]] std::int64_t below(std::int64_t bound);

  std::optional<kit::Problem> problem_;
  std::optional<Task> task_;
  std::optional<Stages> stages_;
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace gleaner::hologram
