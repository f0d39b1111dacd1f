// Photons a second of processor time, for tools/bench: "TISSUE reference RATE", then "TISSUE LEVEL RATE" a
// line. The reference is a plain scalar loop in the steps of MCML (reference.h), with the same grids.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>

#include "apps/photons/outcome.h"
#include "apps/photons/reference.h"

namespace {

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <typename Run>
void measure(const char* tissue, const char* what, std::int64_t photons, const Run& run) {
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const double before = processor_seconds();
    run();
    best = std::max(best, static_cast<double>(photons) / (processor_seconds() - before));
  }
  std::printf("%s %s %.0f\n", tissue, what, best);
}

}  // namespace

int main() {
  using namespace gleaner;
  using namespace gleaner::photons;
  for (const auto& [tissue, photons] :
       {std::pair{"slab", 200'000}, {"half-space", 100'000}, {"head", 4'000}}) {
    Settings settings;
    settings.tissue = *parse_tissue(bundled_tissue(tissue));
    settings.photons = settings.item_photons = photons;
    settings.depth_step = settings.radial_step = std::string(tissue) == "head" ? 0.03 : 0.0002;
    measure(tissue, "reference", photons, [&] { static_cast<void>(reference_walk(settings, photons, 1)); });
    for (const kit::CpuLevel level : kit::cpu_levels()) {
      kit::ItemContext quiet;
      measure(tissue, std::string(kit::name_of(level)).c_str(), photons,
              [&] { static_cast<void>(compute_item(settings, 0, quiet, level)); });
    }
  }
}
