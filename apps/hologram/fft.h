// One-dimensional complex transforms, single precision, by FFTW: with the same bits on every x86-64
// processor. FFTW is linked statically and held to its SSE2 code (Debian builds SSE2 and AVX variants, whose
// plans differ), its plans are made by estimate, never by measurement, and its twiddle factors come from
// kit/portable_math.h. Unnormalised: forward and backward give n times the input. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "apps/hologram/complex.h"

namespace gleaner::hologram {

// Memory as transforms want it: aligned to 64 bytes, zero at first.
class Line {
 public:
  explicit Line(std::int64_t count);
  [[nodiscard]] Complex* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(Complex* data) const;
  };
  std::unique_ptr<Complex, Free> data_;
};

class Fft {
 public:
  enum class Direction { forward, backward };  // exp(-i…), exp(+i…)
  Fft(std::int64_t count, Direction direction);
  Fft(Fft&&) noexcept;
  ~Fft();

  // In place. REQUIRES: aligned to 64 bytes.
  void run(Complex* line) const;
  // What FFTW chose, for tests.
  [[nodiscard]] std::string plan() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gleaner::hologram
