// What a proxy sends first: a header takes no more bytes than there are, and is the same whatever follows it.
#include "server/http/proxy_header.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::http;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view start = fuzz::text_of(data, size);
  const auto parsed = parse_proxy_header(start);
  if (!parsed.ok()) {
    CHECK_TRUE(parsed.error().kind == ErrorKind::invalid);
    return 0;
  }
  if (!*parsed) {
    CHECK_TRUE(start.size() < proxy_header_bytes_max);
    return 0;
  }
  const ProxyHeader& header = **parsed;
  CHECK_TRUE(header.bytes > 0 && header.bytes <= start.size() && header.bytes <= proxy_header_bytes_max);
  const auto again = parse_proxy_header(start.substr(0, header.bytes));
  CHECK_TRUE(again.ok() && again->has_value() && (*again)->bytes == header.bytes &&
             (*again)->peer == header.peer);
  return 0;
}
