// What the owner is doing with this computer, as far as the system can tell. Implemented in client/platform
// (activity_monitor_linux.cpp). Called from the engine's thread; never blocks for long.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "client/policy/notices.h"
#include "client/policy/owner.h"
#include "shared/io/waiting.h"

namespace gleaner::host {

class ActivityMonitor {
 public:
  virtual ~ActivityMonitor() = default;
  // What every source knows at `now`; sources that cost something are read again only after a few seconds.
  [[nodiscard]] virtual std::vector<client_policy::Observation> observe(SteadyTime now) = 0;
  // Ready as soon as a session's agent says something, or somebody touches an input device that may be
  // watched.
  [[nodiscard]] virtual std::vector<io::Waitable> waitables() const = 0;
  // Has an agent or an input device something to say? Then observe() looks at those alone, at once.
  [[nodiscard]] virtual bool touched() const = 0;
  // What observe() tells from now on only if it is wanted.
  struct Wanted {
    std::vector<std::string> programs;  // those of them that run
    bool fans = false;                  // their speed, which some computers need long to find out
  };
  virtual void watch(const Wanted& wanted) = 0;
  // The agent of a session, now or later, shows this notice to its user; nothing: withdraws it.
  virtual void show(std::optional<client_policy::Notice> notice) = 0;
  // The number of a notice that an agent has shown, once.
  [[nodiscard]] virtual std::optional<std::int64_t> take_shown() = 0;
  // In the zone that this computer has now.
  [[nodiscard]] virtual client_policy::LocalTime local_time() const = 0;
};

}  // namespace gleaner::host
