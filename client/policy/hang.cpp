#include "client/policy/hang.h"

#include <algorithm>

namespace gleaner::client_policy {

HangVerdict judge(const HangView& view) {
  if (view.asleep >= asleep_max) return HangVerdict::asleep;
  const double allowed = item_factor * view.item_seconds * std::max(1, view.threads);
  if (to_seconds(view.cpu_on_item) > allowed) return HangVerdict::too_long;
  return to_seconds(view.running_on_item) > running_factor * view.item_seconds ? HangVerdict::endless
                                                                               : HangVerdict::fine;
}

}  // namespace gleaner::client_policy
