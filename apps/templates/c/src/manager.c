/* The manager: runs on the server and knows what the items of a problem mean. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/contract.h"
#include "src/primes.h"

/* Is this item plausible? Results come from strangers. Its count, or -1. */
static int64_t count_of(const struct settings* settings, const char* bytes, size_t length) {
  char text[16];
  if (length == 0 || length >= sizeof text) return -1;
  memcpy(text, bytes, length);
  text[length] = '\0';
  if (strspn(text, "0123456789") != length || (text[0] == '0' && length > 1)) return -1;
  int64_t count = strtoll(text, NULL, 10);
  return count <= settings->block ? count : -1;
}

static void validate(const struct settings* settings, int64_t begin, int64_t end, size_t length) {
  char* segment = malloc(length + 1);
  size_t at = 0;
  if (segment == NULL || !contract_bytes(segment, length)) exit(1);
  int good = end <= item_count(settings);
  for (int64_t item = begin; good && item < end; ++item) {
    good = length - at >= 4;
    if (!good) break;
    size_t bytes = contract_length((const unsigned char*)segment + at);
    good = length - at - 4 >= bytes && count_of(settings, segment + at + 4, bytes) >= 0;
    at += 4 + bytes;
  }
  contract_answer(good && at == length ? "valid" : "invalid a block is not a count of primes");
  free(segment);
}

/* The items BEGIN to END of a piece, whose file begins with item FIRST: their sum, or -1. */
static int64_t sum_of_piece(const struct settings* settings, const char* line) {
  long long begin, end, first;
  int path = 0;
  int64_t sum = 0;
  if (sscanf(line, "%lld %lld %lld %n", &begin, &end, &first, &path) < 3 || path == 0) return -1;
  FILE* file = fopen(line + path, "rb");
  if (file == NULL) return -1;
  for (int64_t item = first; sum >= 0 && item < end; ++item) {
    unsigned char head[4];
    char bytes[16];
    int64_t count = -1;
    if (fread(head, 1, 4, file) == 4) {
      size_t length = contract_length(head);
      if (length < sizeof bytes && fread(bytes, 1, length, file) == length)
        count = count_of(settings, bytes, length);
    }
    if (count < 0)
      sum = -1;
    else if (item >= begin)
      sum += count;
  }
  fclose(file);
  return sum;
}

/* All items are in (or, for a preview, some): the result is their sum. */
static void combine(const struct settings* settings, const char* directory, const char* list) {
  char line[LINE_MAX_BYTES];
  int64_t sum = 0;
  FILE* pieces = fopen(list, "r");
  if (pieces == NULL) {
    contract_answer("error cannot read %s", list);
    return;
  }
  while (sum >= 0 && fgets(line, sizeof line, pieces) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    int64_t piece = sum_of_piece(settings, line);
    sum = piece < 0 ? -1 : sum + piece;
  }
  fclose(pieces);
  char path[64];
  snprintf(path, sizeof path, "%s/primes.txt", directory);
  mkdir(directory, 0777);
  FILE* result = sum < 0 ? NULL : fopen(path, "w");
  if (result == NULL || fprintf(result, "%lld\n", (long long)sum) < 0 || fclose(result) != 0)
    contract_answer("error cannot combine the items, or write their sum");
  else
    contract_answer("result primes.txt %s text/plain\nok", path);
}

int main(void) {
  char line[LINE_MAX_BYTES], directory[32];
  struct settings settings = {1, 1};
  while (contract_line(line, sizeof line)) {
    const char* mistake;
    long long stage, begin, end, length;
    int path = 0;
    if (strcmp(line, "quit") == 0) return 0;
    if (strcmp(line, "gleaner 1") == 0) {
      contract_answer("ready 1 pipeline");
    } else if (strncmp(line, "problem ", 8) == 0) {
      if (read_settings(line + 8, &settings, &mistake))
        contract_answer("ok");
      else
        contract_answer("error %s", mistake);
    } else if (strcmp(line, "plan 0") == 0) {
      contract_answer("items %lld\nname blocks\nok", (long long)item_count(&settings));
    } else if (strncmp(line, "plan ", 5) == 0) {
      contract_answer("end");
    } else if (strncmp(line, "mark ", 5) == 0) {
      contract_answer("%s", line);
    } else if (sscanf(line, "validate %lld %lld %lld %lld", &stage, &begin, &end, &length) == 4) {
      validate(&settings, begin, end, (size_t)length);
    } else if (sscanf(line, "combine %lld %n", &stage, &path) == 1 && path > 0) {
      snprintf(directory, sizeof directory, "stage-%lld", stage);
      combine(&settings, directory, line + path);
    } else if (sscanf(line, "preview %lld %n", &stage, &path) == 1 && path > 0) {
      snprintf(directory, sizeof directory, "preview-%lld", stage);
      combine(&settings, directory, line + path);
    } else {
      contract_answer("error unknown command");
    }
  }
  return 0;
}
