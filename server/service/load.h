// How many requests are under way, and who is asked to come again later: at once, instead of making everybody
// wait. Hosts that have delivered, and the project's own, are served when strangers are not any more; and no
// network has more than its share of the places. From memory; thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "shared/base/limits.h"
#include "shared/base/result.h"

namespace gleaner::service {

class Load {
 public:
  enum class Caller { stranger, proven };

  // Of one network, so that many computers there, or one with many connections, leave places to others.
  static constexpr int strangers_of_network_max = limits::strangers_requests_under_way_max / 4;
  static constexpr int of_network_max = limits::requests_under_way_max / 2;

  Load();

  // The request is under way as long as somebody holds this.
  using Place = std::shared_ptr<void>;
  // `network`: where it comes from. unavailable: there is no place for it.
  [[nodiscard]] Result<Place> enter(Caller caller, const std::string& network);
  [[nodiscard]] int under_way() const;
  // Requests that found no place, since the server started.
  [[nodiscard]] std::int64_t refused() const;

 private:
  struct Places;
  const std::shared_ptr<Places> places_;
};

}  // namespace gleaner::service
