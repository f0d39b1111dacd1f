#include "src/contract.h"

#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Read by hand: what a stdio buffer holds, poll() does not see. */
static char input[LINE_MAX_BYTES];
static size_t input_begin, input_end;

static int fill(void) {
  ssize_t got = read(0, input, sizeof input);
  input_begin = 0;
  input_end = got > 0 ? (size_t)got : 0;
  return got > 0;
}

int contract_line(char* line, size_t size) {
  size_t length = 0;
  for (;;) {
    if (input_begin == input_end && !fill()) return 0;
    char c = input[input_begin++];
    if (c == '\n') break;
    if (length + 1 < size) line[length++] = c;
  }
  line[length] = '\0';
  return 1;
}

int contract_waiting(void) {
  struct pollfd waiting = {0, POLLIN, 0};
  return input_begin < input_end || poll(&waiting, 1, 0) > 0;
}

int contract_bytes(char* bytes, size_t length) {
  for (size_t i = 0; i < length; ++i) {
    if (input_begin == input_end && !fill()) return 0;
    bytes[i] = input[input_begin++];
  }
  return 1;
}

void contract_answer(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
  fflush(stdout);
}

void contract_item(int64_t index, const char* bytes, size_t length) {
  printf("item %lld %zu\n", (long long)index, length);
  fwrite(bytes, 1, length, stdout);
  fflush(stdout);
}

int contract_parameter(const char* directory, const char* key, int64_t usual, int64_t* value) {
  char path[4096], text[4096], quoted[128];
  snprintf(path, sizeof path, "%s/parameters.json", directory);
  FILE* file = fopen(path, "r");
  if (file == NULL) return 0;
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = '\0';
  *value = usual;
  snprintf(quoted, sizeof quoted, "\"%s\"", key);
  char* at = strstr(text, quoted);
  if (at == NULL) return 1;
  at += strlen(quoted);
  at += strspn(at, " \t\r\n:");
  char* end = at;
  *value = strtoll(at, &end, 10);
  return end != at && strchr(",} \t\r\n", *end) != NULL;
}

uint32_t contract_length(const unsigned char bytes[4]) {
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}
