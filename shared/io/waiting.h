// Waiting until another thread, process or computer has something to say. Platform file: waiting_linux.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "shared/base/clock.h"

namespace gleaner::io {

// A thing of the system's that can be waited for: a descriptor that is to be read, a handle that is to be
// signalled. It does not own that: the header of whoever hands it out says how long it lasts.
class Waitable {
 public:
  using Native = std::intptr_t;
  constexpr Waitable() = default;  // nothing: it is never ready
  constexpr explicit Waitable(Native native) : native_(native) {}
  [[nodiscard]] constexpr Native native() const { return native_; }
  // No system numbers what is there below 0.
  [[nodiscard]] constexpr bool valid() const { return native_ >= 0; }
  bool operator==(const Waitable&) const = default;

 private:
  Native native_ = -1;
};

// Waits until one of them is ready, or its other side is gone, but no longer than `at_most` (rounded up to
// milliseconds; below 0 is 0; at most an hour). Returns the place of the first that is. Nothing: the time is
// over, or a signal of the system ended the wait early, so callers look at the clock.
std::optional<std::size_t> wait_any(std::span<const Waitable> all, Duration at_most);

// A bell for another thread. ring() from any thread; the rest from the one that waits.
class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  void ring();
  // Has it rung since the last call? It is ready no more then.
  bool take();
  // Ready from ring() to take(); lasts as long as this.
  [[nodiscard]] Waitable waitable() const { return waitable_; }

 private:
  Waitable waitable_;
};

}  // namespace gleaner::io
