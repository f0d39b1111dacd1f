// The same reconstruction by one two-dimensional plan of the system's FFTW each way, in memory, with all that
// it has for this processor: processor seconds, "estimate T" and "measure T" by how the plan was made
// (planning itself not counted). Argument: the plane's side.
#include <fftw3.h>

#include <complex>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace {

using Complex = std::complex<float>;

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double run(int side, unsigned flag) {
  const auto pixels = static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
  auto* data = fftwf_alloc_complex(pixels);
  fftwf_plan there = fftwf_plan_dft_2d(side, side, data, data, FFTW_FORWARD, flag);
  fftwf_plan back = fftwf_plan_dft_2d(side, side, data, data, FFTW_BACKWARD, flag);
  for (std::size_t i = 0; i < pixels; ++i) data[i][0] = data[i][1] = static_cast<float>(i % 257) / 257;
  const std::vector<Complex> factor(static_cast<std::size_t>(side), Complex(0.6F, 0.8F));
  const double before = processor_seconds();
  fftwf_execute(there);
  for (int row = 0; row < side; ++row) {
    const Complex by = factor[static_cast<std::size_t>(row)];
    auto* line = data + static_cast<std::size_t>(row) * static_cast<std::size_t>(side);
    for (int i = 0; i < side; ++i) {
      const Complex across = factor[static_cast<std::size_t>(i)];
      const float real = by.real() * across.real() - by.imag() * across.imag();
      const float imaginary = by.real() * across.imag() + by.imag() * across.real();
      const float old = line[i][0];
      line[i][0] = old * real - line[i][1] * imaginary;
      line[i][1] = old * imaginary + line[i][1] * real;
    }
  }
  fftwf_execute(back);
  const double seconds = processor_seconds() - before;
  fftwf_destroy_plan(there);
  fftwf_destroy_plan(back);
  fftwf_free(data);
  return seconds;
}

}  // namespace

int main(int count, char** arguments) {
  const int side = count == 2 ? std::atoi(arguments[1]) : 4096;
  std::printf("estimate %.4f\n", run(side, FFTW_ESTIMATE));
  std::printf("measure %.4f\n", run(side, FFTW_MEASURE));
}
