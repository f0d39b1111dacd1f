// What every fuzz target has: the entry point of libFuzzer, called with arbitrary bytes, that must return 0
// and may abort (CHECK_TRUE) where a promise is broken. One thread; no state between calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "shared/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace gleaner::fuzz {

[[nodiscard]] inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace gleaner::fuzz
