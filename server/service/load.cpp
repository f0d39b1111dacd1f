#include "server/service/load.h"

#include <mutex>
#include <unordered_map>

namespace gleaner::service {

struct Load::Places {
  std::mutex mutex;
  int all = 0;
  std::int64_t refused = 0;
  std::unordered_map<std::string, int> of_network;  // none of them 0
};

Load::Load() : places_(std::make_shared<Places>()) {}

Result<Load::Place> Load::enter(Caller caller, const std::string& network) {
  const bool proven = caller == Caller::proven;
  const int most = proven ? limits::requests_under_way_max : limits::strangers_requests_under_way_max;
  const int share = proven ? of_network_max : strangers_of_network_max;
  const std::lock_guard lock(places_->mutex);
  if (places_->all >= most) {
    ++places_->refused;
    return Error{ErrorKind::unavailable, "the server has as much to do as it can: try again later"};
  }
  const auto known = places_->of_network.find(network);
  if (known != places_->of_network.end() && known->second >= share) {
    ++places_->refused;
    return Error{ErrorKind::unavailable, "as many requests as one network may have are under way from " +
                                             network + ": try again later"};
  }
  Place place(nullptr, [places = places_, network](void*) {
    const std::lock_guard leaving(places->mutex);
    --places->all;
    const auto of = places->of_network.find(network);
    if (--of->second == 0) places->of_network.erase(of);
  });
  ++places_->all;
  ++places_->of_network[network];
  return place;
}

int Load::under_way() const {
  const std::lock_guard lock(places_->mutex);
  return places_->all;
}

std::int64_t Load::refused() const {
  const std::lock_guard lock(places_->mutex);
  return places_->refused;
}

}  // namespace gleaner::service
