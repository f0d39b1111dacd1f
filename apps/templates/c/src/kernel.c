/* The kernel: runs on volunteers' machines and computes one item after the other. */
#include <stdlib.h>
#include <string.h>

#include "src/contract.h"
#include "src/primes.h"

/* The bytes of an item depend on the problem and on its number, on nothing else. */
static size_t compute(const struct settings* settings, int64_t item, char* bytes, size_t size) {
  int64_t end = (item + 1) * settings->block, count = 0;
  if (end > settings->limit) end = settings->limit;
  for (int64_t number = item * settings->block; number < end; ++number) count += is_prime(number);
  return (size_t)snprintf(bytes, size, "%lld", (long long)count);
}

static void run_unit(const struct settings* settings, int64_t item, int64_t end) {
  char line[LINE_MAX_BYTES], bytes[32];
  for (; item < end; ++item) {
    /* A grid may want a unit to end earlier: look between items. */
    while (contract_waiting()) {
      long long earlier;
      if (!contract_line(line, sizeof line)) exit(0);
      if (sscanf(line, "end %lld", &earlier) == 1) {
        if (earlier < end) end = earlier;
      } else if (strcmp(line, "checkpoint") == 0) {
        contract_answer("checkpoint none");
      } else {
        exit(0);
      }
    }
    if (item >= end) break;
    contract_item(item, bytes, compute(settings, item, bytes, sizeof bytes));
  }
  contract_answer("done %lld", (long long)item);
}

int main(void) {
  char line[LINE_MAX_BYTES];
  struct settings settings = {1, 1};
  while (contract_line(line, sizeof line)) {
    const char* mistake;
    long long stage, begin, end;
    if (strcmp(line, "quit") == 0) return 0;
    if (strcmp(line, "gleaner 1") == 0) {
      contract_answer("ready 1");
    } else if (strncmp(line, "problem ", 8) == 0) {
      if (read_settings(line + 8, &settings, &mistake))
        contract_answer("ok");
      else
        contract_answer("error %s", mistake);
    } else if (sscanf(line, "unit %lld %lld %lld", &stage, &begin, &end) == 3) {
      run_unit(&settings, begin, end);
    } else if (strcmp(line, "checkpoint") == 0) {
      contract_answer("checkpoint none");
    } else if (strncmp(line, "end ", 4) != 0) { /* an `end` that comes after `done` is ignored */
      contract_answer("error unknown command");
    }
  }
  return 0;
}
