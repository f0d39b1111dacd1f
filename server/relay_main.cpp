#include "server/program_relay.h"
#include "shared/terminal/run.h"

// For jemalloc, as in main.cpp.
extern "C" {
extern const char* const malloc_conf;
const char* const malloc_conf = "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0";
}

int main(int argc, char** argv) {
  return gleaner::terminal::run("gleaner-relay",
                                [&] { return gleaner::server::run_relay_program(argc, argv); });
}
