// The loop of the variants; everything is in an unnamed namespace, because each includer is compiled for
// another processor. V: a vector of doubles; outside(V) gives a bit for each lane that is above 4.
#pragma once

#include "apps/mandelbrot/lanes.h"

namespace gleaner::mandelbrot {
namespace {  // NOLINT(google-build-namespaces): see above

constexpr std::int64_t look_rounds = 4096;

template <class V, unsigned (*outside)(V), int vectors>
class Lanes {
 public:
  explicit Lanes(const RowWork& work) : work_(work) {
    for (int lane = 0; lane < lanes; ++lane) begin(lane);
  }

  void run() {
    while (busy_ > 0) {
      const unsigned escaped = advance();
      for (unsigned left = escaped; left != 0; left &= left - 1) finish(__builtin_ctz(left), true);
      if (round_ >= deadline_) {
        for (int lane = 0; lane < lanes; ++lane) {
          if (column_[lane] >= 0 && round_ - start_[lane] >= work_.iterations) finish(lane, false);
        }
        find_deadline();
      }
      if (round_ < look_) continue;
      look_ = round_ + look_rounds;
      if (!work_.wanted(work_.context, next_)) return;
    }
  }

 private:
  static constexpr int width = sizeof(V) / sizeof(double);
  static constexpr int lanes = width * vectors;
  static_assert(lanes <= 32);

  // Updates all lanes until one has escaped, or the deadline or the next look is there.
  unsigned advance() {
    V real[vectors], imaginary[vectors], real_square[vectors], imaginary_square[vectors];
    for (int i = 0; i < vectors; ++i) {
      real[i] = real_[i];
      imaginary[i] = imaginary_[i];
      real_square[i] = real[i] * real[i];
      imaginary_square[i] = imaginary[i] * imaginary[i];
    }
    const std::int64_t end = deadline_ < look_ ? deadline_ : look_;
    unsigned escaped = 0;
    std::int64_t round = round_;
    do {
      for (int i = 0; i < vectors; ++i) {
        imaginary[i] = 2 * real[i] * imaginary[i] + work_.y;
        real[i] = real_square[i] - imaginary_square[i] + x_[i];
        real_square[i] = real[i] * real[i];
        imaginary_square[i] = imaginary[i] * imaginary[i];
        escaped |= outside(real_square[i] + imaginary_square[i]) << (i * width);
      }
      ++round;
    } while (escaped == 0 && round < end);
    round_ = round;
    for (int i = 0; i < vectors; ++i) {
      real_[i] = real[i];
      imaginary_[i] = imaginary[i];
    }
    return escaped;
  }

  void finish(int lane, bool escaped) {
    const std::int64_t updates = round_ - start_[lane];
    work_.done(work_.context, column_[lane], escaped ? updates - 1 : updates,
               real_[lane / width][lane % width], imaginary_[lane / width][lane % width]);
    --busy_;
    begin(lane);
  }

  // The next point, or one that never escapes if there is none.
  void begin(int lane) {
    const bool there = next_ < work_.columns;
    column_[lane] = there ? next_++ : -1;
    busy_ += there ? 1 : 0;
    start_[lane] = round_;
    real_[lane / width][lane % width] = 0;
    // An idle lane counts on with a state that is not a number, which is never above 4.
    imaginary_[lane / width][lane % width] = there ? 0 : __builtin_nan("");
    x_[lane / width][lane % width] = there ? work_.x[column_[lane]] : 0;
    const std::int64_t last = there ? round_ + work_.iterations : never;
    deadline_ = last < deadline_ ? last : deadline_;
  }

  // Points that escaped early leave a deadline that is nobody's: it is found anew when it comes.
  void find_deadline() {
    deadline_ = never;
    for (int lane = 0; lane < lanes; ++lane) {
      if (column_[lane] < 0) continue;
      const std::int64_t last = start_[lane] + work_.iterations;
      deadline_ = last < deadline_ ? last : deadline_;
    }
  }

  static constexpr std::int64_t never = INT64_MAX;
  const RowWork& work_;
  V real_[vectors], imaginary_[vectors], x_[vectors];
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
