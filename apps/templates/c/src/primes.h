/* What kernel and manager both know: how many primes are there below `limit`? Item i is the count in the
 * numbers from i * block on. */
#ifndef PRIMES_H
#define PRIMES_H

#include <stdint.h>

struct settings {
  int64_t limit;
  int64_t block;
};

/* 1, or 0 with what is wrong in `mistake`. */
int read_settings(const char* directory, struct settings* settings, const char** mistake);
int64_t item_count(const struct settings* settings);
int is_prime(int64_t number);

#endif
