#include "apps/mandelbrot/deep.h"

#include <algorithm>

#include "apps/kit/packing.h"
#include "apps/mandelbrot/lanes.h"
#include "shared/base/check.h"

namespace gleaner::mandelbrot {
namespace {

constexpr double double_difference_min = 0x1p-480;  // its square keeps all bits
constexpr std::int64_t exponent_max = std::int64_t{1} << 20;

// One point on its way.
class Difference {
 public:
  Difference(const ReferenceOrbit& orbit, const Extended& offset, std::int64_t iterations)
      : orbit_(orbit),
        last_(static_cast<std::int64_t>(orbit.points.size()) - 1),
        iterations_(iterations),
        offset_(offset),
        offset_re_(real_of(offset)),
        offset_im_(imaginary_of(offset)) {}

  // A point at its beginning has the count 0.
  void restore(const DeepState& state) {
    difference_ = normalised({state.re, state.im, 0});
    at_ = state.at;
    count_ = state.count;
  }
  // Updates that stay within |z|^2 <= 4.
  std::int64_t run() {
    while (run_extended()) run_doubles();
    return count_;
  }
  // Until doubles suffice; false if it has ended.
  bool run_extended() {
    while (extended_ && count_ < iterations_ && !escaped_) step_extended();
    return count_ < iterations_ && !escaped_;
  }
  [[nodiscard]] DeepState state() const {
    return {real_of(difference_), imaginary_of(difference_), at_, count_};
  }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] double re() const { return re_; }
  [[nodiscard]] double im() const { return im_; }

 private:
  void run_doubles() {
    double re = real_of(difference_), im = imaginary_of(difference_);
    std::int64_t at = at_;
    while (count_ < iterations_) {
      const ReferenceOrbit::Point& reference = orbit_.points[static_cast<std::size_t>(at)];
      const double sum_re = 2 * reference.re + re, sum_im = 2 * reference.im + im;
      const double next_re = sum_re * re - sum_im * im + offset_re_;
      im = sum_re * im + sum_im * re + offset_im_;
      re = next_re;
      ++at;
      const ReferenceOrbit::Point& next = orbit_.points[static_cast<std::size_t>(at)];
      re_ = next.re + re;
      im_ = next.im + im;
      const double square = re_ * re_ + im_ * im_;
      if (square > 4) {
        escaped_ = true;
        return;
      }
      ++count_;
      if (square < re * re + im * im || at == last_) {
        re = re_;
        im = im_;
        at = 0;
      }
      if (std::abs(re) < double_difference_min && std::abs(im) < double_difference_min) break;
    }
    difference_ = normalised({re, im, 0});
    at_ = at;
    extended_ = true;
  }

  [[nodiscard]] Extended reference_at(std::int64_t at) const {
    const auto found = orbit_.tiny.find(at);
    if (found != orbit_.tiny.end()) return found->second;
    const ReferenceOrbit::Point& point = orbit_.points[static_cast<std::size_t>(at)];
    return normalised({point.re, point.im, 0});
  }

  void step_extended() {
    difference_ = (twice(reference_at(at_)) + difference_) * difference_ + offset_;
    ++at_;
    const Extended z = reference_at(at_) + difference_;
    re_ = z.exponent > 2 ? 4 : real_of(z);
    im_ = z.exponent > 2 ? 4 : imaginary_of(z);
    if (re_ * re_ + im_ * im_ > 4) {
      escaped_ = true;
      return;
    }
    ++count_;
    if (smaller(z, difference_) || at_ == last_) {
      difference_ = z;
      at_ = 0;
    }
    extended_ = difference_.exponent < -480;
  }

  const ReferenceOrbit& orbit_;
  const std::int64_t last_;
  const std::int64_t iterations_;
  const Extended offset_;
  const double offset_re_, offset_im_;
  Extended difference_ = normalised({});
  std::int64_t at_ = 0;
  std::int64_t count_ = 0;
  bool extended_ = true;
  bool escaped_ = false;
  double re_ = 0, im_ = 0;
};

Extended offset_of(const Settings& settings, const ReferenceOrbit& orbit, std::int64_t column,
                   std::int64_t row) {
  Extended offset = orbit.half_step;
  offset.im = offset.re * static_cast<double>(settings.height - 2 * row - 1);
  offset.re *= static_cast<double>(2 * column + 1 - settings.width);
  return normalised(offset);
}

Escape ended(const ReferenceOrbit& orbit, const Extended& offset, std::int64_t iterations, std::int64_t count,
             double re, double im) {
  const auto updates = static_cast<std::uint32_t>(count);
  if (count == iterations) return {updates, 0};
  // What follows the escape is smooth: doubles are good enough for the point.
  const ReferenceOrbit::Point& centre = orbit.points[1];
  return {updates, smooth_fraction(centre.re + real_of(offset), centre.im + imaginary_of(offset), re, im)};
}

// The points of a row, which end in any order.
class DeepRow {
 public:
  DeepRow(const Settings& settings, const ReferenceOrbit& orbit, std::int64_t row, kit::ItemContext& context)
      : settings_(settings),
        orbit_(orbit),
        context_(context),
        escapes_(static_cast<std::size_t>(settings.width)) {
    for (std::int64_t column = 0; column < settings.width; ++column) {
      offsets_.push_back(offset_of(settings, orbit, column, row));
      offset_re_.push_back(real_of(offsets_.back()));
      offset_im_.push_back(imaginary_of(offsets_.back()));
    }
  }
  [[nodiscard]] DeepWork work() {
    return {&orbit_.points[0].re,
            static_cast<std::int64_t>(orbit_.points.size()) - 1,
            settings_.width,
            offset_re_.data(),
            offset_im_.data(),
            settings_.iterations,
            double_difference_min,
            this,
            prepare,
            done,
            wanted};
  }
  [[nodiscard]] Bytes bytes() const {
    Bytes bytes;
    bytes.reserve(static_cast<std::size_t>(settings_.width * pixel_bytes));
    for (const Escape& escape : escapes_) append_pixel(bytes, escape);
    return bytes;
  }
  // All of a point, as doubles and not.
  void run(std::int64_t column) {
    Difference point(orbit_, offsets_[static_cast<std::size_t>(column)], settings_.iterations);
    const std::int64_t count = point.run();
    done(this, column, count, point.re(), point.im());
  }

