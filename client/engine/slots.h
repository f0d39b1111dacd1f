// An engine's slots, by number. Not thread-safe.
#pragma once

#include <memory>
#include <vector>

#include "client/engine/slot.h"

namespace gleaner::engine {

class Slots {
 public:
  Slots(Services& services, int count) {
    for (int number = 0; number < count; ++number) all_.push_back(std::make_unique<Slot>(services, number));
  }

  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  // The one that computes it, if one does.
  [[nodiscard]] Slot* of(const Unit& unit) const {
    for (const auto& slot : all_)
      if (slot->unit() == &unit) return slot.get();
    return nullptr;
  }
  // By kernels that have a unit.
  [[nodiscard]] int cores_in_use() const {
    int cores = 0;
    for (const auto& slot : all_)
      if (slot->unit() != nullptr) cores += slot->threads();
    return cores;
  }

 private:
  std::vector<std::unique_ptr<Slot>> all_;
};

}  // namespace gleaner::engine
