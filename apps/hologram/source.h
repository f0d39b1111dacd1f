// The hologram as stage 0 sees it: pixels from the input, or from the generator of synthetic holograms; and
// the lines of a view's plane, windowed and moved to the centre. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "apps/hologram/complex.h"
#include "apps/hologram/layout.h"
#include "apps/hologram/settings.h"
#include "apps/kit/problem.h"

namespace gleaner::hologram {

class Pixels {
 public:
  virtual ~Pixels() = default;
  [[nodiscard]] virtual std::int64_t rows() const = 0;
  [[nodiscard]] virtual std::int64_t columns() const = 0;
  // Pixels [columns) of a row. REQUIRES: inside; room for them.
  [[nodiscard]] virtual Status read_row(std::int64_t row, Range columns, Complex* to) = 0;
};

// The input of the problem, or what `synthetic` says.
[[nodiscard]] Result<std::unique_ptr<Pixels>> open_pixels(const kit::Problem& problem,
                                                          const Settings& settings);

// Lines of the plane before the transform: [5.5-5.6] U_A(m, n) = U(m + k, n + l) box(s, t)
// exp(2 pi i / (lambda d) (k m dm^2 + l n dn^2)), with m and n from the centre and each with its own pitch,
// so that what a view shows stays where it is; times the input chirp of the direct method. Views and rows may
// come in any order.
class Lines {
 public:
  Lines(const Settings& settings, const Layout& layout, Pixels& pixels);
  // A whole line of layout.columns() numbers.
  [[nodiscard]] Status fill(std::size_t view, std::int64_t row, Complex* line);

 private:
  void prepare(std::size_t view);

  const Settings& settings_;
  const Layout& layout_;
  Pixels& pixels_;
  std::size_t view_ = SIZE_MAX;         // that the factors are for
  std::vector<Complex> column_factor_;  // empty: all 1
  std::vector<Complex> row_chirp_;      // direct method
};

// Where the generator puts its points: pixels of the hologram, row and column.
[[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> point_places(const Settings& settings,
                                                                              std::int64_t rows,
                                                                              std::int64_t columns);

}  // namespace gleaner::hologram
