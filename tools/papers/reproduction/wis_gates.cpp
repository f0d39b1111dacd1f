#include "tools/papers/reproduction/wis_gates.h"

#include <fmt/format.h>

#include <cmath>

#include "tools/papers/reproduction/wis_published.h"

namespace gleaner::simulator {
namespace {

namespace published = wis_published;
constexpr std::size_t fixed = 0, rts = 1, mis = 2, wis = 3;

double mean(const std::array<double, 4>& scenes) {
  return (scenes[0] + scenes[1] + scenes[2] + scenes[3]) / 4;
}

// Means of equal counts, but for rounding.
bool same(double mean, double count) {
  return std::abs(mean - count) < 1e-9;
}

// Increasing in the number of machines and within a quarter of Table 3.
Gate counts_fit(const WisExperiment& experiment, std::size_t strategy) {
  Gate gate;
  double before = 0, worst = 0;
  for (std::size_t m = 0; m < 5; ++m) {
    const double ours = mean(experiment.requests[strategy][m]);
    const double off = ours / published::requests[strategy][m] - 1;
    gate.holds = gate.holds && ours > before && std::abs(off) <= 0.25;
    if (std::abs(off) > std::abs(worst)) worst = off;
    before = ours;
  }
  gate.what = fmt::format("{} counts rise with the machines, worst {:+.0f} % of 25",
                          published::strategies[strategy], 100 * worst);
  return gate;
}

}  // namespace

double mean_ratio(const WisExperiment& experiment, std::size_t over, std::size_t under) {
  double sum = 0;
  for (std::size_t m = 0; m < 5; ++m) {
    for (std::size_t s = 0; s < 4; ++s)
      sum += experiment.speedup[over][m][s] / experiment.speedup[under][m][s];
  }
  return sum / 20;
}

double mean_log_error(const WisExperiment& experiment) {
  double error = 0;
  for (std::size_t strategy = 0; strategy < 4; ++strategy) {
    for (std::size_t m = 0; m < 5; ++m) {
      for (std::size_t s = 0; s < 4; ++s) {
        error +=
            std::abs(std::log(experiment.speedup[strategy][m][s] / published::speedup[strategy][m][s])) / 80;
      }
    }
  }
  return error;
}

Gate gate_a1(const WisExperiment& experiment) {
  Gate gate{true, "RTS 640 and static one request a machine, exactly"};
  for (std::size_t m = 0; m < 5; ++m) {
    for (std::size_t s = 0; s < 4; ++s) {
      gate.holds = gate.holds && same(experiment.requests[rts][m][s], 640) &&
                   same(experiment.requests[fixed][m][s], published::machines[m]);
    }
  }
  return gate;
}

Gate gate_a2(const WisExperiment& experiment) {
  return counts_fit(experiment, wis);
}

Gate gate_a3(const WisExperiment& experiment) {
  Gate gate = counts_fit(experiment, mis);
  bool fewer = true;
  for (std::size_t m = 0; m < 5; ++m) {
    fewer = fewer && mean(experiment.requests[wis][m]) <= mean(experiment.requests[mis][m]);
  }
  gate.holds = gate.holds && fewer;
  gate.what += fewer ? "; WIS asks no more than MIS anywhere" : "; WIS asks more than MIS somewhere";
  return gate;
}

Gate gate_a4(const WisExperiment& experiment) {
  const double error = mean_log_error(experiment);
  int ordered = 0;
  bool rising = true;
  for (std::size_t m = 0; m < 5; ++m) {
    for (std::size_t s = 0; s < 4; ++s) {
      for (std::size_t strategy = 0; strategy < 4; ++strategy) {
        const double ours = experiment.speedup[strategy][m][s];
        if (m > 0 && strategy != fixed) rising = rising && ours >= experiment.speedup[strategy][m - 1][s];
      }
      ordered += experiment.speedup[fixed][m][s] < experiment.speedup[rts][m][s] &&
                         experiment.speedup[rts][m][s] < experiment.speedup[mis][m][s]
                     ? 1
                     : 0;
    }
  }
  const double gain = mean_ratio(experiment, mis, rts);
  return {
      ordered == 20 && error <= 0.10 && rising && gain >= 1.2 && gain <= 1.5,
      fmt::format(
          "static < RTS < MIS in {} of 20 cells, mean |log error| {:.3f} of 0.10, speed-ups {}, MIS over RTS "
          "{:.2f} (1.2 to 1.5)",
          ordered, error, rising ? "rise with the machines" : "do not always rise with the machines", gain)};
}

Gate gate_a5(const WisExperiment& experiment) {
  bool less = true;
  for (std::size_t m = 0; m < 5; ++m) {
    less = less && mean(experiment.idle[rts][m]) > mean(experiment.idle[mis][m]);
  }
  const double wis_idle = mean(experiment.idle[wis][4]), mis_idle = mean(experiment.idle[mis][4]);
  return {less && wis_idle <= mis_idle,
          fmt::format("RTS idles more than MIS {}; with 20 machines WIS {:.1f} s, MIS {:.1f} s",
                      less ? "everywhere" : "not everywhere", wis_idle, mis_idle)};
}

}  // namespace gleaner::simulator
