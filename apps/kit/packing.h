// Integers in items and input files: little-endian on every machine. A reader that meets the end early stays
// failed and gives zeros, so that a decoder checks once, at its end.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "shared/base/encoding.h"

namespace gleaner::kit {

template <typename T>
void pack(Bytes& bytes, T value) {
  static_assert(std::is_integral_v<T>);
  const auto bits = static_cast<std::make_unsigned_t<T>>(value);
  char packed[sizeof(T)];
  for (unsigned i = 0; i < sizeof(T); ++i) packed[i] = static_cast<char>((bits >> (8 * i)) & 0xff);
  bytes.append(packed, sizeof(T));
}

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  [[nodiscard]] T get() {
    static_assert(std::is_integral_v<T>);
    const std::string_view bytes = take(sizeof(T));
    std::make_unsigned_t<T> bits = 0;
    for (unsigned i = 0; i < bytes.size(); ++i) {
      bits = static_cast<std::make_unsigned_t<T>>(
          bits | static_cast<std::make_unsigned_t<T>>(
                     static_cast<std::make_unsigned_t<T>>(static_cast<unsigned char>(bytes[i])) << (8 * i)));
    }
    return static_cast<T>(bits);
  }
  // Empty if fewer are left.
  [[nodiscard]] std::string_view take(std::size_t count) {
    if (failed_ || rest_.size() < count) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }
  // True if everything asked for was there, and nothing is left.
  [[nodiscard]] bool complete() const { return !failed_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace gleaner::kit
