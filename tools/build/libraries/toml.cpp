// toml++, compiled from its headers, without its assertions, as Debian's library is: one of them does not
// hold for some bytes that the code after it refuses (fuzz_state_files).
#define TOML_ASSERT(condition) static_cast<void>(0)
#define TOML_IMPLEMENTATION
#include <toml++/toml.h>
