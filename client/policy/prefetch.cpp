#include "client/policy/prefetch.h"

#include <algorithm>

namespace gleaner::client_policy {
namespace {
constexpr Duration piggyback_ahead = std::chrono::seconds{1};
constexpr Duration piggyback_margin = std::chrono::milliseconds{50};
}  // namespace

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

std::optional<Duration> piggyback_wait(const PrefetchView& view) {
  const auto until = until_ask(view);
  if (!until || *until > piggyback_ahead) return std::nullopt;
  return *until + piggyback_margin;
}

void RecentMean::add(Duration measured) {
  value_ = value_ == Duration{0} ? measured
                                 : from_seconds(to_seconds(value_) + weight_ * to_seconds(measured - value_));
}

}  // namespace gleaner::client_policy
