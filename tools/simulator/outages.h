// What befalls the hosts of a fleet together, or each by itself, over what their owners do: a lab without
// power, a building without network. Times in seconds of virtual time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shared/base/random.h"
#include "tools/simulator/trace.h"

namespace gleaner::simulator {

// Times at which something is gone for a while: listed (from, until, from, until, ...; rising), and drawn
// (exponential gaps and lengths).
struct Outages {
  std::vector<double> listed = {};
  double gap = 0, length = 0;  // gap 0: none are drawn
  [[nodiscard]] bool any() const { return !listed.empty() || gap > 0; }
};

// What lies over the events of all hosts of a fleet.
struct FleetOutages {
  Outages power;           // off without notice; afterwards on, and as its owner has it by then
  Outages network;         // cut off
  Outages each_cut;        // the same of each host by itself: drawn from the host's seed
  std::uint64_t seed = 0;  // of what is drawn for all
  [[nodiscard]] bool any() const { return power.any() || network.any() || each_cut.any(); }
};

// The boundaries of outages, one after the other: out, back, out, back, ... The outages must outlive it.
class OutageBoundaries {
 public:
  OutageBoundaries(const Outages& outages, std::uint64_t seed);
  [[nodiscard]] double next() const;
  // How many outages more (or, below 0, fewer) there are after the next boundary.
  int pass();

 private:
  const Outages& outages_;
  Random random_;
  std::size_t index_ = 0;  // into the listed ones
  double drawn_;
  bool drawn_out_ = false;
};

// The events of one host, its fleet's outages laid over its own. REQUIRES: host.outages, which must outlive
// it.
class OutageTrace {
 public:
  explicit OutageTrace(const GridHost& host);

  // `next_own` gives the host's own events, one after the other.
  template <typename NextOwn>
  [[nodiscard]] bool next(HostEvent& event, NextOwn next_own) {
    while (told_.empty()) {
      HostEvent own;
      if (!pending_ && !ended_) {
        ended_ = !next_own(own);
        if (!ended_) pending_ = own;
      }
      if (!step()) return false;
    }
    event = told_.front();
    told_.erase(told_.begin());
    return true;
  }

 private:
  [[nodiscard]] bool step();  // what is first of all; false: nothing is left
  void tell_power(double at);

  OutageBoundaries power_, network_, own_cuts_;
  HostState state_;                   // without outages
  std::optional<HostEvent> pending_;  // its own next
  std::vector<HostEvent> told_;
  int powerless_ = 0, cut_ = 0;  // outages that last
  bool ended_ = false;
};

}  // namespace gleaner::simulator
