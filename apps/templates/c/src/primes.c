#include "src/primes.h"

#include "src/contract.h"

int read_settings(const char* directory, struct settings* settings, const char** mistake) {
  *mistake = "limit: expected a whole number from 1 to 1000000000000";
  if (!contract_parameter(directory, "limit", 1000000, &settings->limit)) return 0;
  if (settings->limit < 1 || settings->limit > 1000000000000) return 0;
  *mistake = "block: expected a whole number from 1 to 1000000000";
  if (!contract_parameter(directory, "block", 10000, &settings->block)) return 0;
  return settings->block >= 1 && settings->block <= 1000000000;
}

int64_t item_count(const struct settings* settings) {
  return (settings->limit + settings->block - 1) / settings->block;
}

int is_prime(int64_t number) {
  if (number < 2) return 0;
  for (int64_t divisor = 2; divisor * divisor <= number; ++divisor)
    if (number % divisor == 0) return 0;
  return 1;
}
