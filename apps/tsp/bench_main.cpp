// Tours a second of processor time, for tools/bench: "simple RATE", then "LEVEL RATE" a line. "simple" is
// what one would write in C: a recursion that swaps, carries the length along, and keeps the best.
#include <cstdio>
#include <ctime>
#include <string>
#include <utility>

#include "apps/tsp/exhaustive.h"
#include "apps/tsp/tsplib.h"

namespace {

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

constexpr int cities = 13;
int distance[cities][cities];
int path[cities];
long long tours;
unsigned long long sum;
int best;
int best_path[cities];

void simple(int at, int length) {
  if (at == cities - 1) {
    const int last = path[at];
    const int total = length + distance[path[at - 1]][last] + distance[last][0];
    ++tours;
    sum += static_cast<unsigned>(total);
    if (total < best) {
      best = total;
      for (int i = 0; i < cities; ++i) best_path[i] = path[i];
    }
    return;
  }
  for (int i = at; i < cities; ++i) {
    std::swap(path[at], path[i]);
    simple(at + 1, length + distance[path[at - 1]][path[at]]);
    std::swap(path[at], path[i]);
  }
}

}  // namespace

int main() {
  using namespace gleaner;
  using namespace gleaner::tsp;
  const Matrix matrix = random_instance(cities, 3).matrix;
  for (int i = 0; i < cities; ++i) {
    for (int j = 0; j < cities; ++j) distance[i][j] = matrix.at(i, j);
    path[i] = i;
  }
  best = 1 << 30;
  // All tours that begin with cities 0 and 1.
  double before = processor_seconds();
  simple(2, distance[0][1]);
  std::printf("simple %.0f\n", static_cast<double>(tours) / (processor_seconds() - before));
  for (const kit::CpuLevel level : kit::cpu_levels()) {
    kit::ItemContext quiet;
    double rate = 0;
    for (int run = 0; run < 5; ++run) {
      before = processor_seconds();
      const Outcome outcome = visit_all(matrix, prefix_of(matrix, 1, 0), false, level, quiet);
      rate = std::max(rate, static_cast<double>(outcome.visited) / (processor_seconds() - before));
      if (outcome.length != best || outcome.sum != sum ||
          outcome.visited != static_cast<std::uint64_t>(tours))
        return 1;
    }
    std::printf("%s %.0f\n", std::string(kit::name_of(level)).c_str(), rate);
  }
}
