// Fields of the link's messages as bytes: whole numbers of eight bytes (little-endian), texts behind their
// length. Reading is bounded by the bytes that there are; one mistake spoils all that follows, so that a
// reader asks once, at the end.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "shared/base/encoding.h"

namespace gleaner::link {

class Packer {
 public:
  Packer& number(std::int64_t value);
  Packer& text(std::string_view value);
  [[nodiscard]] Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : left_(bytes) {}
  // In [least, most]; else it is a mistake, and `least`.
  std::int64_t number(std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                      std::int64_t most = std::numeric_limits<std::int64_t>::max());
  // A part of the bytes given; empty if they end too early.
  std::string_view text();
  // How many elements follow, each of which takes `bytes_each` at least.
  std::size_t count(std::size_t bytes_each);
  void fail() { failed_ = true; }
  // Everything was read, and as it should be.
  [[nodiscard]] bool complete() const { return !failed_ && left_.empty(); }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::string_view left_;
  bool failed_ = false;
};

}  // namespace gleaner::link
