#include "shared/protocol/unpacker.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "shared/base/utf8.h"
#include "shared/protocol/text.h"

namespace gleaner::protocol::codec {
namespace {

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes =
        static_cast<unsigned char>(text.front()) < 0x80 ? 1 : first_character(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace

void Unpacker::read_map(std::map<std::string, std::string>& values, const List<Plain>& kind) {
  values.clear();
  const std::int64_t count = whole({0, static_cast<std::int64_t>(std::min(kind.count_max, left_.size()))});
  for (std::int64_t i = 0; i < count && !failed_; ++i) {
    std::string name(text());
    values.emplace(std::move(name), text());
  }
}

std::int64_t Unpacker::whole(const Whole& kind) {
  std::int64_t value = 0;
  failed_ = failed_ || left_.size() < sizeof value;
  if (failed_) return kind.low;
  std::memcpy(&value, left_.data(), sizeof value);
  left_.remove_prefix(sizeof value);
  if (value >= kind.low && value <= kind.high) return value;
  failed_ = true;
  return kind.low;
}

double Unpacker::number(const Number& kind) {
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  const auto value = std::bit_cast<double>(whole({std::numeric_limits<std::int64_t>::min(), any}));
  if (std::isfinite(value) && value >= kind.low && value <= kind.high) return value;
  failed_ = true;
  return kind.low;
}

std::string_view Unpacker::text() {
  const auto size = static_cast<std::size_t>(whole({0, static_cast<std::int64_t>(left_.size())}));
  failed_ = failed_ || size > left_.size();
  if (failed_) return {};
  const std::string_view value = left_.substr(0, size);
  left_.remove_prefix(size);
  return value;
}

void Unpacker::read_text(std::string& value, const Text& kind) {
  value = text();
  require(value.size() <= kind.bytes_max && is_clean(value), "");
}

void Unpacker::read_text(std::string& value, Prose) {
  value = text();
  require(value.size() <= limits::message_length_max && is_clean(value, "\n\t"), "");
}

void Unpacker::read_text(std::string& value, const Document& kind) {
  value = text();
  require(value.size() <= kind.bytes_max && is_utf8(value), "");
}

void Unpacker::read_text(std::string& value, Digest) {
  value = text();
  require(is_digest(value), "");
}

void Unpacker::read_text(std::string& value, const Raw& kind) {
  value = text();
  require(value.size() >= kind.bytes_min && value.size() <= kind.bytes_max, "");
}

}  // namespace gleaner::protocol::codec
