// When a unit's finished items are cut into a segment and delivered, and when a kernel is asked to save the
// item in progress. Pure. Cost: O(1).
#pragma once

#include "shared/base/clock.h"

namespace gleaner::client_policy {

struct DeliveryView {
  bool over = false;    // nothing more of the unit is computed: finished, cancelled, failed
  bool paused = false;  // by the owner: nobody knows when it goes on, so what is finished goes out
  Duration ran{0};      // computing time since the segment before
  Duration every{0};    // between two segments of a unit that runs, as its grant says; at least a second
};

// REQUIRES: finished items that are in no segment yet.
[[nodiscard]] bool cut_due(const DeliveryView& view);

// `on_item`: that the item in progress has run; `since`: since the kernel was asked last, or began the unit.
[[nodiscard]] bool save_due(Duration every, Duration on_item, Duration since);

}  // namespace gleaner::client_policy
