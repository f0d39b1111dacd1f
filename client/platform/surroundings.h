// Surroundings (client/engine/surroundings.h) of a Linux system, below injectable roots. Sources, each a
// file: terminals_linux.cpp (pseudo-terminals, consoles and SSH sessions by the time of their last input),
// input_linux.cpp (keyboards and mice, event by event, where permitted; what they say is thrown away unread),
// screens_linux.cpp (who is logged in at a screen, and whether it is idle or locked, by logind),
// power_linux.cpp (battery, temperature).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "client/engine/surroundings.h"
#include "shared/io/descriptor.h"
#include "shared/io/files.h"

namespace gleaner::platform {

using client_policy::Observation;

// Who is logged in at a screen. `idle`: how long it has been unused or locked, for certain.
struct Screen {
  std::string name;
  std::optional<Duration> idle;
};

struct SurroundingsRoots {
  io::Path dev = "/dev";
  io::Path sys = "/sys";
  std::function<std::vector<Screen>()> screens;  // empty: logind's
};

[[nodiscard]] std::unique_ptr<engine::Surroundings> make_surroundings(SurroundingsRoots roots = {});

// The sources, for this room.
[[nodiscard]] std::vector<Observation> observe_terminals(const io::Path& dev);
[[nodiscard]] std::vector<Observation> observe_power(const io::Path& sys);
[[nodiscard]] std::vector<Screen> logind_screens();

class InputDevices {
 public:
  explicit InputDevices(const io::Path& dev);
  [[nodiscard]] std::vector<int> descriptors() const;
  // Drains them; nothing if none may be watched.
  [[nodiscard]] std::optional<Observation> observe(SteadyTime now);

 private:
  std::vector<io::Descriptor> devices_;
  std::optional<SteadyTime> last_;
};

}  // namespace gleaner::platform
