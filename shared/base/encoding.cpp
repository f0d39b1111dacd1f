#include "shared/base/encoding.h"

#include <array>
#include <cstdint>

namespace gleaner {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

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

std::string to_base64url(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t window = 0;
  int bits = 0;
  for (const char c : bytes) {
    window = window << 8 | static_cast<std::uint8_t>(c);
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += base64_digits[window >> bits & 63];
    }
  }
  if (bits > 0) text += base64_digits[window << (6 - bits) & 63];
  return text;
}

std::optional<Bytes> from_base64url(std::string_view text) {
  static const auto values = [] {
    std::array<std::int8_t, 256> table{};
    table.fill(-1);
    for (std::size_t i = 0; i < base64_digits.size(); ++i)
      table[static_cast<std::uint8_t>(base64_digits[i])] = static_cast<std::int8_t>(i);
    return table;
  }();
  if (text.size() % 4 == 1) return std::nullopt;
  Bytes bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t window = 0;
  int bits = 0;
  for (const char c : text) {
    const int value = values[static_cast<std::uint8_t>(c)];
    if (value < 0) return std::nullopt;
    window = window << 6 | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(window >> bits & 255);
    }
  }
  if ((window & ((1U << bits) - 1)) != 0) return std::nullopt;  // left-over bits must be zero
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
