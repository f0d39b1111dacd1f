// How many requests are under way, and who is asked to come again later: at once, instead of making everybody
// wait. Hosts that have delivered, and the project's own, are served when strangers are not any more. From
// memory; thread-safe.
#pragma once

#include <atomic>
#include <memory>

#include "shared/base/result.h"

namespace gleaner::service {

class Load {
 public:
  enum class Caller { stranger, proven };

  // The request is under way as long as somebody holds this.
  using Place = std::shared_ptr<void>;
  // unavailable: there is no place for it.
  [[nodiscard]] Result<Place> enter(Caller caller);
  [[nodiscard]] int under_way() const { return *under_way_; }

 private:
  const std::shared_ptr<std::atomic<int>> under_way_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace gleaner::service
