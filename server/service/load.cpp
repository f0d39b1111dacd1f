#include "server/service/load.h"

#include "shared/base/limits.h"

namespace gleaner::service {

Result<Load::Place> Load::enter(Caller caller) {
  const int most =
      caller == Caller::proven ? limits::requests_under_way_max : limits::strangers_requests_under_way_max;
  if (under_way_->fetch_add(1) >= most) {
    --*under_way_;
    return Error{ErrorKind::unavailable, "the server has as much to do as it can: try again later"};
  }
  return Place(nullptr, [count = under_way_](void*) { --*count; });
}

}  // namespace gleaner::service
