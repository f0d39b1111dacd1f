#include "apps/photons/transport_lanes.h"

namespace gleaner::photons::baseline {
namespace {

struct Lanes2 {
  using Double = double __attribute__((vector_size(16)));
  using Word = std::uint64_t __attribute__((vector_size(16)));
  using Mask = std::int64_t __attribute__((vector_size(16)));
  static GLEANER_INLINE Double root(Double x) { return Double{__builtin_sqrt(x[0]), __builtin_sqrt(x[1])}; }
  static GLEANER_INLINE Word product(Word a, Word b) {
    return Word{(a[0] & 0xffffffffU) * (b[0] & 0xffffffffU), (a[1] & 0xffffffffU) * (b[1] & 0xffffffffU)};
  }
  static GLEANER_INLINE unsigned bits(Mask mask) {
    return (mask[0] != 0 ? 1U : 0U) | (mask[1] != 0 ? 2U : 0U);
  }
  static GLEANER_INLINE void cells(Double r, Double z, int stride, std::int32_t* out) {
    for (int i = 0; i < 2; ++i)
      out[i] = static_cast<std::int32_t>(r[i]) * stride + static_cast<std::int32_t>(z[i]);
  }
};

}  // namespace

void walk(const Work& work) {
  Walkers<Lanes2, 4, Purpose::tally>(work).run();
}

void trace(const TraceWork& work) {
  Walkers<Lanes2, 4, Purpose::trace>(work).run();
}

}  // namespace gleaner::photons::baseline
