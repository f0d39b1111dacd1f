// A simulated computer: how fast it is, what befalls it, and how it cheats.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tools/simulator/cheats.h"
#include "tools/simulator/outages.h"
#include "tools/simulator/population.h"
#include "tools/simulator/trace.h"

namespace gleaner::simulator {

struct GridHost {
  double speed = 1;  // of one slot
  int slots = 1;
  double performance = 0;  // its benchmark; 0: the speed
  double joins_at = 0;
  double queue = 1;  // runnable jobs of others, and its own, as it reports them (worker-initiated sizing)
  std::vector<HostEvent> events = {};  // by time; unless it has an owner
  std::optional<Owner> owner = {};     // its events are made on the fly
  double latency = 0;                  // of its link, added to each way
  double download_byte_seconds = 0;    // of its link; all of a unit comes before it starts
  double upload_byte_seconds = 0;      // the server has a result only afterwards
  double wrong_chance = 0;             // that a unit's results are wrong
  Cheating cheating = {};
  std::shared_ptr<const FleetOutages> outages = {};
  std::uint64_t outage_seed = 0;
  double rate_noise = 0;  // of each rate that it reports: lognormal, standard deviation of the logarithm
  double boast = 1;       // times as fast as it is, it says
  bool own = true;        // one of the project's; false: a stranger
  int cores = 0;          // as it enrolled; 0: its slots
  double watts = 0;       // that a slot draws while it computes; 0: nobody knows
};

}  // namespace gleaner::simulator
