#include <algorithm>
#include <charconv>
#include <cmath>

#include "shared/base/utf8.h"
#include "shared/json/text.h"

namespace gleaner::json {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

void write_escaped(std::string& to, char32_t unit) {
  to += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) to += hex_digits[unit >> static_cast<unsigned>(shift) & 0xFU];
}

// What may not be shown is escaped always: what is printed is exact, and no terminal obeys it.
void write_character(std::string& to, std::string_view bytes, char32_t code, bool ascii) {
  static constexpr std::string_view named = "\"\\\b\f\n\r\t";
  static constexpr std::string_view names = "\"\\bfnrt";
  if (const auto at = code < 0x80 ? named.find(static_cast<char>(code)) : named.npos; at != named.npos) {
    to += '\\';
    to += names[at];
  } else if (code < 0x10000 && (ascii ? code < 0x20 || code >= 0x7F : !is_shown(code))) {
    write_escaped(to, code);
  } else if (code >= 0x10000 && (ascii || !is_shown(code))) {
    write_escaped(to, 0xD800 + ((code - 0x10000) >> 10U));
    write_escaped(to, 0xDC00 + ((code - 0x10000) & 0x3FFU));
  } else {
    to += bytes;
  }
}

}  // namespace

// Value's friend: it goes through the tree.
class Writer {
 public:
  explicit Writer(const Layout& layout) : layout_(layout) {}

  void write(const Value& value, int depth) {
    if (const auto* text = std::get_if<std::string>(&value.tree_))
      return write_string(text_, *text, layout_.ascii);
    if (const auto* whole = std::get_if<std::int64_t>(&value.tree_)) return write_whole(*whole);
    if (const auto* large = std::get_if<std::uint64_t>(&value.tree_)) return write_whole(*large);
    if (const auto* real = std::get_if<double>(&value.tree_)) return write_double(text_, *real);
    if (const auto* flag = std::get_if<bool>(&value.tree_)) {
      text_ += *flag ? "true" : "false";
    } else if (value.is_array()) {
      write_array(value.elements(), depth);
    } else if (value.is_object()) {
      write_object(value.members(), depth);
    } else {
      text_ += "null";
    }
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  template <typename Number>
  void write_whole(Number number) {
    char digits[24];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  }
  void new_line(int depth) {
    if (layout_.indent < 0) return;
    text_ += '\n';
    text_.append(static_cast<std::size_t>(layout_.indent * depth), ' ');
  }
  void write_array(const std::vector<Value>& elements, int depth) {
    text_ += '[';
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (i > 0) text_ += ',';
      new_line(depth + 1);
      write(elements[i], depth + 1);
    }
    if (!elements.empty()) new_line(depth);
    text_ += ']';
  }
  void write_object(const std::vector<Value::Member>& members, int depth) {
    std::vector<const Value::Member*> order;
    order.reserve(members.size());
    for (const Value::Member& member : members) order.push_back(&member);
    if (layout_.sorted)
      std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
    text_ += '{';
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0) text_ += ',';
      new_line(depth + 1);
      write_string(text_, order[i]->first, layout_.ascii);
      text_ += layout_.indent < 0 ? ":" : ": ";
      write(order[i]->second, depth + 1);
    }
    if (!order.empty()) new_line(depth);
    text_ += '}';
  }

  const Layout& layout_;
  std::string text_;
};

// The shortest digits; decimal from 1e-4 on and below 1e15, else with an exponent of two digits or more: the
// form that this project's files have always had.
void write_double(std::string& to, double value) {
  if (!std::isfinite(value)) {
    to += "null";
    return;
  }
  char text[32];
  const auto* const end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  const std::string_view scientific(text, static_cast<std::size_t>(end - text));
  const std::size_t e = scientific.find('e');
  int exponent = 0;
  const char* const digits_of_exponent = scientific.data() + e + (scientific[e + 1] == '+' ? 2 : 1);
  std::from_chars(digits_of_exponent, end, exponent);
  if (value == 0) {
    to += std::signbit(value) ? "-0.0" : "0.0";
    return;
  }
  if (exponent < -4 || exponent >= 15) {
    to += scientific;
    return;
  }
  std::string digits;
  for (const char c : scientific.substr(0, e))
    if (c >= '0' && c <= '9') digits += c;
  if (value < 0) to += '-';
  if (exponent < 0) {
    to += "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
    return;
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  to += digits.substr(0, whole) + "." + (digits.size() > whole ? digits.substr(whole) : "0");
}

std::string write(const Value& value, const Layout& layout) {
  Writer writer(layout);
  writer.write(value, 0);
  return writer.take();
}

void write_string(std::string& to, std::string_view text, bool ascii) {
  to += '"';
  while (!text.empty()) {
    const auto* const special = std::find_if(text.begin(), text.end(), [](char c) {
      return c < ' ' || c == 0x7F || c == '"' || c == '\\';  // not ASCII is below 0
    });
    const auto plain = static_cast<std::size_t>(special - text.begin());
    to += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto [bytes, code] = first_character(text);
    if (bytes == 0)
      write_character(to, utf8_replacement, 0xFFFD, ascii);
    else
      write_character(to, text.substr(0, bytes), code, ascii);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  to += '"';
}

}  // namespace gleaner::json
