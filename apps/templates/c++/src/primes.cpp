#include "src/primes.h"

gleaner::Result<Settings> read_settings(const gleaner::kit::Problem& problem) {
  TRY_ASSIGN(gleaner::kit::Parameters parameters, problem.parameters());
  Settings settings;
  settings.limit = parameters.integer("limit", {1, 1'000'000'000'000}, 1'000'000);
  settings.block = parameters.integer("block", {1, 1'000'000'000}, 10'000);
  TRY(parameters.finish());
  return settings;
}

bool is_prime(std::int64_t number) {
  if (number < 2) return false;
  for (std::int64_t divisor = 2; divisor * divisor <= number; ++divisor)
    if (number % divisor == 0) return false;
  return true;
}
