// The life of a unit that this host holds. Illegal steps are refused, so that a confused server, kernel or
// disk cannot make the client compute what it should not or forget what it has.
//
//   granted -> preparing -> waiting -> running <-> paused
//   any of them -> committing (finished, cancelled, failed: what is done is still delivered) -> closed
//   running, paused -> waiting (the kernel is gone, the unit is kept)
//   preparing -> granted (a download failed and is tried again)
// Pure. Cost: O(1).
#pragma once

#include <optional>

namespace gleaner::client_policy {

enum class UnitState : int {
  granted = 1,
  preparing = 2,
  waiting = 3,
  running = 4,
  paused = 5,
  committing = 6,
  closed = 7,
};
[[nodiscard]] const char* name_of(UnitState state);

enum class UnitEvent : int {
  prepare = 1,  // download and verify
  prepared = 2,
  preparation_failed = 3,
  start = 4,  // a kernel has it
  pause = 5,
  resume = 6,
  lose_kernel = 7,  // the kernel ended or was taken away; the unit goes on later
  stop = 8,         // nothing more will be computed: finished, cancelled, failed
  close = 9,        // everything is acknowledged or nothing is left to deliver
};
[[nodiscard]] const char* name_of(UnitEvent event);

// The state after the event; nothing if the event is illegal in this state.
[[nodiscard]] std::optional<UnitState> after(UnitState state, UnitEvent event);

}  // namespace gleaner::client_policy
