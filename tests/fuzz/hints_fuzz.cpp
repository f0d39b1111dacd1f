// Hints files: the first byte is the number of items.
#include <cmath>

#include "shared/base/limits.h"
#include "shared/contract/manager_session.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::contract;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto hints = parse_hints(fuzz::text_of(data + 1, size - 1), data[0] - '0');
  if (!hints.ok()) return 0;
  CHECK_TRUE(hints->size() == static_cast<std::size_t>(data[0] - '0'));
  for (const ItemHint& hint : *hints) {
    CHECK_TRUE(std::isfinite(hint.cost) && hint.cost > 0);
    CHECK_TRUE(hint.parameters.size() <= static_cast<std::size_t>(limits::item_parameters_max));
  }
  return 0;
}
