#include "server/metrics/exposition.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "shared/base/check.h"

namespace gleaner::metrics {
namespace {

enum class Quotes { kept, escaped };

std::string escaped(std::string_view text, Quotes quotes) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else if (c == '"' && quotes == Quotes::escaped)
      out += "\\\"";
    else
      out += c;
  }
  return out;
}

// The shortest text that reads back as the same number.
std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  CHECK_TRUE(error == std::errc{});
  return {text.data(), end};
}

bool is_name(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
  return true;
}

}  // namespace

void Exposition::family(std::string_view name, Type type, std::string_view help) {
  constexpr std::array words{"counter", "gauge", "histogram"};
  CHECK_TRUE(is_name(name));
  CHECK_TRUE((type == Type::counter) == name.ends_with("_total"));
  family_ = name;
  text_ += "# HELP " + family_ + " " + escaped(help, Quotes::kept) + "\n# TYPE " + family_ + " " +
           words.at(static_cast<std::size_t>(type)) + "\n";
}

void Exposition::line(std::string_view suffix, const Labels& labels, double value) {
  CHECK_TRUE(!family_.empty());
  text_ += family_;
  text_ += suffix;
  char before = '{';
  for (const auto& [name, content] : labels) {
    CHECK_TRUE(is_name(name));
    text_ += before;
    text_ += name;
    text_ += "=\"" + escaped(content, Quotes::escaped) + "\"";
    before = ',';
  }
  if (!labels.empty()) text_ += '}';
  text_ += " " + number(value) + "\n";
}

void Exposition::sample(double value, const Labels& labels) {
  line("", labels, value);
}

void Exposition::sample(const Histogram& histogram) {
  std::int64_t below = 0;
  for (std::size_t i = 0; i < histogram.bounds().size(); ++i) {
    below += histogram.counts()[i];
    const std::string bound = number(histogram.bounds()[i]);
    line("_bucket", {{"le", bound}}, static_cast<double>(below));
  }
  line("_bucket", {{"le", "+Inf"}}, static_cast<double>(histogram.count()));
  line("_sum", {}, histogram.sum());
  line("_count", {}, static_cast<double>(histogram.count()));
}

void Exposition::gauge(std::string_view name, std::string_view help, double value) {
  family(name, Type::gauge, help);
  sample(value);
}

void Exposition::counter(std::string_view name, std::string_view help, double value) {
  family(name, Type::counter, help);
  sample(value);
}

}  // namespace gleaner::metrics
