// Several of something that are looked at side by side, until all are: then their values in order, or the
// first error. Thread-safe.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::service {

template <typename Value>
class Round {
 public:
  using Then = std::function<void(Result<std::vector<Value>>)>;
  Round(std::size_t values, Then then) : left_(values), values_(values), then_(std::move(then)) {}
  void settle(std::size_t index, Result<Value> value) {
    {
      const std::lock_guard lock(mutex_);
      if (value.ok())
        values_[index] = std::move(*value);
      else if (!error_)
        error_ = value.error();
      if (--left_ > 0) return;
    }
    if (error_) return then_(*error_);
    then_(std::move(values_));
  }

 private:
  std::mutex mutex_;
  std::size_t left_;
  std::optional<Error> error_;
  std::vector<Value> values_;
  const Then then_;
};

}  // namespace gleaner::service
