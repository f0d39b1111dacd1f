#include "apps/mandelbrot/decimal.h"

#include <charconv>

#include "shared/base/check.h"

namespace gleaner::mandelbrot {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

double Decimal::approximate() const {
  if (zero() || magnitude() < -400) return 0;
  CHECK_TRUE(magnitude() <= 300);
  const std::string text = (negative ? "-" : "") + digits + "e" + std::to_string(exponent);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value : 0;
}

std::optional<Decimal> parse_decimal(std::string_view text) {
  if (text.size() > decimal_length_max) return std::nullopt;
  Decimal number;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    number.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  bool point = false;
  std::size_t read = 0;
  for (; !text.empty() && (is_digit(text[0]) || (text[0] == '.' && !point)); text.remove_prefix(1)) {
    if (text[0] == '.') {
      point = true;
      continue;
    }
    ++read;
    number.exponent -= point ? 1 : 0;
    if (!number.digits.empty() || text[0] != '0') number.digits += text[0];
  }
  if (read == 0) return std::nullopt;
  if (!text.empty()) {
    if (text[0] != 'e' && text[0] != 'E') return std::nullopt;
    text.remove_prefix(text.size() > 1 && text[1] == '+' && !text.starts_with("e+-") ? 2 : 1);
    std::int64_t exponent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (error != std::errc() || end != text.data() + text.size() || exponent > decimal_exponent_max ||
        exponent < -decimal_exponent_max)
      return std::nullopt;
    number.exponent += exponent;
  }
  while (!number.digits.empty() && number.digits.back() == '0') {
    number.digits.pop_back();
    ++number.exponent;
  }
  if (number.zero()) return Decimal{};
  return number;
}

}  // namespace gleaner::mandelbrot
