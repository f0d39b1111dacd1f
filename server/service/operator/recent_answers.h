// Answers for many who look at the same at once: each is made at most once in `age_max`, and whoever asks
// meanwhile shares it. Errors are not kept. Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "server/service/core/kernel.h"
#include "shared/base/clock.h"

namespace gleaner::service {

template <typename Key, typename Value>
class RecentAnswers {
 public:
  // `keys_max`: with so many it forgets those that are old.
  RecentAnswers(const Clock& clock, Duration age_max, std::size_t keys_max)
      : clock_(clock), age_max_(age_max), keys_max_(keys_max) {}

  // `make` is called where no answer is recent and none is being made.
  void ask(const Key& key, Done<Value> done, const std::function<void(Done<Value>)>& make) {
    std::optional<Value> present;
    {
      const std::lock_guard lock(mutex_);
      const SteadyTime now = clock_.steady();
      if (entries_.size() >= keys_max_)
        std::erase_if(entries_, [&](const auto& each) {
          return each.second.waiting.empty() && now - each.second.made >= age_max_;
        });
      Entry& entry = entries_[key];
      if (entry.last && now - entry.made < age_max_) {
        present = entry.last;
      } else {
        entry.waiting.push_back(std::move(done));
        if (entry.waiting.size() > 1) return;  // it is being made
      }
    }
    if (present) return done(std::move(*present));
    make([this, key](const Result<Value>& value) { made(key, value); });
  }

 private:
  struct Entry {
    std::optional<Value> last;
    SteadyTime made{};
    std::vector<Done<Value>> waiting;
  };

  void made(const Key& key, const Result<Value>& value) {
    std::vector<Done<Value>> waiting;
    {
      const std::lock_guard lock(mutex_);
      Entry& entry = entries_[key];
      waiting.swap(entry.waiting);
      entry.made = clock_.steady();
      if (value.ok())
        entry.last = *value;
      else
        entries_.erase(key);
    }
    for (const auto& each : waiting) each(value);
  }

  const Clock& clock_;
  const Duration age_max_;
  const std::size_t keys_max_;
  std::mutex mutex_;
  std::map<Key, Entry> entries_;
};

}  // namespace gleaner::service
