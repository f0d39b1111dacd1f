// Moving pictures: where the camera is at each frame. Only IEEE basic operations and own sines: the same bits
// everywhere. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/raytrace/scene.h"
#include "shared/base/result.h"

namespace gleaner::raytrace {

struct Animation {
  std::int64_t frames = 1;           // of the whole
  std::int64_t first = 0, last = 0;  // those that are drawn
  double orbit = 0;  // degrees around the camera's target in all frames; 0: along the scene's path
  std::int64_t frame_milliseconds = 40;

  [[nodiscard]] std::int64_t drawn() const { return last - first + 1; }
};

// A camera for each frame that is drawn. An orbit turns about the vertical through the camera's target, so
// that 360 degrees join without a seam; a path passes through all its places, evenly in time, from the first
// at the first frame to the last at the last one (Catmull and Rom 1974). Errors: invalid (the camera would be
// at its target or look along its `up`).
[[nodiscard]] Result<std::vector<Camera>> cameras_of(const Scene& scene, const Animation& animation);

}  // namespace gleaner::raytrace
