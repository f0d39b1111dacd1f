// An observer that is shown each finished item, for instance to draw a picture. Called on the engine's
// thread for every item, so it must be quick; it can neither change anything nor fail.
#pragma once

#include <string_view>

#include "client/engine/unit.h"

namespace gleaner::engine {

class ItemObserver {
 public:
  virtual ~ItemObserver() = default;
  // `unit` is prepared; the bytes are the kernel's, and not to be trusted.
  virtual void item_finished(const Unit& unit, std::int64_t index, std::string_view bytes) = 0;
};

}  // namespace gleaner::engine
