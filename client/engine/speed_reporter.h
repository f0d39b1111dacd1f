// Decides which of this computer's speeds the server needs to be told: only those that have changed by more
// than the noise of measurements. Pure. Not thread-safe.
#pragma once

#include <optional>

#include "shared/protocol/messages.h"

namespace gleaner::engine {

class SpeedReporter {
 public:
  // Nothing if the server knows them well enough.
  [[nodiscard]] std::optional<protocol::HostSpeeds> unreported(const protocol::HostSpeeds& now);
  // The server answered: it knows what unreported() said last.
  void confirm() { known_ = offered_; }

 private:
  protocol::HostSpeeds known_, offered_;
};

}  // namespace gleaner::engine
