// The last output of running kernels, for administrators who look at it. A unit's output is wanted while an
// administrator asks for it; each reply to a heartbeat then asks the unit's host. Kept in memory, for few
// units: the unit that nobody has looked at for longest makes room. Writer thread only.
#pragma once

#include <map>
#include <string>

#include "shared/base/clock.h"
#include "shared/base/ids.h"

namespace gleaner::service {

class LiveOutputs {
 public:
  static constexpr Duration interest = std::chrono::seconds{30};
  static constexpr std::size_t units_max = 16;
  // How often the host is to report meanwhile.
  static constexpr double interval_seconds = 3;

  struct Output {
    std::string text;
    Timestamp at{};  // when it came; 0: not yet
  };

  // Somebody looks at it now. What has come so far; valid until the next call.
  [[nodiscard]] const Output& look(UnitId unit, Timestamp now);
  [[nodiscard]] bool wanted(UnitId unit, Timestamp now) const;
  void put(UnitId unit, std::string text, Timestamp at);

 private:
  struct Entry {
    Output output;
    Timestamp looked_at{};
  };
  std::map<UnitId, Entry> units_;
};

}  // namespace gleaner::service
