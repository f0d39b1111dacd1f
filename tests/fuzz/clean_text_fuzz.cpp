// Text of others: what is shown of any bytes is valid, holds nothing that steers a terminal or hides, is
// bounded, and cleaning it again changes nothing. The first byte is the bound.
#include "shared/base/clean_text.h"
#include "shared/base/utf8.h"
#include "shared/json/text.h"
#include "shared/terminal/print.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;

namespace {

void check(const std::string& clean, std::string_view allowed) {
  for (std::string_view rest = clean; !rest.empty();) {
    const auto [bytes, code] = first_character(rest);
    CHECK_TRUE(bytes > 0 &&
               (is_shown(code) || (bytes == 1 && allowed.find(rest[0]) != std::string_view::npos)));
    rest.remove_prefix(bytes);
  }
  CHECK_TRUE(is_clean(clean, allowed));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t bytes_max = data[0];
  const std::string_view bytes = fuzz::text_of(data, size).substr(1);
  const std::string text = clean_text(bytes, bytes_max), line = clean_line(bytes, bytes_max);
  check(text, "\n\t");
  check(line, "");
  CHECK_TRUE(text.size() <= bytes_max && line.size() <= bytes_max);
  CHECK_TRUE(clean_text(text, bytes_max) == text && clean_line(line, bytes_max) == line);
  if (is_clean(bytes) && bytes.size() <= bytes_max) CHECK_TRUE(text == bytes);
  check(terminal::shown(bytes, terminal::Tints::no), "\n\t");

  std::string escaped;
  json::write_string(escaped, bytes);
  check(escaped, "");
  const std::string exact = clean_text(bytes, text_unbounded) == bytes ? std::string(bytes) : "";
  if (!exact.empty()) CHECK_TRUE(json::parse_or_null(escaped) == json::Value(exact));
  return 0;
}
