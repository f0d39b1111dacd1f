#include "client/engine/free_space.h"

namespace gleaner::engine {

void FreeSpace::look(std::int64_t bytes_min, SteadyTime now) {
  if (looked_ && now - *looked_ < interval) return;
  looked_ = now;
  const auto free = files_.free_bytes(root_);
  shortage_.reset();
  if (free.ok() && *free < bytes_min)
    shortage_ = "the disk is nearly full: no new work is taken until " + std::to_string(bytes_min >> 20) +
                " MiB are free";
}

}  // namespace gleaner::engine
