// A connection's bytes, as the server reads them: request after request, in pieces (the first byte says how
// long) and at once. The same requests and the same refusal must come of both; bodies stay within their
// limit, and nothing is kept of what was understood.
#include <algorithm>
#include <vector>

#include "server/http/server_parser.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::http;

namespace {

constexpr std::int64_t body_bytes_max = 200;

struct Heard {
  std::vector<Request> requests;
  int refusal = 0;       // its status; 0: none
  bool waiting = false;  // a request has begun and not ended (or was refused)
};

void check_request(const Request& request) {
  CHECK_TRUE(request.path.starts_with('/') && !request.method.empty());
  CHECK_TRUE(request.body.size() <= static_cast<std::size_t>(body_bytes_max));
  std::size_t bytes = request.path.size();
  for (const auto& [name, value] : request.headers) {
    CHECK_TRUE(std::none_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; }));
    CHECK_TRUE(value.find('\n') == std::string::npos && value.find('\0') == std::string::npos);
    bytes += name.size() + value.size();
  }
  CHECK_TRUE(bytes <= 2 * static_cast<std::size_t>(limits::header_bytes_max));
  const auto coding = request.headers.find("transfer-encoding");
  CHECK_TRUE(coding == request.headers.end() || !request.headers.contains("content-length"));
}

// As server_connection does: one parser a request, what is left of the input is the next one's.
class Connection {
 public:
  void feed(std::string_view bytes) {
    input_.append(bytes);
    while (heard_.refusal == 0 && !closed_ && !input_.empty()) {
      heard_.waiting = true;
      switch (parser_->feed(input_)) {
        case RequestParser::Step::need_more:
          CHECK_TRUE(input_.size() <= static_cast<std::size_t>(limits::header_bytes_max));
          return;
        case RequestParser::Step::head:
          CHECK_TRUE(parser_->announced_bytes() >= 0);
          (void)parser_->expects_continue();
          parser_->limit_body(body_bytes_max);
          if (parser_->complete()) finish();
          break;
        case RequestParser::Step::complete:
          finish();
          break;
        case RequestParser::Step::refused:
          heard_.refusal = parser_->refusal().status;
          CHECK_TRUE(heard_.refusal >= 400 && heard_.refusal <= 501 && !parser_->refusal().body.empty());
          return;
      }
    }
  }
  [[nodiscard]] const Heard& heard() const { return heard_; }

 private:
  void finish() {
    closed_ = !parser_->keeps_alive();
    heard_.requests.push_back(parser_->take());
    check_request(heard_.requests.back());
    parser_ = std::make_unique<RequestParser>();
    heard_.waiting = false;
  }

  std::unique_ptr<RequestParser> parser_ = std::make_unique<RequestParser>();
  std::string input_;
  bool closed_ = false;
  Heard heard_;
};

bool same(const Request& a, const Request& b) {
  return a.method == b.method && a.path == b.path && a.query == b.query && a.headers == b.headers &&
         a.body == b.body;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
  Connection at_once;
  at_once.feed(bytes);
  Connection in_pieces;
  const std::size_t piece = 1 + data[0] % 64;
  for (std::size_t at = 0; at < bytes.size(); at += piece) in_pieces.feed(bytes.substr(at, piece));

  const Heard& whole = at_once.heard();
  const Heard& parts = in_pieces.heard();
  CHECK_TRUE(std::equal(whole.requests.begin(), whole.requests.end(), parts.requests.begin(),
                        parts.requests.end(), same));
  // One may see sooner than the other that a request which has not ended cannot be one.
  CHECK_TRUE((whole.refusal == 0) == (parts.refusal == 0) || (whole.waiting && parts.waiting));
  return 0;
}
