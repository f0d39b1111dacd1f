#include "client/policy/cpu_share.h"

#include <algorithm>

namespace gleaner::client_policy {

Slice CpuShare::next(Duration elapsed, Duration consumed) {
  const double earned = share_ * std::max(0.0, to_seconds(elapsed));
  balance_ += earned - std::max(0.0, to_seconds(consumed));
  balance_ = std::clamp(balance_, -to_seconds(debt_max), to_seconds(credit_max));
  // A slice that runs uses up to a whole slice: run when the account is in credit, stop when it is not. The
  // mean of the account then stays within one slice of zero.
  return balance_ > 0 ? Slice::run : Slice::stop;
}

Duration CpuShare::until_credit() const {
  if (balance_ > 0) return Duration{0};
  if (share_ <= 0) return debt_max;
  return from_seconds(-balance_ / share_) + Duration{1};
}

}  // namespace gleaner::client_policy
