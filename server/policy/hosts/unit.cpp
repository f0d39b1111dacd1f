#include "server/policy/hosts/unit.h"

namespace gleaner::policy {

const char* name_of(UnitKind kind) {
  switch (kind) {
    case UnitKind::fresh:
      return "fresh";
    case UnitKind::recover:
      return "recover";
    case UnitKind::split:
      return "split";
    case UnitKind::copy:
      return "copy";
    case UnitKind::flood:
      return "flood";
    case UnitKind::check:
      return "check";
  }
  return "unknown";
}

const char* name_of(UnitState state) {
  switch (state) {
    case UnitState::open:
      return "open";
    case UnitState::done:
      return "done";
    case UnitState::cancelled:
      return "cancelled";
    case UnitState::failed:
      return "failed";
    case UnitState::expired:
      return "expired";
  }
  return "unknown";
}

}  // namespace gleaner::policy
