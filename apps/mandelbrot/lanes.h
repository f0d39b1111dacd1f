// A row of points, several at once. A lane takes the next point as soon as its own has escaped, so that
// points that never escape do not hold up others. The operations and their order are those of escape_of():
// the same bits.
#pragma once

#include <cstdint>

namespace gleaner::mandelbrot {

struct RowWork {
  const double* x;  // of each column
  std::int64_t columns;
  double y;
  std::int64_t iterations;
  void* context;
  // Column `column` is done after `count` updates that stayed; the state is the one after the update that
  // escaped, or the last one.
  void (*done)(void* context, std::int64_t column, std::int64_t count, double real, double imaginary);
  // Asked now and then; false: give up.
  bool (*wanted)(void* context, std::int64_t column);
};

// The variants, each in its file.
namespace avx2 {
void escape_row(const RowWork& work);
}
namespace avx512 {
void escape_row(const RowWork& work);
}

}  // namespace gleaner::mandelbrot
