// A number of each host, of which only the greatest is asked: a tournament, where most changes end after a
// round or two. Cost: O(log n) a change at most. Value type. Internal to the module.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace gleaner::policy {

class Greatest {
 public:
  [[nodiscard]] bool empty() const { return value() == none; }
  [[nodiscard]] double value() const { return best_.empty() ? none : best_[1]; }

  void set(std::size_t place, double value) {
    if (place >= places_) grow(place + 1);
    std::size_t at = places_ + place;
    best_[at] = value;
    while (at > 1) {
      at /= 2;
      const double best = std::max(best_[2 * at], best_[2 * at + 1]);
      if (best_[at] == best) return;
      best_[at] = best;
    }
  }
  void remove(std::size_t place) {
    if (place < places_) set(place, none);
  }

 private:
  static constexpr double none = -std::numeric_limits<double>::infinity();

  void grow(std::size_t least) {
    const std::size_t places = std::max(least, places_ + places_ / 8 + 2);
    std::vector<double> best(2 * places, none);
    std::copy(best_.begin() + static_cast<std::ptrdiff_t>(places_), best_.end(),
              best.begin() + static_cast<std::ptrdiff_t>(places));
    for (std::size_t at = places - 1; at > 0; --at) best[at] = std::max(best[2 * at], best[2 * at + 1]);
    best_ = std::move(best);
    places_ = places;
  }

  std::size_t places_ = 0;    // two or more, once there are any
  std::vector<double> best_;  // of the pair below; the hosts' own from places_ on
};

}  // namespace gleaner::policy
