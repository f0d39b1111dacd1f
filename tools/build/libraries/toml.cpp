// toml++, compiled from its headers.
#define TOML_IMPLEMENTATION
#include <toml++/toml.h>
