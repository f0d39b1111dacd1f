#include "client/policy/prefetch.h"

#include <algorithm>

namespace gleaner::client_policy {

Duration lead(const PrefetchView& view) {
  const Duration wanted = 2 * view.round_trip + view.preparation + lead_margin;
  return std::clamp(wanted, lead_min, lead_max);
}

Ask should_ask(const PrefetchView& view) {
  if (view.has_waiting) return Ask::no;
  if (!view.busy) return Ask::now;
  if (!view.remaining) return Ask::no;
  return *view.remaining <= lead(view) ? Ask::soon : Ask::no;
}

std::optional<Duration> until_ask(const PrefetchView& view) {
  if (view.has_waiting || !view.busy || !view.remaining) return std::nullopt;
  const Duration left = *view.remaining - lead(view);
  if (left <= Duration{0}) return std::nullopt;
  return left;
}

}  // namespace gleaner::client_policy
