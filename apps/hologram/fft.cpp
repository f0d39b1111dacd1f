#include "apps/hologram/fft.h"

#include <fftw3.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "apps/kit/portable_math.h"
#include "shared/base/check.h"

// What holds FFTW to the same arithmetic everywhere. It asks fftwf_have_simd_avx() before it offers AVX code
// to its planner: the linker finds the answer here before it looks into FFTW's archive. Its only use of the C
// library's sine and cosine, whose last bits depend on the processor, is led here by --wrap=sincos
// (CMakeLists.txt).
extern "C" {
int fftwf_have_simd_avx(void);
void __wrap_sincos(double angle, double* sine, double* cosine);  // NOLINT(bugprone-reserved-identifier)

int fftwf_have_simd_avx(void) {
  return 0;
}

void __wrap_sincos(double angle, double* sine, double* cosine) {  // NOLINT(bugprone-reserved-identifier)
  *sine = gleaner::kit::portable_sin(angle);
  *cosine = gleaner::kit::portable_cos(angle);
}
}

namespace gleaner::hologram {
namespace {

constexpr std::size_t alignment = 64;

}  // namespace

Line::Line(std::int64_t count) {
  const std::size_t bytes =
      (static_cast<std::size_t>(count) * sizeof(Complex) + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  data_.reset(static_cast<Complex*>(memory));
  std::uninitialized_fill_n(data_.get(), bytes / sizeof(Complex), Complex(0, 0));
}

void Line::Free::operator()(Complex* data) const {
  std::free(data);
}

struct Fft::State {
  fftwf_plan plan = nullptr;
  ~State() { fftwf_destroy_plan(plan); }
};

Fft::Fft(std::int64_t count, Direction direction) : state_(std::make_unique<State>()) {
  const Line line(count);
  auto* data = reinterpret_cast<fftwf_complex*>(line.data());
  state_->plan =
      fftwf_plan_dft_1d(static_cast<int>(count), data, data,
                        direction == Direction::forward ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);
  CHECK_TRUE(state_->plan != nullptr);
}

Fft::Fft(Fft&&) noexcept = default;
Fft::~Fft() = default;

void Fft::run(Complex* line) const {
  CHECK_TRUE(reinterpret_cast<std::uintptr_t>(line) % alignment == 0);
  auto* data = reinterpret_cast<fftwf_complex*>(line);
  fftwf_execute_dft(state_->plan, data, data);
}

std::string Fft::plan() const {
  char* const text = fftwf_sprint_plan(state_->plan);
  std::string copy(text);
  std::free(text);
  return copy;
}

}  // namespace gleaner::hologram
