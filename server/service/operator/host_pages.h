// Hosts a page at a time: by their numbers, or who delivered most first. What they delivered is what was
// accepted of them since the project began, by cost; a host's share is its part of what all delivered.
// Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/service/core/kernel.h"
#include "shared/protocol/console_messages.h"

namespace gleaner::service {

enum class HostOrder { number, delivered };

struct HostQuery {
  HostId after;
  std::string text;                          // part of a host's name, version, platform or tags; in any case
  std::optional<protocol::HostState> state;  // absent: any
  std::string tag = {};                      // that it has; empty: any
  HostOrder order = HostOrder::number;
  HostId relay = {};  // directly under which it is; 0: any
};

class HostPages {
 public:
  // All hosts are put in order at most so often, while somebody looks: who comes meanwhile is not in it yet.
  static constexpr auto standings_age_max = std::chrono::seconds{10};

  explicit HostPages(Kernel& kernel) : kernel_(kernel) {}
  // Looks at limits::hosts_filtered_max hosts at most; `next` goes on from there.
  void page(HostQuery query, Done<protocol::HostPage> done);

 private:
  struct Delivered {
    HostId host;
    double cost;
  };
  struct Standings {
    std::vector<HostId> hosts;  // who delivered most first; then by number
    double cost = 0;            // of all
  };
  void keep_sorted(std::vector<Delivered> hosts);
  // What is young enough; null: nothing.
  [[nodiscard]] std::shared_ptr<const Standings> standings();

  Kernel& kernel_;
  std::mutex mutex_;  // of what follows
  std::shared_ptr<const Standings> standings_;
  SteadyTime sorted_at_{};
};

}  // namespace gleaner::service
