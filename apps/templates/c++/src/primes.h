// What kernel and manager both know: how many primes are there below `limit`? Item i is the count in the
// numbers from i * block on.
#pragma once

#include <cstdint>

#include "apps/kit/problem.h"

struct Settings {
  std::int64_t limit = 0;
  std::int64_t block = 0;
  std::int64_t items() const { return (limit + block - 1) / block; }
};

// Every mistake at once, unknown keys too.
gleaner::Result<Settings> read_settings(const gleaner::kit::Problem& problem);

bool is_prime(std::int64_t number);
