#include "client/engine/readings_meter.h"

namespace gleaner::engine {

const protocol::Readings& ReadingsMeter::measure(const host::Machine& machine, std::optional<double> celsius,
                                                 SteadyTime now) {
  if (measured_at_ && now - *measured_at_ < interval) return latest_;
  measured_at_ = now;
  const host::ProcessorTime time = machine.processor_time();
  const std::int64_t all = time.all - before_.all, busy = time.busy - before_.busy;
  // The counters start again with a computer that woke up under another kernel.
  const bool counted = before_.all > 0 && all > 0 && busy >= 0 && busy <= all;
  latest_.cpu.reset();
  if (counted) latest_.cpu = static_cast<double>(busy) / static_cast<double>(all);
  before_ = time;
  latest_.memory = machine.memory_in_use();
  latest_.celsius = celsius;
  return latest_;
}

}  // namespace gleaner::engine
