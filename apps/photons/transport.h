// The walk of photon packets through a medium, many packets at once: what the variants (transport_*.cpp)
// take and give. Plain data, because each variant is compiled for another processor. Lengths in cm. A weight
// is counted in units of 2^-40, a path in units of 2^-20 cm: sums of integers do not depend on their order.
#pragma once

#include <cstdint>

namespace gleaner::photons {

inline constexpr int angles_max = 90;
inline constexpr int medium_layers_max = 16;
inline constexpr double weight_unit = 0x1p-40;
inline constexpr double path_unit = 0x1p-20;
// A packet lighter than this goes on with ten times its weight once in ten times, and is gone otherwise.
inline constexpr double roulette_weight = 1e-4;
inline constexpr double roulette_chance = 0.1;
inline constexpr double roulette_gain = 10;
// A packet that is still there after so many events is given up, and its weight counted as lost.
inline constexpr std::int64_t events_max = 1 << 20;

struct MediumLayer {
  double index = 1;
  double attenuation = 0;  // absorption + scattering, 1/cm
  double free_path = 0;    // its inverse; very long in a clear layer
  double absorbed = 0;     // part of the weight that an event takes
  double top = 0, bottom = 0;
  // Henyey and Greenstein 1941: cos = (d - (a / (b + c u))^2) e, and 2 u - 1 instead if isotropic is 1.
  double a = 1, b = 1, c = 0, d = 1, e = 0, isotropic = 1;
};

enum class Source { pencil, disc, gaussian };

struct Model {
  int layers = 0;
  MediumLayer layer[medium_layers_max];
  double index_above = 1, index_below = 1;
  double specular = 0;  // reflected where the light enters
  Source source = Source::pencil;
  double source_radius = 0;
  std::uint32_t key[2] = {0, 0};
  // Cells of r and z; what is beyond goes into one more cell. Cells of the angle to the normal have equal
  // width; `cosines` are where they end, the last at 0.
  int radial_cells = 1, depth_cells = 1, angle_cells = 1;
  double radial_inverse = 1, depth_inverse = 1;  // cells in a cm
  double cosines[angles_max] = {};
  // A ring on the surface that takes packets within an angle to the normal; low > high: there is none.
  double ring_low = 1, ring_high = 0;
  double ring_cosine = 0;
};

// What a block of photons came to.
struct BlockTally {
  std::int64_t reflected, transmitted, absorbed, lost;
  std::int64_t gained;  // by roulette; negative if it took more than it gave
  std::int64_t events;
};

// A packet that left through the ring.
struct Exit {
  std::int64_t photon;
  double x, y, weight;
};

struct Work {
  const Model* model;
  std::int64_t first, count;  // photons
  // Block of a photon: (photon - origin) / block_photons.
  std::int64_t origin, block_photons;
  BlockTally* blocks;
  std::int64_t* squares;      // sums of squared weights a photon: reflected, transmitted, absorbed
  std::int64_t* layers;       // absorbed in each layer
  std::int64_t* reflected;    // [radial cell][angle cell]
  std::int64_t* transmitted;  // the same
  std::int64_t* absorbed;     // [radial cell][depth cell]
  void* context;
  void (*detected)(void* context, const Exit& exit);
  // Asked now and then with the number of photons begun; false: give up.
  bool (*wanted)(void* context, std::int64_t begun);
};

// The same walks once more, for packets that were detected: where they were.
struct TraceWork {
  const Model* model;
  const Exit* exits;
  std::int64_t count;
  // Weight at the exit, for each event in [cell along the line from source to exit][depth cell]: 2
  // radial_cells of that line, from -radial_cells on. May be null.
  std::int64_t* visits;
  void* context;
  // The path of exits[index] in each layer.
  void (*traced)(void* context, std::int64_t index, const double* paths);
  bool (*wanted)(void* context, std::int64_t begun);
};

// Where photon enters the tissue.
void launch(const Model& model, std::int64_t photon, double* x, double* y);

namespace baseline {
void walk(const Work& work);
void trace(const TraceWork& work);
}  // namespace baseline
namespace avx2 {
void walk(const Work& work);
void trace(const TraceWork& work);
}  // namespace avx2
namespace avx512 {
void walk(const Work& work);
void trace(const TraceWork& work);
}  // namespace avx512

}  // namespace gleaner::photons
