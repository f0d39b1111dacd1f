// The files of proc(5) that tell of the whole computer. `proc`: where they are mounted.
#pragma once

#include <cstdint>
#include <optional>

#include "shared/io/files.h"

namespace gleaner::platform {

// Of all processors together since the computer started, in the system's ticks: /proc/stat.
struct ProcessorTicks {
  std::int64_t user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0, stolen = 0;
  [[nodiscard]] std::int64_t busy() const { return user + nice + system + interrupts + soft; }
  [[nodiscard]] std::int64_t all() const { return busy() + idle + waiting + stolen; }
};
[[nodiscard]] std::optional<ProcessorTicks> processor_ticks(const io::Path& proc);

// The part of the memory that programs can still have, from 0 to 1: /proc/meminfo.
[[nodiscard]] std::optional<double> available_memory(const io::Path& proc);

}  // namespace gleaner::platform
