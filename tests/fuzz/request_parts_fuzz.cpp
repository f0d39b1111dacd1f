// The parts of a request that the router reads by itself: the target, a range of bytes, a number. Ranges stay
// within what they are ranges of.
#include "server/http/responses.h"
#include "server/http/server_target.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  if (const auto target = http::parse_target(text); target.ok()) {
    CHECK_TRUE(target->path.starts_with('/') && target->path.size() <= text.size());
    CHECK_TRUE(target->query.size() <= http::query_pairs_max);
    for (const char c : target->path) CHECK_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    CHECK_TRUE(!http::split_path(target->path).empty());
  } else {
    CHECK_TRUE(target.error().kind == ErrorKind::invalid);
  }
  const std::string value = http::cookie(text, "__Host-gleaner-console");
  CHECK_TRUE(value.size() <= text.size() && value.find(';') == std::string::npos);
  if (const auto number = http::parse_number(text)) CHECK_TRUE(*number >= 0);
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{1}, std::int64_t{100}, INT64_MAX}) {
    const auto range = http::parse_byte_range(text, bytes);
    if (!range.ok()) continue;
    CHECK_TRUE(range->offset >= 0 && range->bytes >= 0 && range->offset <= bytes);
    CHECK_TRUE(range->bytes <= bytes - range->offset);
  }
  return 0;
}
