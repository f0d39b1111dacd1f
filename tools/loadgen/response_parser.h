// An HTTP/1.1 response out of the bytes of a connection, as a gleaner-server sends it: a length, no chunks,
// one response at a time. What else comes is an error, after which the connection is of no use. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::loadgen {

struct Response {
  int status = 0;
  double retry_after_seconds = 0;  // of Retry-After; 0: not said
  bool closes = false;             // the server closes the connection after it
  Bytes body;
  std::int64_t bytes = 0;  // head and body
};

class ResponseParser {
 public:
  // True once the response is complete. Errors: invalid (not such a response), too_large.
  [[nodiscard]] Result<bool> take(std::string_view bytes);
  // REQUIRES: take() said true. The parser is ready for the next response.
  [[nodiscard]] Response finish();
  void reset() { *this = ResponseParser(); }

 private:
  [[nodiscard]] Status read_head(std::string_view head);
  [[nodiscard]] Status read_field(std::string_view name, std::string_view value);

  std::string head_;
  bool in_body_ = false;
  std::int64_t length_ = -1;
  Response response_;
};

}  // namespace gleaner::loadgen
