// What happens to a host over time: its owner comes and goes, it is switched off, it slows down, it vanishes.
// Events are either listed (tests, files) or made one after the other from a seed (population.h), so that a
// million hosts need no memory for their future. What befalls several hosts together (a lab's power, a
// building's network) lies over a host's own events (outages.h). The grid (grid.h) and the fluid bound
// (fluid.h) walk the very same events. Times in seconds of virtual time.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace gleaner::simulator {

enum class HostEventKind : int {
  pause = 1,  // the owner is there: it answers, but computes nothing
  resume = 2,
  slow = 3,    // to `factor` of its speed, from now on
  off = 4,     // without notice: the item in progress is lost, finished ones survive
  on = 5,      // neither paused nor slow, whatever it was
  vanish = 6,  // for good
  cut = 7,     // its network is gone: it computes on, and keeps what it has to say
  back = 8,
};

struct HostEvent {
  double at = 0;
  HostEventKind kind = HostEventKind::pause;
  double factor = 1;
};

// What the events so far have made of a host.
class HostState {
 public:
  bool up = false, paused = false, vanished = false, cut = false;
  double factor = 1;

  void apply(const HostEvent& event);
  [[nodiscard]] bool on() const { return up && !vanished; }
  [[nodiscard]] bool answers() const { return on() && !cut; }
  // Of its full speed.
  [[nodiscard]] double share() const { return on() && !paused ? factor : 0; }
};

struct GridHost;
class OwnerTrace;
class OutageTrace;

// The events of one host, in order of time. The host must outlive it.
class HostTrace {
 public:
  explicit HostTrace(const GridHost& host);
  ~HostTrace();
  HostTrace(HostTrace&&) noexcept;
  HostTrace& operator=(HostTrace&&) noexcept;

  // The next event, if there is one.
  [[nodiscard]] bool next(HostEvent& event);

 private:
  [[nodiscard]] bool next_own(HostEvent& event);

  const GridHost* host_;
  std::size_t index_ = 0;  // into the list; 0: switched on, where it joins
  std::unique_ptr<OwnerTrace> owner_;
  std::unique_ptr<OutageTrace> outages_;
};

}  // namespace gleaner::simulator
