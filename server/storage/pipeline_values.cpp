#include <bit>
#include <cstring>

#include "server/storage/pipeline.h"
#include "shared/base/check.h"
#include "shared/base/encoding.h"
#include "shared/base/utf8.h"

namespace gleaner::storage {
namespace {

Oid array_of(Oid element) {
  switch (element) {
    case oid::bytea:
      return 1001;
    case oid::int8:
      return 1016;
    case oid::text:
      return 1009;
    default:
      return 1022;
  }
}

template <typename Number>
void put_number(std::string& to, Number number) {
  for (int shift = 8 * (static_cast<int>(sizeof number) - 1); shift >= 0; shift -= 8)
    to.push_back(static_cast<char>(number >> shift & 0xFF));
}

// A byte that text cannot hold is written as this and two hexadecimal digits, and so is this itself.
constexpr char text_escape = '\x1A';
constexpr const char* hex_digits = "0123456789abcdef";

// How much of `bytes` is text that needs no escape.
std::size_t plain_length(std::string_view bytes) {
  std::size_t length = 0;
  while (length < bytes.size()) {
    const auto byte = static_cast<unsigned char>(bytes[length]);
    if (byte < 0x80) {
      if (byte == 0 || bytes[length] == text_escape) break;
      ++length;
    } else {
      const std::size_t more = first_character(bytes.substr(length)).bytes;
      if (more == 0) break;
      length += more;
    }
  }
  return length;
}

std::string escaped_text(std::string_view bytes) {
  std::string result;
  while (!bytes.empty()) {
    const std::size_t plain = plain_length(bytes);
    result += bytes.substr(0, plain);
    bytes.remove_prefix(plain);
    if (bytes.empty()) break;
    const auto byte = static_cast<unsigned char>(bytes.front());
    result += {text_escape, hex_digits[byte >> 4], hex_digits[byte & 15]};
    bytes.remove_prefix(1);
  }
  return result;
}

// Before a digest that is kept as the text it is: longer than any that is bytes.
const std::string digest_as_text(33, '\0');

}  // namespace

void Values::begin(Oid type, std::size_t bytes) {
  types_.push_back(type);
  starts_.push_back(bytes_.size());
  put_number(bytes_, static_cast<std::uint32_t>(bytes));
}

void Values::add(std::int64_t value) {
  begin(oid::int8, sizeof value);
  put_number(bytes_, static_cast<std::uint64_t>(value));
}

void Values::add(double value) {
  begin(oid::float8, sizeof value);
  put_number(bytes_, std::bit_cast<std::uint64_t>(value));
}

void Values::add_text(std::string_view bytes) {
  if (plain_length(bytes) < bytes.size()) {
    const std::string safe = escaped_text(bytes);
    begin(oid::text, safe.size());
    bytes_ += safe;
    return;
  }
  begin(oid::text, bytes.size());
  bytes_ += bytes;
}

void Values::add_bytes(std::string_view bytes) {
  begin(oid::bytea, bytes.size());
  bytes_ += bytes;
}

void Values::add_digest(std::string_view digest) {
  if (digest.size() == 64) {
    if (const auto bytes = from_hex(digest)) return add_bytes(*bytes);
  }
  add_bytes(digest_as_text + std::string(digest));
}

void Values::add_array(Oid element, std::int32_t count, std::string_view elements) {
  constexpr std::size_t head = 5 * sizeof(std::int32_t);
  begin(array_of(element), head + elements.size());
  // Dimensions, whether there are nulls, the elements' type, how many, the first one's number.
  for (const std::uint32_t number : {1U, 0U, element, static_cast<std::uint32_t>(count), 1U})
    put_number(bytes_, number);
  bytes_ += elements;
}

void Values::clear() {
  bytes_.clear();
  types_.clear();
  starts_.clear();
}

std::string_view Values::element(std::size_t i) const {
  const std::size_t end = i + 1 < starts_.size() ? starts_[i + 1] : bytes_.size();
  return std::string_view(bytes_).substr(starts_[i], end - starts_[i]);
}

std::int64_t integer_from(std::string_view bytes) {
  // Of 1 (bool), 2, 4 or 8 bytes.
  CHECK_TRUE(bytes.size() <= sizeof(std::int64_t));
  std::uint64_t number =
      !bytes.empty() && static_cast<signed char>(bytes.front()) < 0 ? ~std::uint64_t{0} : 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return static_cast<std::int64_t>(number);
}

double real_from(std::string_view bytes) {
  return bytes.size() == sizeof(double) ? std::bit_cast<double>(integer_from(bytes)) : 0;
}

std::string text_from(std::string_view bytes) {
  std::string result;
  for (;;) {
    const std::size_t place = bytes.find(text_escape);
    result += bytes.substr(0, place);
    if (place == std::string_view::npos) return result;
    bytes.remove_prefix(place + 1);
    if (const auto byte = from_hex(bytes.substr(0, 2)); byte && byte->size() == 1) {
      result += *byte;
      bytes.remove_prefix(2);
    }
  }
}

std::string digest_from(std::string_view bytes) {
  if (bytes.starts_with(digest_as_text)) return std::string(bytes.substr(digest_as_text.size()));
  return to_hex(bytes);
}

}  // namespace gleaner::storage
