// TSPLIB files: what is accepted has distances within bounds, and is read the same from its own matrix.
#include "apps/tsp/tsplib.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::tsp;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto instance = read_tsplib(fuzz::text_of(data, size));
  if (!instance.ok()) {
    CHECK_TRUE(!instance.error().message.empty());
    return 0;
  }
  const Matrix& matrix = instance->matrix;
  CHECK_TRUE(matrix.cities() >= 1 && matrix.cities() <= cities_max);
  CHECK_TRUE(instance->places.empty() ||
             instance->places.size() == static_cast<std::size_t>(matrix.cities()));
  const auto again = Matrix::from_bytes(matrix.bytes());  // checks each distance
  CHECK_TRUE(again.ok() && again->bytes() == matrix.bytes());
  return 0;
}
