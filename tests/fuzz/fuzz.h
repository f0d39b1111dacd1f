// What every fuzz target has: the entry point of libFuzzer, called with arbitrary bytes, that must return 0
// and may abort (CHECK_TRUE) where a promise is broken. One thread; no state between calls.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "shared/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace gleaner::fuzz {

[[nodiscard]] inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// The path of a directory that no other process uses, in memory if there is such a place: files are synced.
[[nodiscard]] inline std::filesystem::path scratch(const std::string& name) {
  const std::filesystem::path memory = "/dev/shm";
  const bool there = ::access(memory.c_str(), W_OK) == 0;
  return (there ? memory : std::filesystem::temp_directory_path()) /
         ("gleaner-fuzz-" + name + "-" + std::to_string(::getpid()));
}

// An input as numbers, byte after byte; zeros behind its end.
class Dice {
 public:
  explicit Dice(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] bool more() const { return !bytes_.empty(); }
  // 0 to count - 1. REQUIRES: 1 <= count <= 256.
  int below(int count) {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte % count;
  }
  // At most `length` bytes.
  std::string_view take(std::size_t length) {
    const std::string_view taken = bytes_.substr(0, length);
    bytes_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view bytes_;
};

}  // namespace gleaner::fuzz
