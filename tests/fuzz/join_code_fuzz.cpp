// Join codes: what is accepted is one spelling of exactly what is written again.
#include "shared/protocol/join_code.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::protocol;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto code = parse_join_code(fuzz::text_of(data, size));
  if (!code.ok()) {
    CHECK_TRUE(code.error().kind == ErrorKind::invalid && code.error().message.size() < 1000);
    return 0;
  }
  const auto again = parse_join_code(to_text(*code));
  CHECK_TRUE(again.ok() && to_text(*again) == to_text(*code));
  CHECK_TRUE(code->port > 0 && code->port < 65'536 && code->base_url().rfind("https://", 0) == 0);
  return 0;
}
