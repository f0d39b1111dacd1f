#include "server/program_relay.h"

// For jemalloc, as in main.cpp.
extern "C" {
extern const char* const malloc_conf;
const char* const malloc_conf = "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0";
}

int main(int argc, char** argv) {
  return gleaner::server::run_relay_program(argc, argv);
}
