// The loop of the variants of deep views; everything is in an unnamed namespace, because each includer is
// compiled for another processor. S: types Double and Mask, bits (a bit for each lane that is true), gather.
// The operations and their order are those of Difference::run_doubles(): the same bits.
#pragma once

#include "apps/mandelbrot/lanes.h"

namespace gleaner::mandelbrot {
namespace {  // NOLINT(google-build-namespaces): see above

template <class S, int vectors>
class DeepLanes {
  using Double = typename S::Double;
  using Mask = typename S::Mask;
  static constexpr int width = sizeof(Double) / sizeof(double);
  static constexpr int lanes = width * vectors;
  static_assert(lanes <= 32);
  static constexpr std::int64_t never = INT64_MAX;
  static constexpr std::int64_t look_rounds = 4096;

 public:
  explicit DeepLanes(const DeepWork& work) : work_(work) {
    for (int lane = 0; lane < lanes; ++lane) begin(lane);
  }

  void run() {
    while (busy_ > 0) {
      unsigned escaped = 0, small = 0;
      advance(escaped, small);
      for (unsigned left = escaped; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        if (column_[lane] >= 0) finish(lane, round_ - start_[lane] - 1);
      }
      if (round_ >= deadline_) {
        for (int lane = 0; lane < lanes; ++lane) {
          // One that escaped in this round has begun another point, whose time is not up.
          if (column_[lane] >= 0 && round_ - start_[lane] >= work_.iterations) {
            small &= ~(1U << lane);
            finish(lane, work_.iterations);
          }
        }
        find_deadline();
      }
      for (unsigned left = small & ~escaped; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        if (column_[lane] >= 0) prepare(lane);
      }
      if (round_ < look_) continue;
      look_ = round_ + look_rounds;
      if (!work_.wanted(work_.context, next_)) return;
    }
  }

 private:
  static double& at(Double* array, int lane) { return reinterpret_cast<double*>(array)[lane]; }
  static std::int64_t& at(Mask* array, int lane) { return reinterpret_cast<std::int64_t*>(array)[lane]; }

  // Updates all lanes until one has escaped or become small, or the deadline or the next look is there.
  void advance(unsigned& escaped, unsigned& small) {
    const std::int64_t end = deadline_ < look_ ? deadline_ : look_;
    const double smallest = work_.smallest;
    do {
      for (int v = 0; v < vectors; ++v) {
        const Double re = re_[v], im = im_[v];
        const Double sum_re = 2 * z_re_[v] + re, sum_im = 2 * z_im_[v] + im;
        const Double next_re = sum_re * re - sum_im * im + offset_re_[v];
        const Double next_im = sum_re * im + sum_im * re + offset_im_[v];
        const Mask next = at_[v] + 1;
        const Double orbit_re = S::gather(work_.points, 2 * next);
        const Double orbit_im = S::gather(work_.points + 1, 2 * next);
        const Double point_re = orbit_re + next_re, point_im = orbit_im + next_im;
        const Double square = point_re * point_re + point_im * point_im;
        escaped |= S::bits(square > 4) << (v * width);
        const Mask rebase = (square < next_re * next_re + next_im * next_im) | (next == work_.last);
        const Double new_re = rebase ? point_re : next_re;
        const Double new_im = rebase ? point_im : next_im;
        const Mask tiny =
            (new_re < smallest) & (new_re > -smallest) & (new_im < smallest) & (new_im > -smallest);
        small |= S::bits(tiny) << (v * width);
        re_[v] = new_re;
        im_[v] = new_im;
        at_[v] = rebase ? Mask{} : next;
        z_re_[v] = rebase ? Double{} : orbit_re;
        z_im_[v] = rebase ? Double{} : orbit_im;
        point_re_[v] = point_re;
        point_im_[v] = point_im;
      }
      ++round_;
    } while ((escaped | small) == 0 && round_ < end);
  }

  void finish(int lane, std::int64_t count) {
    work_.done(work_.context, column_[lane], count, at(point_re_, lane), at(point_im_, lane));
    --busy_;
    begin(lane);
  }

  // The next point that has something left to do, or one that never ends if there is none.
  void begin(int lane) {
    column_[lane] = -1;
    while (next_ < work_.columns) {
      DeepState state;
      const std::int64_t column = next_++;
      if (!work_.prepare(work_.context, column, &state)) continue;
      ++busy_;
      column_[lane] = column;
      resume(lane, state);
      return;
    }
    // Not a number: neither above 4 nor small. It stays at the orbit's beginning, or goes along it and back.
    const double nothing = __builtin_nan("");
    put(lane, {nothing, nothing, 0, 0}, 0, 0);
  }

  void prepare(int lane) {
    DeepState state{at(re_, lane), at(im_, lane), at(at_, lane), round_ - start_[lane]};
    if (work_.prepare(work_.context, column_[lane], &state)) {
      resume(lane, state);
      return;
    }
    --busy_;
    begin(lane);
  }

  void resume(int lane, const DeepState& state) {
    put(lane, state, work_.offset_re[column_[lane]], work_.offset_im[column_[lane]]);
    start_[lane] = round_ - state.count;
    const std::int64_t last = start_[lane] + work_.iterations;
    deadline_ = last < deadline_ ? last : deadline_;
  }

  void put(int lane, const DeepState& state, double offset_re, double offset_im) {
    at(re_, lane) = state.re;
    at(im_, lane) = state.im;
    at(at_, lane) = state.at;
    at(z_re_, lane) = work_.points[2 * state.at];
    at(z_im_, lane) = work_.points[2 * state.at + 1];
    at(offset_re_, lane) = offset_re;
    at(offset_im_, lane) = offset_im;
  }

  // Points that ended early leave a deadline that is nobody's: it is found anew when it comes.
  void find_deadline() {
    deadline_ = never;
    for (int lane = 0; lane < lanes; ++lane) {
      if (column_[lane] < 0) continue;
      const std::int64_t last = start_[lane] + work_.iterations;
      deadline_ = last < deadline_ ? last : deadline_;
    }
  }

  const DeepWork& work_;
  Double re_[vectors], im_[vectors], z_re_[vectors], z_im_[vectors];
  Double offset_re_[vectors], offset_im_[vectors], point_re_[vectors], point_im_[vectors];
  Mask at_[vectors];
  std::int64_t column_[lanes];
  std::int64_t start_[lanes];  // the round before a lane's first update
  std::int64_t round_ = 0;
  std::int64_t deadline_ = never;
  std::int64_t look_ = look_rounds;
  std::int64_t next_ = 0;
  int busy_ = 0;
};

}  // namespace
}  // namespace gleaner::mandelbrot
