// This computer's readings for its projects: processor, memory, temperature. Not thread-safe.
#pragma once

#include <optional>

#include "client/host/machine.h"
#include "shared/base/clock.h"
#include "shared/protocol/messages.h"

namespace gleaner::engine {

class ReadingsMeter {
 public:
  // As measured now, or less than `interval` ago. `celsius`: of the hottest sensor that is believed.
  [[nodiscard]] const protocol::Readings& measure(const host::Machine& machine, std::optional<double> celsius,
                                                  SteadyTime now);

  static constexpr Duration interval = std::chrono::seconds{10};  // the mean of less is noise

 private:
  protocol::Readings latest_;
  host::ProcessorTime before_;
  std::optional<SteadyTime> measured_at_;
};

}  // namespace gleaner::engine
