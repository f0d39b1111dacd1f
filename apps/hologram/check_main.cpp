// Is field.c64 the reconstruction of the problem in the directory DIRECTORY, computed as a whole? One plane
// in double precision, one 2-D plan of FFTW each way; the transfer function from the C library.
//   check-hologram DIRECTORY FIELD.c64        prints "greatest E" and "mean E", parts of the greatest
//   amplitude
#include <fftw3.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <vector>

#include "apps/hologram/stages.h"

namespace {

using namespace gleaner;
using namespace gleaner::hologram;
using Exact = std::complex<double>;

std::vector<Exact> axis(const Settings& settings, std::int64_t count, double pitch) {
  std::vector<Exact> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const long double frequency =
        static_cast<long double>(i < count / 2 ? i : i - count) / (static_cast<long double>(count) * pitch);
    const long double turns =
        -static_cast<long double>(settings.wavelength) * settings.distance / 2 * frequency * frequency;
    values.push_back(std::polar(
        1.0, static_cast<double>(2 * std::numbers::pi_v<long double> * (turns - std::floor(turns)))));
  }
  return values;
}

Status fill(const Task& task, std::vector<Exact>& plane) {
  const Layout& layout = task.layout;
  Lines lines(task.settings, layout, *task.pixels);
  std::vector<Complex> line(static_cast<std::size_t>(layout.columns()));
  for (std::int64_t row = 0; row < layout.rows(); ++row) {
    TRY(lines.fill(0, row, line.data()));
    std::copy(line.begin(), line.end(), plane.begin() + row * layout.columns());
  }
  return {};
}

void propagate(const Task& task, std::vector<Exact>& plane) {
  const Settings& settings = task.settings;
  const std::int64_t rows = task.layout.rows();
  const std::int64_t columns = task.layout.columns();
  auto* data = reinterpret_cast<fftw_complex*>(plane.data());
  const auto transform = [&](int sign) {
    fftw_plan plan =
        fftw_plan_dft_2d(static_cast<int>(rows), static_cast<int>(columns), data, data, sign, FFTW_ESTIMATE);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
  };
  transform(FFTW_FORWARD);
  const std::vector<Exact> down = axis(settings, rows, settings.row_pitch);
  const std::vector<Exact> across = axis(settings, columns, settings.column_pitch);
  const long double path = settings.distance / static_cast<long double>(settings.wavelength);
  const Exact constant =
      std::polar(1.0 / static_cast<double>(rows * columns),
                 static_cast<double>(2 * std::numbers::pi_v<long double> * (path - std::floor(path))));
  for (std::int64_t m = 0; m < rows; ++m) {
    const Exact factor = constant * down[static_cast<std::size_t>(m)];
    for (std::int64_t n = 0; n < columns; ++n)
      plane[static_cast<std::size_t>(m * columns + n)] *= factor * across[static_cast<std::size_t>(n)];
  }
  transform(FFTW_BACKWARD);
}

Status compare(const std::vector<Exact>& plane, const char* path, std::int64_t columns) {
  std::ifstream file(path, std::ios::binary);
  std::vector<Complex> line(static_cast<std::size_t>(columns));
  double greatest = 0, difference = 0, squares = 0;
  for (std::size_t at = 0; at < plane.size(); at += line.size()) {
    if (!file.read(reinterpret_cast<char*>(line.data()),
                   static_cast<std::streamsize>(line.size() * sizeof(Complex))))
      return Error{ErrorKind::invalid, "the field's file is too short, or not there"};
    for (std::size_t i = 0; i < line.size(); ++i) {
      const double apart = std::abs(Exact(line[i]) - plane[at + i]);
      greatest = std::max(greatest, std::abs(plane[at + i]));
      difference = std::max(difference, apart);
      squares += apart * apart;
    }
  }
  if (file.peek() != std::ifstream::traits_type::eof())
    return Error{ErrorKind::invalid, "the field's file is too long"};
  std::printf("greatest %.3g\nmean %.3g\n", difference / greatest,
              std::sqrt(squares / static_cast<double>(plane.size())) / greatest);
  return {};
}

Status check(const char* directory, const char* field) {
  TRY_ASSIGN(const Task task, open_task(kit::Problem(directory)));
  if (task.settings.method != Method::convolution || task.settings.product != Product::field ||
      task.layout.views().size() != 1)
    return Error{ErrorKind::invalid, "the check is for the convolution method, one view, and output complex"};
  std::vector<Exact> plane(static_cast<std::size_t>(task.layout.rows() * task.layout.columns()));
  TRY(fill(task, plane));
  propagate(task, plane);
  return compare(plane, field, task.layout.columns());
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: check-hologram DIRECTORY FIELD.c64\n");
    return 2;
  }
  const auto checked = check(arguments[1], arguments[2]);
  if (checked.ok()) return 0;
  std::fprintf(stderr, "check-hologram: %s\n", checked.error().message.c_str());
  return 1;
}
