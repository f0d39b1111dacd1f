#include "shared/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace gleaner {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "gleaner: assertion failed: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace gleaner
