// A source of what a session's user is doing: an X server, a Wayland compositor, the session's D-Bus
// services. Each is waited for and says what it knows when asked. It may wait for its other
// side for ever, as libraries do, so it has a thread of its own (watched_source.h).
#pragma once

#include <memory>
#include <string>

#include "client/agent/report/report.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/io/waiting.h"

namespace gleaner::agent {

// No input for so long is told as "idle since".
inline constexpr Duration default_granularity = std::chrono::seconds{5};
// How long the other side of a source has to answer.
inline constexpr Duration answer_patience = std::chrono::seconds{5};
// Does a source ask its other side whether it is there? When is watched_source.h's to say.
enum class Probe { no, yes };

struct SourceSettings {
  std::string x_display;        // ":0"; empty: there is no X server to ask
  std::string wayland_display;  // "wayland-0"; empty: this is no Wayland session
  std::string bus;              // address of the session's D-Bus; empty: none
  Duration granularity = default_granularity;
};

class Source {
 public:
  virtual ~Source() = default;
  [[nodiscard]] virtual io::Waitable waitable() const = 0;
  // Takes in what has come. Call when it is ready, when wait_until() has come, and to probe.
  // unavailable: the other side is gone, and so is this source.
  [[nodiscard]] virtual Status serve(SteadyTime now, Probe probe) = 0;
  [[nodiscard]] virtual SteadyTime wait_until() const = 0;
  // Adds what it knows.
  virtual void say(SessionReport& report, SteadyTime now) const = 0;
};

// not_found: nothing of this kind there.
[[nodiscard]] Result<std::unique_ptr<Source>> make_x11_source(const SourceSettings& settings, SteadyTime now);
[[nodiscard]] Result<std::unique_ptr<Source>> make_wayland_source(const SourceSettings& settings,
                                                                  SteadyTime now);
[[nodiscard]] Result<std::unique_ptr<Source>> make_bus_source(const SourceSettings& settings, SteadyTime now);

// Whether somebody is at it, as a source that tells of the two changes knows it.
class Presence {
 public:
  // Somebody is here, until idle() is called.
  void active() { idle_since_.reset(); }
  void idle(SteadyTime since) { idle_since_ = since; }
  [[nodiscard]] SessionReport::Input input(const std::string& source, SteadyTime now) const {
    SessionReport::Input told{source, !idle_since_, Duration{0}, false};
    if (idle_since_ && *idle_since_ < now)
      told.idle = std::chrono::duration_cast<Duration>(now - *idle_since_);
    return told;
  }

 private:
  std::optional<SteadyTime> idle_since_;
};

}  // namespace gleaner::agent
