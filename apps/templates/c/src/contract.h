/* Lines and bytes of Gleaner's kernel and manager contract, version 1 (CONTRACT.md). */
#ifndef CONTRACT_H
#define CONTRACT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { LINE_MAX_BYTES = 65536 };

/* The next line of standard input without its line feed; 0 at the end. */
int contract_line(char* line, size_t size);
/* Is there something to read? Never waits. */
int contract_waiting(void);
/* Exactly `length` bytes of standard input; 0 if they do not come. */
int contract_bytes(char* bytes, size_t length);
/* A line to standard output, sent at once. */
void contract_answer(const char* format, ...) __attribute__((format(printf, 1, 2)));
void contract_item(int64_t index, const char* bytes, size_t length);

/* A whole number of DIRECTORY/parameters.json, a flat object; `usual` if the key is not there. 0: not a
 * number. */
int contract_parameter(const char* directory, const char* key, int64_t usual, int64_t* value);
/* The length before an item of a segment. */
uint32_t contract_length(const unsigned char bytes[4]);

#endif
