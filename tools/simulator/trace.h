// What happens to a host over time: its owner comes and goes, it is switched off, it slows down, it vanishes.
// Events are either listed (tests, files) or made one after the other from a seed (population.h), so that a
// million hosts need no memory for their future. The grid (grid.h) and the fluid bound (fluid.h) walk the
// very same events. Times in seconds of virtual time.
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
};

struct HostEvent {
  double at = 0;
  HostEventKind kind = HostEventKind::pause;
  double factor = 1;
};

// What the events so far have made of a host.
class HostState {
 public:
  bool up = false, paused = false, vanished = false;
  double factor = 1;

  void apply(const HostEvent& event);
  [[nodiscard]] bool answers() const { return up && !vanished; }
  // Of its full speed.
  [[nodiscard]] double share() const { return answers() && !paused ? factor : 0; }
};

struct GridHost;
class OwnerTrace;

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
  const GridHost* host_;
  std::size_t index_ = 0;  // into the list; 0: switched on, where it joins
  std::unique_ptr<OwnerTrace> owner_;
};

}  // namespace gleaner::simulator
