#include "client/policy/unit_state.h"

namespace gleaner::client_policy {

const char* name_of(UnitState state) {
  switch (state) {
    case UnitState::granted:
      return "granted";
    case UnitState::preparing:
      return "preparing";
    case UnitState::waiting:
      return "waiting";
    case UnitState::running:
      return "running";
    case UnitState::paused:
      return "paused";
    case UnitState::committing:
      return "committing";
    case UnitState::closed:
      return "closed";
  }
  return "unknown";
}

const char* name_of(UnitEvent event) {
  switch (event) {
    case UnitEvent::prepare:
      return "prepare";
    case UnitEvent::prepared:
      return "prepared";
    case UnitEvent::preparation_failed:
      return "preparation failed";
    case UnitEvent::start:
      return "start";
    case UnitEvent::pause:
      return "pause";
    case UnitEvent::resume:
      return "resume";
    case UnitEvent::lose_kernel:
      return "lose kernel";
    case UnitEvent::stop:
      return "stop";
    case UnitEvent::close:
      return "close";
  }
  return "unknown";
}

std::optional<UnitState> after(UnitState state, UnitEvent event) {
  const auto only_from = [state](UnitState from, UnitState to) -> std::optional<UnitState> {
    if (state == from) return to;
    return std::nullopt;
  };
  switch (event) {
    case UnitEvent::prepare:
      return only_from(UnitState::granted, UnitState::preparing);
    case UnitEvent::prepared:
      return only_from(UnitState::preparing, UnitState::waiting);
    case UnitEvent::preparation_failed:
      return only_from(UnitState::preparing, UnitState::granted);
    case UnitEvent::start:
      return only_from(UnitState::waiting, UnitState::running);
    case UnitEvent::pause:
      return only_from(UnitState::running, UnitState::paused);
    case UnitEvent::resume:
      return only_from(UnitState::paused, UnitState::running);
    case UnitEvent::lose_kernel:
      if (state == UnitState::running || state == UnitState::paused) return UnitState::waiting;
      return std::nullopt;
    case UnitEvent::stop:
      if (state == UnitState::committing || state == UnitState::closed) return std::nullopt;
      return UnitState::committing;
    case UnitEvent::close:
      return only_from(UnitState::committing, UnitState::closed);
  }
  return std::nullopt;
}

}  // namespace gleaner::client_policy
