#include "server/link/pack.h"

#include <bit>
#include <cstring>

namespace gleaner::link {

static_assert(std::endian::native == std::endian::little);

Packer& Packer::number(std::int64_t value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes_.append(raw, sizeof value);
  return *this;
}

Packer& Packer::text(std::string_view value) {
  number(static_cast<std::int64_t>(value.size()));
  bytes_.append(value);
  return *this;
}

std::int64_t Unpacker::number(std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  if (failed_ || left_.size() < sizeof value) {
    failed_ = true;
    return least;
  }
  std::memcpy(&value, left_.data(), sizeof value);
  left_.remove_prefix(sizeof value);
  if (value >= least && value <= most) return value;
  failed_ = true;
  return least;
}

std::string_view Unpacker::text() {
  const auto size = static_cast<std::size_t>(number(0, static_cast<std::int64_t>(left_.size())));
  if (failed_ || size > left_.size()) {
    failed_ = true;
    return {};
  }
  const std::string_view value = left_.substr(0, size);
  left_.remove_prefix(size);
  return value;
}

std::size_t Unpacker::count(std::size_t bytes_each) {
  return static_cast<std::size_t>(number(0, static_cast<std::int64_t>(left_.size() / bytes_each)));
}

}  // namespace gleaner::link
