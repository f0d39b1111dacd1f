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
  if (vacant_.empty()) {
    vacant_.push_back(under_way_.size());
    under_way_.emplace_back();
  }
  const std::size_t place = vacant_.back();
  vacant_.pop_back();
  due_.push_back({arrival.time, arrival.order, place});
  std::push_heap(due_.begin(), due_.end(), std::greater<>());
  under_way_[place] = std::move(arrival);
}

Arrival Mail::pop() {
  std::pop_heap(due_.begin(), due_.end(), std::greater<>());
  const std::size_t place = due_.back().place;
  due_.pop_back();
  vacant_.push_back(place);
  return std::move(under_way_[place]);
}

}  // namespace gleaner::simulator
