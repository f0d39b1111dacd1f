#include "client/engine/free_space.h"

#include "shared/base/figures.h"

namespace gleaner::engine {

void FreeSpace::look(std::int64_t bytes_min, SteadyTime now) {
  if (looked_ && now - *looked_ < interval) return;
  looked_ = now;
  const auto free = files_.free_bytes(root_);
  shortage_.reset();
  if (free.ok() && *free < bytes_min)
    shortage_ = bytes_text(*free) + " of the disk are free, and the preference " +
                "disk_free_megabytes leaves " + bytes_text(bytes_min) +
                " free: no new work is fetched until more is free";
}

}  // namespace gleaner::engine
