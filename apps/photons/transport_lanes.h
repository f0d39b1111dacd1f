// The loop of the variants; everything is in an unnamed namespace, because each includer is compiled for
// another processor. S says what a vector is: types Double, Word (uint64) and Mask (int64) of equal width,
// and root, product (of the low halves), bits (a bit for each lane that is true), cells (r * stride + z, both
// truncated). Every operation on a lane is the same IEEE operation in every variant, in the same order.
//
// In a round every lane goes to its next event: to the end of its step, where it loses weight and turns, or
// to the border of its layer. All lanes do both; what is not theirs is masked. What is rare (borders,
// roulette, the next photon) is done lane by lane afterwards.
#pragma once

#include <type_traits>

#include "apps/photons/philox.h"
#include "apps/photons/transport.h"

#define GLEANER_INLINE inline __attribute__((always_inline))

namespace gleaner::photons {
namespace {  // NOLINT(google-build-namespaces): see above

constexpr std::int64_t look_rounds = 1024;
constexpr double far_away = 1e300;
constexpr double fixing = 0x1.8p12;  // added to a weight, its last bit counts units of 2^-40

GLEANER_INLINE std::int64_t bits_of(double x) {
  std::int64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

// REQUIRES: |weight| < 2048.
GLEANER_INLINE std::int64_t fixed(double weight) {
  return bits_of(weight + fixing) - bits_of(fixing);
}

GLEANER_INLINE double positive_root(double x) {
  return x > 0 ? __builtin_sqrt(x) : 0;
}

// Fresnel's reflectance of unpolarised light; `cosine` becomes that of the refracted ray.
GLEANER_INLINE double reflectance(double n1, double n2, double& cosine) {
  if (n1 == n2) return 0;
  const double c1 = cosine;
  const double sine = n1 / n2 * positive_root(1 - c1 * c1);
  if (sine >= 1 || c1 < 1e-6) return 1;
  const double c2 = positive_root(1 - sine * sine);
  const double across = (n1 * c1 - n2 * c2) / (n1 * c1 + n2 * c2);
  const double along = (n1 * c2 - n2 * c1) / (n1 * c2 + n2 * c1);
  cosine = c2;
  return 0.5 * (across * across + along * along);
}

// Uniform in (0, 1) from the low halves.
template <class S>
GLEANER_INLINE typename S::Double unit(typename S::Word words) {
  using Double = typename S::Double;
  using Word = typename S::Word;
  const Word bits = (words & 0xffffffffU) | 0x4330000000000000U;  // 2^52 + word
  return (reinterpret_cast<Double>(bits) - 0x1p52 + 0.5) * 0x1p-32;
}

// Cosine and sine of an angle that is uniform over the circle: within the eighths around an axis by Taylor's
// series, then the axis by the top two bits.
template <class S>
GLEANER_INLINE void direction(typename S::Word words, typename S::Double& cosine, typename S::Double& sine) {
  using Double = typename S::Double;
  using Word = typename S::Word;
  constexpr double half_pi = 0x1.921fb54442d18p+0;
  const Word rest = (words & 0x3fffffffU) | 0x4330000000000000U;
  const Double x = ((reinterpret_cast<Double>(rest) - 0x1p52 + 0.5) * 0x1p-30 - 0.5) * half_pi;
  const Double z = x * x;
  Double s = z * (-1.0 / 1307674368000) + 1.0 / 6227020800;
  s = s * z - 1.0 / 39916800;
  s = s * z + 1.0 / 362880;
  s = s * z - 1.0 / 5040;
  s = s * z + 1.0 / 120;
  s = s * z - 1.0 / 6;
  s = s * z * x + x;
  Double c = z * (1.0 / 20922789888000) - 1.0 / 87178291200;
  c = c * z + 1.0 / 479001600;
  c = c * z - 1.0 / 3628800;
  c = c * z + 1.0 / 40320;
  c = c * z - 1.0 / 720;
  c = c * z + 1.0 / 24;
  c = c * z - 0.5;
  c = c * z + 1;
  const auto turned = (words & 0x40000000U) != 0;
  const Word sign = (words & 0x80000000U) << 32;
  const Double first = turned ? -s : c;
  const Double second = turned ? c : s;
  cosine = reinterpret_cast<Double>(reinterpret_cast<Word>(first) ^ sign);
  sine = reinterpret_cast<Double>(reinterpret_cast<Word>(second) ^ sign);
}

enum class Purpose { tally, trace };

template <class S, int vectors, Purpose purpose>
class Walkers {
  using Double = typename S::Double;
  using Word = typename S::Word;
  using Mask = typename S::Mask;
  using AnyWork = std::conditional_t<purpose == Purpose::trace, TraceWork, Work>;
  static constexpr int width = sizeof(Double) / sizeof(double);
  static constexpr int lanes = width * vectors;
  static_assert(lanes <= 32);

 public:
  explicit Walkers(const AnyWork& work) : work_(work), model_(*work.model) {
    std::uint32_t key[2] = {model_.key[0], model_.key[1]};
    for (int round = 0; round < philox_rounds; ++round) {
      for (int i = 0; i < 2; ++i) {
        keys_[round][i] = Word{} + key[i];
        key[i] += philox_increments[i];
      }
    }
    for (int lane = 0; lane < lanes; ++lane) begin(lane);
  }

  void run() {
    for (std::int64_t look = look_rounds; busy_ > 0; --look) {
      unsigned at_border = 0;
      unsigned spent = 0;
      for (int v = 0; v < vectors; ++v) step(v, at_border, spent);
      if constexpr (purpose == Purpose::trace) record(at_border);
      for (unsigned left = spent; left != 0; left &= left - 1) thin_out(__builtin_ctz(left));
      // Of those at their last event, some are gone by now.
      for (unsigned left = at_border & ~spent; left != 0; left &= left - 1) cross(__builtin_ctz(left));
      if (look > 0) continue;
      look = look_rounds;
      if (!work_.wanted(work_.context, next_)) return;
    }
  }

 private:
  // One element of an array of vectors.
  static GLEANER_INLINE double& at(Double* array, int lane) { return reinterpret_cast<double*>(array)[lane]; }
  static GLEANER_INLINE std::uint64_t& at(Word* array, int lane) {
    return reinterpret_cast<std::uint64_t*>(array)[lane];
  }
  static GLEANER_INLINE std::int64_t& at(Mask* array, int lane) {
    return reinterpret_cast<std::int64_t*>(array)[lane];
  }

  GLEANER_INLINE void draw(int v, Word (&words)[4]) const {
    const Word one = Word{} + philox_multipliers[0];
    const Word two = Word{} + philox_multipliers[1];
    Word a = reinterpret_cast<Word>(event_[v]), b = Word{}, c = photon_[v], d = photon_[v] >> 32;
    for (int round = 0; round < philox_rounds; ++round) {
      // What is above the low halves is never looked at.
      const Word first = S::product(one, a);
      const Word second = S::product(two, c);
      a = (second >> 32) ^ b ^ keys_[round][0];
      b = second;
      c = (first >> 32) ^ d ^ keys_[round][1];
      d = first;
    }
    words[0] = a;
    words[1] = b;
    words[2] = c;
    words[3] = d;
  }

  // All lanes of a vector go to their next event.
  GLEANER_INLINE void step(int v, unsigned& at_border, unsigned& spent) {
    Word words[4];
    draw(v, words);
    chance_[v] = unit<S>(words[3]);

    // -log of the first number, and the division of Henyey and Greenstein's formula along with log's.
    const Double u = unit<S>(words[0]);
    const Word bits = reinterpret_cast<Word>(u);
    Double mantissa = reinterpret_cast<Double>((bits & 0xfffffffffffffU) | 0x3ff0000000000000U);
    Double exponent = reinterpret_cast<Double>((bits >> 52) | 0x4330000000000000U) - (0x1p52 + 1023);
    const auto upper = mantissa > 0x1.6a09e667f3bcdp+0;
    mantissa = upper ? mantissa * 0.5 : mantissa;
    exponent = upper ? exponent + 1 : exponent;
    const Double scattering = b_[v] + c_[v] * unit<S>(words[1]);
    const Double inverse = 1 / ((mantissa + 1) * scattering);
    const Double s = (mantissa - 1) * scattering * inverse;  // log m = 2 artanh s
    const Double z2 = s * s;
    Double series = z2 * (2.0 / 17) + 2.0 / 15;
    series = series * z2 + 2.0 / 13;
    series = series * z2 + 2.0 / 11;
    series = series * z2 + 2.0 / 9;
    series = series * z2 + 2.0 / 7;
    series = series * z2 + 2.0 / 5;
    series = series * z2 + 2.0 / 3;
    series = series * z2 + 2;
    constexpr double ln2 = 0x1.62e42fefa39efp-1;
    const Double fresh = -(exponent * ln2 + s * series);

    // To the end of the step, or to the border if that is nearer.
    const Double left = left_[v] > 0 ? left_[v] : fresh;
    const Double wish = left * free_path_[v];
    const Double uz = uz_[v];
    const Double border = uz < 0 ? top_[v] : bottom_[v];
    const Double distance = uz == 0 ? Double{} + far_away : (border - z_[v]) / uz;
    const Mask hits = wish > distance;
    const Double way = hits ? distance : wish;
    const Double x = x_[v] + way * ux_[v];
    const Double y = y_[v] + way * uy_[v];
    const Double z = hits ? border : z_[v] + way * uz;
    left_[v] = hits ? left - way * attenuation_[v] : Double{};
    x_[v] = x;
    y_[v] = y;
    z_[v] = z;
    if constexpr (purpose == Purpose::trace) way_[v] = way;

    // Absorption. A lane at the border adds nothing.
    const Double taken = hits ? Double{} : weight_[v] * taken_[v];
    weight_[v] -= taken;
    if constexpr (purpose == Purpose::tally) {
      const Double held = taken + fixing;
      const Word units = reinterpret_cast<Word>(held) - static_cast<std::uint64_t>(bits_of(fixing));
      absorbed_[v] += units;
      const Double radial = S::root(x * x + y * y) * model_.radial_inverse;
      const Double depth = z * model_.depth_inverse;
      const double radial_end = model_.radial_cells;
      const double depth_end = model_.depth_cells;
      std::int32_t cells[width];
      S::cells(radial < radial_end ? radial : Double{} + radial_end,
               depth < depth_end ? depth : Double{} + depth_end, model_.depth_cells + 1, cells);
      for (int i = 0; i < width; ++i) work_.absorbed[cells[i]] += static_cast<std::int64_t>(units[i]);
    }

    // The new direction.
    const Double t = a_[v] * (mantissa + 1) * inverse;
    const Double u1 = unit<S>(words[1]);
    const Double cosine = (d_[v] - t * t) * e_[v] + isotropic_[v] * (2 * u1 - 1);
    Double cos_psi, sin_psi;
    direction<S>(words[2], cos_psi, sin_psi);
    const Double ux = ux_[v];
    const Double uy = uy_[v];
    const Double flat = 1 - uz * uz;
    const Mask upright = flat < 2e-12;
    Double bend = 1 - cosine * cosine;
    bend = bend > 0 ? bend : Double{};
    const Double k = S::root(bend / (upright ? Double{} + 1 : flat));
    const Double new_x = upright ? k * cos_psi : k * (ux * uz * cos_psi - uy * sin_psi) + ux * cosine;
    const Double new_y = upright ? k * sin_psi : k * (uy * uz * cos_psi + ux * sin_psi) + uy * cosine;
    const Double new_z = upright ? (uz < 0 ? -cosine : cosine) : uz * cosine - k * flat * cos_psi;
    ux_[v] = hits ? ux : new_x;
    uy_[v] = hits ? uy : new_y;
    uz_[v] = hits ? uz : new_z;

    at_border |= S::bits(hits) << (v * width);
    const Mask light = weight_[v] < light_[v];
    spent |= (S::bits((light & ~hits) | (event_[v] >= events_max))) << (v * width);
    event_[v] += 1;
  }

  void thin_out(int lane) {
    const double weight = at(weight_, lane);
    if (at(event_, lane) > events_max) {
      if constexpr (purpose == Purpose::tally) block(lane).lost += fixed(weight);
    } else if (weight > 0 && at(chance_, lane) < roulette_chance) {
      const double more = weight * roulette_gain;
      if constexpr (purpose == Purpose::tally) block(lane).gained += fixed(more) - fixed(weight);
      at(weight_, lane) = more;
      return;
    } else {
      if constexpr (purpose == Purpose::tally) block(lane).gained -= fixed(weight);
    }
    finish(lane);
  }

  void cross(int lane) {
    const bool up = at(uz_, lane) < 0;
    const int from = layer_[lane];
    const int to = up ? from - 1 : from + 1;
    const double n1 = model_.layer[from].index;
    const double n2 = to < 0               ? model_.index_above
                      : to < model_.layers ? model_.layer[to].index
                                           : model_.index_below;
    double cosine = up ? -at(uz_, lane) : at(uz_, lane);
    if (at(chance_, lane) < reflectance(n1, n2, cosine)) {
      at(uz_, lane) = -at(uz_, lane);
      return;
    }
    if (to < 0 || to == model_.layers) {
      leave(lane, up, cosine);
      return;
    }
    if (n1 != n2) {
      at(ux_, lane) *= n1 / n2;
      at(uy_, lane) *= n1 / n2;
      at(uz_, lane) = up ? -cosine : cosine;
    }
    flush(lane);
    enter(lane, to);
  }

  void leave(int lane, bool up, double cosine) {
    if constexpr (purpose == Purpose::tally) {
      const double x = at(x_, lane);
      const double y = at(y_, lane);
      const double weight = at(weight_, lane);
      const double radius = __builtin_sqrt(x * x + y * y);
      const double radial = radius * model_.radial_inverse;
      const int cell = radial < model_.radial_cells ? static_cast<int>(radial) : model_.radial_cells;
      int angle = 0;
      while (angle + 1 < model_.angle_cells && cosine < model_.cosines[angle]) ++angle;
      const std::int64_t units = fixed(weight);
      (up ? work_.reflected : work_.transmitted)[cell * model_.angle_cells + angle] += units;
      (up ? block(lane).reflected : block(lane).transmitted) += units;
      work_.squares[up ? 0 : 1] += fixed(weight * weight);
      if (up && radius >= model_.ring_low && radius <= model_.ring_high && cosine >= model_.ring_cosine)
        work_.detected(work_.context, {static_cast<std::int64_t>(at(photon_, lane)), x, y, weight});
    } else {
      work_.traced(work_.context, index_[lane], paths_[lane]);
    }
    finish(lane);
  }

  // What the lane's packet lost in its layer since it came there.
  void flush(int lane) {
    if constexpr (purpose == Purpose::tally) {
      const auto units = static_cast<std::int64_t>(at(absorbed_, lane));
      work_.layers[layer_[lane]] += units;
      total_[lane] += units;
      at(absorbed_, lane) = 0;
    }
  }

  void finish(int lane) {
    if constexpr (purpose == Purpose::tally) {
      flush(lane);
      const double absorbed = static_cast<double>(total_[lane]) * weight_unit;
      work_.squares[2] += fixed(absorbed * absorbed);
      BlockTally& tally = block(lane);
      tally.absorbed += total_[lane];
      tally.events += at(event_, lane) - 1;
    }
    --busy_;
    begin(lane);
  }

  BlockTally& block(int lane) {
    return work_.blocks[(static_cast<std::int64_t>(at(photon_, lane)) - work_.origin) / work_.block_photons];
  }

  // The next photon; or nothing: a lane that stays where it is and never ends.
  void begin(int lane) {
    const bool there = next_ < work_.count;
    busy_ += there ? 1 : 0;
    std::int64_t photon = 0;
    if constexpr (purpose == Purpose::tally) {
      photon = work_.first + next_;
      total_[lane] = 0;
      at(absorbed_, lane) = 0;
    } else {
      photon = there ? work_.exits[next_].photon : 0;
      for (double& path : paths_[lane]) path = 0;
      index_[lane] = there ? next_ : -1;
    }
    next_ += there ? 1 : 0;
    at(photon_, lane) = static_cast<std::uint64_t>(photon);
    double x = 0, y = 0;
    if (there) launch(model_, photon, &x, &y);
    at(x_, lane) = x;
    at(y_, lane) = y;
    at(z_, lane) = 0;
    at(ux_, lane) = 0;
    at(uy_, lane) = 0;
    at(uz_, lane) = 1;
    at(left_, lane) = 0;
    at(weight_, lane) = there ? 1 - model_.specular : 0;
    at(event_, lane) = there ? 1 : INT64_MIN / 2;
    at(light_, lane) = there ? roulette_weight : -1;
    enter(lane, 0);
    if (there) return;
    at(free_path_, lane) = 0;
    at(top_, lane) = -far_away;
    at(bottom_, lane) = far_away;
  }

  void enter(int lane, int to) {
    const MediumLayer& layer = model_.layer[to];
    layer_[lane] = to;
    at(attenuation_, lane) = layer.attenuation;
    at(free_path_, lane) = layer.free_path;
    at(taken_, lane) = layer.absorbed;
    at(top_, lane) = layer.top;
    at(bottom_, lane) = layer.bottom;
    at(a_, lane) = layer.a;
    at(b_, lane) = layer.b;
    at(c_, lane) = layer.c;
    at(d_, lane) = layer.d;
    at(e_, lane) = layer.e;
    at(isotropic_, lane) = layer.isotropic;
  }

  // Where the lanes' packets are, after a round.
  void record(unsigned at_border) {
    for (int lane = 0; lane < lanes; ++lane) {
      if (index_[lane] < 0) continue;
      paths_[lane][layer_[lane]] += at(way_, lane);
      if (!work_.visits || (at_border >> lane & 1) != 0) continue;
      const Exit& exit = work_.exits[index_[lane]];
      const double radius = __builtin_sqrt(exit.x * exit.x + exit.y * exit.y);
      const double along =
          radius > 0 ? (at(x_, lane) * exit.x + at(y_, lane) * exit.y) / radius : at(x_, lane);
      const double column = along * model_.radial_inverse + model_.radial_cells;
      const double depth = at(z_, lane) * model_.depth_inverse;
      if (column < 0 || column >= 2 * model_.radial_cells || depth >= model_.depth_cells) continue;
      work_.visits[static_cast<int>(column) * model_.depth_cells + static_cast<int>(depth)] +=
          fixed(exit.weight);
    }
  }

  const AnyWork& work_;
  const Model& model_;
  Word keys_[philox_rounds][2];
  Double x_[vectors], y_[vectors], z_[vectors], ux_[vectors], uy_[vectors], uz_[vectors];
  Double left_[vectors];  // of the step, in mean free paths; 0: a new one begins
  Double weight_[vectors], light_[vectors], chance_[vectors], way_[vectors];
  Double attenuation_[vectors], free_path_[vectors], taken_[vectors], top_[vectors], bottom_[vectors];
  Double a_[vectors], b_[vectors], c_[vectors], d_[vectors], e_[vectors], isotropic_[vectors];
  Word photon_[vectors];
  Mask event_[vectors];
  Word absorbed_[vectors];
  std::int64_t total_[lanes];
  int layer_[lanes];
  std::int64_t index_[purpose == Purpose::trace ? lanes : 1];
  double paths_[purpose == Purpose::trace ? lanes : 1][medium_layers_max];
  std::int64_t next_ = 0;
  int busy_ = 0;
};

}  // namespace
}  // namespace gleaner::photons
