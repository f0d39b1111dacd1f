#include "shared/base/encoding.h"

#include <array>
#include <cstdint>

namespace gleaner {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// Of each character; -1: it is no digit.
constexpr std::array<std::int8_t, 256> base64_values = [] {
  std::array<std::int8_t, 256> table{};
  table.fill(-1);
  for (std::size_t i = 0; i < base64_digits.size(); ++i)
    table[static_cast<std::uint8_t>(base64_digits[i])] = static_cast<std::int8_t>(i);
  return table;
}();

}  // namespace

std::string to_hex(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    text += hex_digits[byte >> 4];
    text += hex_digits[byte & 15];
  }
  return text;
}

std::optional<Bytes> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  Bytes bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const auto high = hex_digits.find(text[i]);
    const auto low = hex_digits.find(text[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

// Three bytes are four digits; what is left at the end, one or two bytes, is two or three of them.
std::string to_base64url(std::string_view bytes) {
  std::string text((bytes.size() * 4 + 2) / 3, '\0');
  char* digit = text.data();
  const auto byte_at = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[i]));
  };
  std::size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const std::uint32_t group = byte_at(i) << 16 | byte_at(i + 1) << 8 | byte_at(i + 2);
    for (int shift = 18; shift >= 0; shift -= 6) *digit++ = base64_digits[group >> shift & 63];
  }
  if (i == bytes.size()) return text;
  const bool two = i + 2 == bytes.size();
  const std::uint32_t group = byte_at(i) << 16 | (two ? byte_at(i + 1) << 8 : 0);
  for (int shift = 18; shift >= (two ? 6 : 12); shift -= 6) *digit++ = base64_digits[group >> shift & 63];
  return text;
}

std::optional<Bytes> from_base64url(std::string_view text) {
  if (text.size() % 4 == 1) return std::nullopt;
  Bytes bytes(text.size() * 3 / 4, '\0');
  char* byte = bytes.data();
  int wrong = 0;  // below 0 once a character was no digit
  const auto value_at = [&](std::size_t i) {
    const int value = base64_values[static_cast<std::uint8_t>(text[i])];
    wrong |= value;
    return static_cast<std::uint32_t>(value);
  };
  std::size_t i = 0;
  for (; i + 4 <= text.size(); i += 4) {
    const std::uint32_t group =
        value_at(i) << 18 | value_at(i + 1) << 12 | value_at(i + 2) << 6 | value_at(i + 3);
    for (int shift = 16; shift >= 0; shift -= 8) *byte++ = static_cast<char>(group >> shift & 255);
  }
  if (i < text.size()) {
    const bool three = i + 3 == text.size();
    const std::uint32_t group =
        value_at(i) << 18 | value_at(i + 1) << 12 | (three ? value_at(i + 2) << 6 : 0);
    *byte++ = static_cast<char>(group >> 16 & 255);
    if (three) *byte = static_cast<char>(group >> 8 & 255);
    if ((group & (three ? 0xffU : 0xffffU)) != 0) return std::nullopt;  // left-over bits must be zero
  }
  if (wrong < 0) return std::nullopt;
  return bytes;
}

bool equal_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned>(static_cast<std::uint8_t>(a[i]) ^ static_cast<std::uint8_t>(b[i]));
  return difference == 0;
}

}  // namespace gleaner
