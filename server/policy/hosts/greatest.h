// Numbers that come and go, of which only the greatest is asked: a heap of those that came beside one of
// those that went, which is cheaper than an ordered set. Cost: O(log n) a change, amortised. Value type.
// Internal to the module.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <vector>

#include "shared/base/check.h"

namespace gleaner::policy {

class Greatest {
 public:
  [[nodiscard]] bool empty() const { return came_.empty(); }
  [[nodiscard]] double value() const { return came_.front(); }  // REQUIRES: !empty()

  void add(double value) {
    came_.push_back(value);
    std::push_heap(came_.begin(), came_.end());
  }
  void remove(double value) {  // REQUIRES: it is there
    gone_.push_back(value);
    std::push_heap(gone_.begin(), gone_.end());
    while (!gone_.empty() && !came_.empty() && gone_.front() == came_.front()) {
      pop(came_);
      pop(gone_);
    }
    CHECK_TRUE(gone_.empty() || (!came_.empty() && gone_.front() < came_.front()));
    if (gone_.size() > few && 2 * gone_.size() > came_.size()) tidy();
  }

 private:
  static constexpr std::size_t few = 64;

  static void pop(std::vector<double>& heap) {
    std::pop_heap(heap.begin(), heap.end());
    heap.pop_back();
  }
  void tidy() {
    std::sort(came_.begin(), came_.end(), std::greater<>());  // which is a heap, too
    std::sort(gone_.begin(), gone_.end(), std::greater<>());
    std::vector<double> left;
    std::set_difference(came_.begin(), came_.end(), gone_.begin(), gone_.end(), std::back_inserter(left),
                        std::greater<>());
    came_ = std::move(left);
    gone_.clear();
  }

  std::vector<double> came_, gone_;  // heaps; what is in both is gone
};

}  // namespace gleaner::policy
