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

// A row of a deep view (deep.h), as far as differences are doubles.
struct DeepState {
  double re = 0, im = 0;   // the difference
  std::int64_t at = 0;     // the point of the orbit that it is to
  std::int64_t count = 0;  // updates that stayed
};
struct DeepWork {
  const double* points;  // of the orbit: real, imaginary, real, …
  std::int64_t last;     // the orbit's last point
  std::int64_t columns;
  const double* offset_re;  // of each column's point from the centre
  const double* offset_im;
  std::int64_t iterations;
  double smallest;  // a difference below this is not for doubles
  void* context;
  // Takes a point from its beginning, or from where its difference became too small, to where doubles
  // suffice. False: it has ended on the way, and was told of.
  bool (*prepare)(void* context, std::int64_t column, DeepState* state);
  void (*done)(void* context, std::int64_t column, std::int64_t count, double real, double imaginary);
  bool (*wanted)(void* context, std::int64_t column);
};

// The variants, each in its file.
namespace avx2 {
void escape_row(const RowWork& work);
void escape_deep_row(const DeepWork& work);
}  // namespace avx2
namespace avx512 {
void escape_row(const RowWork& work);
void escape_deep_row(const DeepWork& work);
}  // namespace avx512

}  // namespace gleaner::mandelbrot
