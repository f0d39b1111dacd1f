// All hosts in the order of one column of the console's table. Thread-safe.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/service/core/kernel.h"
#include "shared/protocol/admin_messages.h"

namespace gleaner::service {

// `delivered`: largest accepted cost first. `reason`: why it is idle.
enum class HostOrder {
  number,
  delivered,
  name,
  state,
  reason,
  cores,
  speed,
  trust,
  items,
  cost,
  version,
  contact
};
// Of its name in a request.
[[nodiscard]] std::optional<HostOrder> host_order_from(std::string_view name);

struct Standings {
  std::vector<HostId> hosts;
  double cost = 0;  // accepted of all
};

class HostStandings {
 public:
  // A list is sorted again at most so often, while somebody looks: a host that joins meanwhile is not in it
  // yet.
  static constexpr auto age_max = std::chrono::seconds{10};
  struct Column {
    HostOrder order = HostOrder::number;
    bool descending = false;
    bool operator<(const Column& other) const {
      return std::pair(order, descending) < std::pair(other.order, other.descending);
    }
  };

  explicit HostStandings(Kernel& kernel) : kernel_(kernel) {}
  // `then` is called at once if a young list is at hand. The writer looks at limits::hosts_filtered_max hosts
  // at a time, and the pool sorts.
  void look(Column column, Done<std::shared_ptr<const Standings>> then);

 private:
  struct Ranked {
    HostId host;
    double number = 0;
    std::string text;
    double cost = 0;
  };
  using Hosts = std::vector<Ranked>;
  [[nodiscard]] static Ranked ranked(const Model& model, const Host& host, HostOrder order, Timestamp now);
  [[nodiscard]] std::shared_ptr<const Standings> young(const Column& column);
  void collect(Column column, HostId after, std::shared_ptr<Hosts> so_far,
               Done<std::shared_ptr<const Standings>> then);
  [[nodiscard]] std::shared_ptr<const Standings> sorted(const Column& column, Hosts hosts);

  struct Kept {
    std::shared_ptr<const Standings> list;
    SteadyTime made;
  };
  Kernel& kernel_;
  std::mutex mutex_;  // of what follows
  std::map<Column, Kept> kept_;
};

}  // namespace gleaner::service