 private:
  static bool prepare(void* pointer, std::int64_t column, DeepState* state) {
    auto& self = *static_cast<DeepRow*>(pointer);
    Difference point(self.orbit_, self.offsets_[static_cast<std::size_t>(column)], self.settings_.iterations);
    if (state->count > 0) point.restore(*state);
    if (point.run_extended()) {
      *state = point.state();
      return true;
    }
    done(pointer, column, point.count(), point.re(), point.im());
    return false;
  }
  static void done(void* pointer, std::int64_t column, std::int64_t count, double re, double im) {
    auto& self = *static_cast<DeepRow*>(pointer);
    const auto index = static_cast<std::size_t>(column);
    self.escapes_[index] = ended(self.orbit_, self.offsets_[index], self.settings_.iterations, count, re, im);
  }
  static bool wanted(void* pointer, std::int64_t column) {
    const auto& self = *static_cast<DeepRow*>(pointer);
    self.context_.progress(static_cast<double>(column) / static_cast<double>(self.settings_.width));
    return !self.context_.abandoned();
  }

  const Settings& settings_;
  const ReferenceOrbit& orbit_;
  kit::ItemContext& context_;
  std::vector<Extended> offsets_;
  std::vector<double> offset_re_, offset_im_;
  std::vector<Escape> escapes_;
};

// Point by point.
void escape_deep_row(const DeepWork& work) {
  for (std::int64_t column = 0; column < work.columns; ++column) {
    if (!work.wanted(work.context, column)) return;
    static_cast<DeepRow*>(work.context)->run(column);
  }
}

void (*deep_variant(kit::CpuLevel level))(const DeepWork&) {
#if defined(__x86_64__)
  if (level == kit::CpuLevel::avx512) return avx512::escape_deep_row;
  if (level == kit::CpuLevel::avx2) return avx2::escape_deep_row;
#endif
  CHECK_TRUE(level == kit::CpuLevel::baseline);
  return escape_deep_row;
}

}  // namespace

Bytes encode(const ReferenceOrbit& orbit) {
  Bytes bytes;
  bytes.reserve(16 * orbit.points.size() + 32 * orbit.tiny.size() + 32);
  const auto number = [&](double value) { kit::pack(bytes, std::bit_cast<std::uint64_t>(value)); };
  const auto extended = [&](const Extended& value) {
    number(value.re);
    number(value.im);
    kit::pack(bytes, value.exponent);
  };
  extended(orbit.half_step);
  kit::pack(bytes, static_cast<std::uint32_t>(orbit.points.size()));
  kit::pack(bytes, static_cast<std::uint32_t>(orbit.tiny.size()));
  for (const ReferenceOrbit::Point& point : orbit.points) {
    number(point.re);
    number(point.im);
  }
  for (const auto& [index, value] : orbit.tiny) {
    kit::pack(bytes, index);
    extended(value);
  }
  return bytes;
}

Result<ReferenceOrbit> decode_reference(std::string_view bytes) {
  const Error damaged{ErrorKind::invalid, "the reference orbit is damaged"};
  kit::Unpacker unpacker(bytes);
  bool good = true;
  const auto number = [&](double bound) {
    const double value = std::bit_cast<double>(unpacker.get<std::uint64_t>());
    good = good && std::abs(value) <= bound;
    return value;
  };
  const auto extended = [&] {
    Extended value;
    value.re = number(4);
    value.im = number(4);
    value.exponent = unpacker.get<std::int64_t>();
    good = good && value.exponent >= -exponent_max && value.exponent <= exponent_max;
    return good ? normalised(value) : Extended{};
  };
  ReferenceOrbit orbit;
  orbit.half_step = extended();
  good = good && orbit.half_step.exponent <= 10;
  const std::size_t points = unpacker.get<std::uint32_t>();
  const std::size_t tiny = unpacker.get<std::uint32_t>();
  if (!good || points < 2 || tiny > static_cast<std::size_t>(tiny_points_max) ||
      unpacker.left() != 16 * points + 32 * tiny)
    return damaged;
  orbit.points.resize(points);
  for (ReferenceOrbit::Point& point : orbit.points) point = {number(1e9), number(1e9)};
  for (std::size_t i = 0; i < tiny; ++i) {
    const auto index = unpacker.get<std::int64_t>();
    const Extended value = extended();
    good = good && value.exponent <= 0;
    orbit.tiny[index] = value;
  }
  if (!good || !unpacker.complete()) return damaged;
  return orbit;
}

Escape deep_escape(const Settings& settings, const ReferenceOrbit& orbit, std::int64_t column,
                   std::int64_t row, std::int64_t iterations) {
  const Extended offset = offset_of(settings, orbit, column, row);
  Difference point(orbit, offset, iterations);
  const std::int64_t count = point.run();
  return ended(orbit, offset, iterations, count, point.re(), point.im());
}

Bytes compute_deep_row(const Settings& settings, const ReferenceOrbit& orbit, std::int64_t row,
                       kit::ItemContext& context, kit::CpuLevel level) {
  DeepRow points(settings, orbit, row, context);
  deep_variant(level)(points.work());
  if (context.abandoned()) return {};
  return points.bytes();
}

}  // namespace gleaner::mandelbrot
