#include "tools/simulator/grid_mail.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace gleaner::simulator {

void Mail::send(Arrival arrival) {
  arrival.order = ++order_;
  put_back(std::move(arrival));
}

void Mail::put_back(Arrival arrival) {
  arrivals_.push_back(std::move(arrival));
  std::push_heap(arrivals_.begin(), arrivals_.end(), std::greater<>());
}

Arrival Mail::pop() {
  std::pop_heap(arrivals_.begin(), arrivals_.end(), std::greater<>());
  Arrival first = std::move(arrivals_.back());
  arrivals_.pop_back();
  return first;
}

}  // namespace gleaner::simulator
