// When a relay that does not answer is gone for good. Its host counts from the first time that nobody
// answered there (kept over restarts: computers are switched off at night), and wants to have tried for a
// while in this run: after a holiday all of a lab starts at once, its relay not always first. Pure: times are
// arguments. Cost: O(1). Not thread-safe.
#pragma once

#include <optional>

#include "shared/base/clock.h"

namespace gleaner::client_policy {

class RelaySilence {
 public:
  // `since`: as an earlier run left it.
  explicit RelaySilence(std::optional<Timestamp> since = {}) : since_(since) {}

  // It answered, whatever it said.
  void heard();
  // It did not, or what answered was not it. A calendar that went back begins anew.
  void unheard(Timestamp now, SteadyTime steady);
  // Its hosts were not taken elsewhere either: it is tried again for a while.
  void not_taken(SteadyTime steady) { trying_since_ = steady; }

  [[nodiscard]] std::optional<Timestamp> since() const { return since_; }
  [[nodiscard]] bool for_good(Duration patience, Timestamp now, SteadyTime steady) const;

 private:
  std::optional<Timestamp> since_;
  std::optional<SteadyTime> trying_since_;  // of this run
};

}  // namespace gleaner::client_policy
