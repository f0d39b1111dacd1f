#include "tools/papers/reproduction/loops_runs.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "shared/base/check.h"
#include "tools/papers/paper.h"

namespace gleaner::simulator {
namespace {

// HPL GFLOP/s and clock of the dual nodes, in the order of the paper's Table 1. HPL is estimated.
constexpr std::array<double, 8> hpl{6.53, 3.96, 4.84, 4.40, 4.40, 1.07, 8.16, 8.16};
constexpr std::array<double, 8> clocks{2.4, 1.8, 2.2, 2.0, 2.0, 0.866, 3.0, 3.0};
// Cycles of one step of a loop that waits for its own floating-point result: the NetBurst chips need 1.75
// times as many as the others. The factor is a guess that gives the static column of
// server/policy/sizing/SIZING.md (2.78 2.76 2.76).
constexpr std::array<double, 8> cycles{14, 8, 8, 8, 8, 8, 14, 14};

constexpr double request_overhead = 0.0005;  // of the ideal time
constexpr int iterations_max = 500;

// Iterations of each row of a square picture: what a row costs.
std::vector<double> mandelbrot_rows(int rows) {
  std::vector<double> costs(static_cast<std::size_t>(rows));
  for (int row = 0; row < rows; ++row) {
    const double imaginary = -1.25 + 2.5 * (row + 0.5) / rows;
    for (int column = 0; column < rows; ++column) {
      const double real = -2 + 2.5 * (column + 0.5) / rows;
      double x = 0, y = 0;
      int done = 0;
      for (; done < iterations_max && x * x + y * y <= 4; ++done) {
        const double next = x * x - y * y + real;
        y = 2 * x * y + imaginary;
        x = next;
      }
      costs[static_cast<std::size_t>(row)] += done;
    }
  }
  return costs;
}

double speed_of(LoopTruth truth, std::size_t node) {
  switch (truth) {
    case LoopTruth::hpl:
      return hpl[node];
    case LoopTruth::clock:
      return clocks[node];
    case LoopTruth::latency:
      return clocks[node] / cycles[node];
  }
  return 0;
}

}  // namespace

const char* name_of(LoopTruth truth) {
  switch (truth) {
    case LoopTruth::hpl:
      return "hpl";
    case LoopTruth::clock:
      return "clock";
    case LoopTruth::latency:
      return "latency";
  }
  return "unknown";
}

std::span<const LoopScheme> loop_schemes() {
  static const std::array<LoopScheme, 5> schemes{
      {{"equal", "static equal", "equal"},
       {"gss", "GSS", "gss"},
       {"alpha-clock", "[6], alpha 0.5 by clock", "alpha-gss,index=clock"},
       {"alpha-hpl", "the paper's, alpha 0.5 by HPL", "alpha-gss"},
       {"wfac", "wfac by HPL (ours)", "wfac"}}};
  return schemes;
}

const LoopScheme* find_loop_scheme(std::string_view name) {
  for (const LoopScheme& scheme : loop_schemes()) {
    if (scheme.name == name) return &scheme;
  }
  CHECK_TRUE(false);
  return nullptr;
}

Result<double> loop_ratio(int rows, LoopTruth truth, const LoopScheme& scheme) {
  PaperInstance instance;
  instance.items = rows;
  instance.costs = mandelbrot_rows(rows);
  double speed = 0;
  for (std::size_t node = 0; node < hpl.size(); ++node) {
    PaperHost host;
    host.speed = speed_of(truth, node);
    host.performance = hpl[node];
    host.clock = clocks[node];
    instance.hosts.push_back(host);
    speed += host.speed;
  }
  const double ideal = std::accumulate(instance.costs.begin(), instance.costs.end(), 0.0) / speed;
  MachineModel model;
  model.latency = request_overhead * ideal;
  instance.model = model;
  instance.strategy = scheme.strategy + ",mode=paper";
  TRY_ASSIGN(const PaperRun run, run_paper(instance));
  CHECK_TRUE(run.complete);
  return run.makespan / ideal;
}

}  // namespace gleaner::simulator
