// What of this computer's speeds its server has to be told: nothing that it knows already, but for what
// changes by more than measurements waver. Pure. Not thread-safe.
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
