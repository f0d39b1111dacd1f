#include "client/policy/delivery.h"

#include <algorithm>
#include <chrono>

namespace gleaner::client_policy {

bool cut_due(const DeliveryView& view) {
  return view.over || view.paused || view.ran >= std::max<Duration>(view.every, std::chrono::seconds{1});
}

bool save_due(Duration every, Duration on_item, Duration since) {
  return on_item >= every && since >= every;
}

}  // namespace gleaner::client_policy
