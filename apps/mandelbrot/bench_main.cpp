// Iterations a second of processor time, for tools/bench: "LEVEL RATE" a line; "baseline" is the scalar loop.
// The region has points of all kinds.
#include <cstdio>
#include <ctime>
#include <string>

#include "apps/mandelbrot/mandelbrot.h"

namespace {

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

int main() {
  using namespace gleaner;
  using namespace gleaner::mandelbrot;
  Settings settings;
  settings.width = settings.height = 400;
  kit::ItemContext quiet;
  for (const kit::CpuLevel level : kit::cpu_levels()) {
    double best = 0;
    for (int run = 0; run < 5; ++run) {
      const double before = processor_seconds();
      double iterations = 0;
      for (std::int64_t row = 0; row < settings.height; row += 2) {
        for (const Escape& escape : decode_row(compute_row(settings, row, quiet, level)))
          iterations += escape.count;
      }
      best = std::max(best, iterations / (processor_seconds() - before));
    }
    std::printf("%s %.0f\n", std::string(kit::name_of(level)).c_str(), best);
  }
}
