#include "client/engine/free_space.h"

namespace gleaner::engine {

void FreeSpace::look(std::int64_t bytes_min, SteadyTime now) {
  if (looked_ && now - *looked_ < interval) return;
  looked_ = now;
  const auto free = files_.free_bytes(root_);
  shortage_.reset();
  if (free.ok() && *free < bytes_min)
    shortage_ = std::to_string(*free >> 20) + " MiB of the disk are free, and the preference " +
                "disk_free_megabytes leaves " + std::to_string(bytes_min >> 20) +
                " MiB alone: no new work is fetched until more is free";
}

}  // namespace gleaner::engine
