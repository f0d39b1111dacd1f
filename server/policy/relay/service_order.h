// Whose slot a relay serves next, of those that wait with it for what comes from above: hosts, or relays.
// What is known of their links, their benchmarks and what they have had becomes what a rule looks at. Pure; a
// simulation and a relay drive the same object. [server/policy/relay/RELAYS.md, "Service order"]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/planning/serving.h"

namespace gleaner::policy {

// What one of them has had of this relay since its start.
struct FromHere {
  std::int64_t units = 0;
  Timestamp counted_at;    // among others by a planned service order, last
  Timestamp link_used_at;  // its link carried a unit's inputs, or it said how fast it is
};

// Bytes per second; 0: not known.
struct LinkRates {
  double down = 0, up = 0;
};

struct WaitingChild {
  int slots = 0;             // that it asks for; 0: it is none to be served
  std::uint64_t number = 0;  // of its request: lower is older
  bool over = false;         // its wait is over: it may have a part of what others hold
  LinkRates link;
  double performance = 0;  // of all its slots, in one unit for all; 0: not known
  FromHere here;
};

// What a relay knows of its own link, and of its items; 0: not known.
struct RelayTraffic {
  LinkRates link;
  double item_down_bytes = 0, item_up_bytes = 0;
  double item_seconds = 0;  // that an item takes one of those that wait, in the mean
};

class ServiceOrder {
 public:
  // At a time: geo looks at all pairs, otf solves a linear program.
  static constexpr std::size_t most = 256;

  // `rule` must outlive it.
  ServiceOrder(planning::ServingRule& rule, const RelayTraffic& relay, std::vector<WaitingChild> waiting,
               Timestamp now);
  // Why nothing could be planned, so that all count as equal; empty: all is well.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  // As of now, to be kept for later orders, by whom the units that follow are counted.
  [[nodiscard]] const FromHere& here(std::size_t child) const { return waiting_[child].here; }

  // Whose slot is next; nothing: nobody may have anything. `free`: something is here that nobody has; else
  // only those whose wait is over are served any more.
  [[nodiscard]] std::optional<planning::ServingChoice> next(bool free);
  void served(std::size_t child);                                              // it has got a unit
  void nothing_for(std::size_t child) { view_.children[child].requests = 0; }  // what is here is not for it
  // Slots of it that have got a unit.
  [[nodiscard]] std::size_t given(std::size_t child) const { return given_[child]; }
  // Those that could still be served.
  [[nodiscard]] std::size_t left() const;

 private:
  void look_at_links(const RelayTraffic& relay);
  void plan(double item_seconds);
  void count_together();
  [[nodiscard]] bool was_here(std::size_t child) const;
  [[nodiscard]] double share(std::size_t child) const;
  [[nodiscard]] double turn(std::size_t child) const;

  planning::ServingRule& rule_;
  std::vector<WaitingChild> waiting_;
  const Timestamp now_;
  planning::RelayView view_;  // of `waiting_`, in its order
  std::vector<std::size_t> given_;
  std::string trouble_;
};

}  // namespace gleaner::policy
