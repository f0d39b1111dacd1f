// The manager of a wrapped program: an item an input file, a result an item: the input's name and the ending.
#pragma once

#include "apps/kit/manager.h"
#include "apps/wrap/wrapping.h"

namespace gleaner::wrap {

class WrapManager final : public kit::Manager {
 public:
  explicit WrapManager(Command command) : command_(std::move(command)) {}
  [[nodiscard]] Status check(const kit::Problem& problem) override;
  [[nodiscard]] Result<std::optional<kit::Stage>> plan(int stage) override;
  [[nodiscard]] Result<kit::Validation> validate(int stage, kit::SegmentReader& segment) override;
  [[nodiscard]] Status combine(int stage, kit::ItemSource& items, kit::Output& output) override;
  // Those in hand.
  [[nodiscard]] Status preview(int stage, kit::ItemSource& items, kit::Output& output) override;

 private:
  [[nodiscard]] Status write(kit::ItemSource& items, kit::Output& output) const;
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(inputs_.size()); }

  Command command_;
  std::vector<std::string> inputs_;
  std::vector<std::int64_t> bytes_;  // of each input
};

}  // namespace gleaner::wrap
