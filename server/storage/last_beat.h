// When this server last knew that it leads its project (leadership.h), for what cannot be a transaction's. By
// both clocks: the steady one stands still while a machine sleeps. Thread-safe.
#pragma once

#include <mutex>
#include <optional>

#include "shared/base/clock.h"

namespace gleaner::storage {

class LastBeat {
 public:
  explicit LastBeat(const Clock& clock) : clock_(clock) {}

  struct Moment {
    SteadyTime steady{};
    Timestamp now{};
  };
  [[nodiscard]] Moment moment() const { return {clock_.steady(), clock_.now()}; }
  // It led at some time after that.
  void led_after(const Moment& moment) {
    const std::lock_guard lock(mutex_);
    last_ = moment;
  }
  // Was that a few seconds ago? Longer than a beat may take, and far from what else is waited for.
  [[nodiscard]] bool fresh() const {
    const Moment present = moment();
    const std::lock_guard lock(mutex_);
    return last_ && present.steady - last_->steady < fresh_for && present.now - last_->now < fresh_for;
  }

  static constexpr Duration fresh_for = std::chrono::seconds{10};

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::optional<Moment> last_;
};

}  // namespace gleaner::storage
