#include "server/http/server_parser.h"

#include "server/http/server_response.h"
#include "server/http/server_target.h"
#include "shared/base/limits.h"
#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::http;

namespace {

struct Outcome {
  RequestParser::Step step = RequestParser::Step::need_more;
  int refusal = 0;
  Request request;
  std::string rest;
};

// Feeds `bytes` in pieces of the sizes that `next_size` gives.
template <typename NextSize>
Outcome parse(std::string_view bytes, NextSize next_size) {
  RequestParser parser;
  Outcome outcome;
  std::string input;
  while (!bytes.empty() && outcome.step != RequestParser::Step::complete &&
         outcome.step != RequestParser::Step::refused) {
    const std::size_t size = std::min<std::size_t>(next_size(), bytes.size());
    input.append(bytes.substr(0, size));
    bytes.remove_prefix(size);
    do {
      outcome.step = parser.feed(input);
      if (outcome.step == RequestParser::Step::head) {
        parser.limit_body(1000);
        if (parser.complete()) outcome.step = RequestParser::Step::complete;
      }
    } while (outcome.step == RequestParser::Step::head && !input.empty());
    CHECK(static_cast<std::int64_t>(input.size()) <=
          limits::header_bytes_max + static_cast<std::int64_t>(size));
  }
  if (outcome.step == RequestParser::Step::refused) outcome.refusal = parser.refusal().status;
  if (outcome.step == RequestParser::Step::complete) outcome.request = parser.take();
  outcome.rest = input;
  return outcome;
}

Outcome parse_whole(std::string_view bytes) {
  return parse(bytes, [&] { return bytes.size(); });
}

std::string mutate(std::string bytes, Random& random) {
  for (std::uint64_t n = random.below(4); n > 0 && !bytes.empty(); --n) {
    const std::size_t at = random.below(bytes.size());
    switch (random.below(3)) {
      case 0:
        bytes[at] = static_cast<char>(random.chance(0.5) ? random.below(256) : "\r\n :;0a%"[random.below(8)]);
        break;
      case 1:
        bytes.erase(at, 1 + random.below(4));
        break;
      default:
        bytes.insert(at, bytes.substr(random.below(bytes.size()), random.below(30)));
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("how a request is cut into pieces makes no difference") {
  const std::uint64_t seed = 4242;
  INFO("seed " << seed);
  Random random(seed);
  const std::vector<std::string> valid{
      "GET /a?b=c HTTP/1.1\r\nHost: h\r\nX: y\r\nX: z\r\n\r\n",
      "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\nhello world",
      "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n6\r\n "
      "world\r\n0\r\nT: u\r\n\r\n",
  };
  int complete = 0;
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::string bytes = mutate(valid[random.below(valid.size())], random) + "GET /next";
    const Outcome whole = parse_whole(bytes);
    const Outcome cut = parse(bytes, [&] { return 1 + random.below(12); });
    const bool whole_complete = whole.step == RequestParser::Step::complete;
    if (whole_complete != (cut.step == RequestParser::Step::complete))
      FAIL("round " << round << ": " << bytes);
    if (whole_complete) {
      ++complete;
      if (whole.request.path != cut.request.path || whole.request.body != cut.request.body ||
          whole.request.headers != cut.request.headers || whole.request.query != cut.request.query) {
        FAIL("round " << round << ": " << bytes);
      }
    }
    if (whole.step == RequestParser::Step::refused) ++refused;
  }
  CHECK(complete > 4000);
  CHECK(refused > 4000);
}

TEST_CASE("what follows a request is left for the next") {
  const Outcome outcome = parse_whole("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhiGET /");
  CHECK(outcome.step == RequestParser::Step::complete);
  CHECK(outcome.request.body == "hi");
  CHECK(outcome.rest == "GET /");
}

TEST_CASE("bodies are bounded, announced or in chunks") {
  const std::string head = "POST /p HTTP/1.1\r\nHost: h\r\n";
  const auto announced = [&](std::size_t bytes) {
    return parse_whole(head + "Content-Length: " + std::to_string(bytes) + "\r\n\r\n" +
                       std::string(bytes, 'b'));
  };
  CHECK(announced(1000).request.body.size() == 1000);
  CHECK(announced(1001).refusal == 413);
  CHECK(parse_whole(head + "Transfer-Encoding: chunked\r\n\r\n3e9\r\n" + std::string(1001, 'b') +
                    "\r\n0\r\n\r\n")
            .refusal == 413);
}

TEST_CASE("headers are bounded however they come") {
  std::string many = "GET / HTTP/1.1\r\nHost: h\r\n";
  while (static_cast<std::int64_t>(many.size()) < 4 * limits::header_bytes_max) many += "X-Header: value\r\n";
  CHECK(parse_whole(many).refusal == 431);
  CHECK(parse(many, [] { return 17; }).refusal == 431);  // one field each time
  CHECK(parse(many, [] { return 1; }).refusal == 431);
  const std::string start = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string extension = start + "1;" + std::string(40'000, 'x');
  CHECK(parse(extension, [] { return 1000; }).step == RequestParser::Step::refused);
  std::string trailers = start + "1\r\nx\r\n0\r\n";
  for (int i = 0; i < 3000; ++i) trailers += "Trailer-Field: t\r\n";
  CHECK(parse(trailers, [] { return 1000; }).step == RequestParser::Step::refused);
  const std::string fits = "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(15'000, 'x') + "\r\n\r\n";
  CHECK(parse(fits, [] { return 700; }).step == RequestParser::Step::complete);
}

TEST_CASE("targets are decoded strictly and not normalised") {
  const auto target = parse_target("/a/%C3%A4//../b?x=1%262&y&z=a=b&");
  REQUIRE(target.ok());
  CHECK(target->path == "/a/\xc3\xa4//../b");
  CHECK(target->query == std::map<std::string, std::string>{{"x", "1&2"}, {"y", ""}, {"z", "a=b"}});
  for (const char* bad :
       {"", "a", "*", "http://h/", "/%", "/%4", "/%4g", "/%00", "/%0a", "/%7f", "/%c3", "/%c0%80",
        "/%ed%a0%80", "/%f4%90%80%80", "/%f8%88%80%80%80", "/?a=%", "/?%00=1", "/?a=1&a=2", "/#f"}) {
    INFO(bad);
    CHECK_FALSE(parse_target(bad).ok());
  }
  std::string pairs = "/?";
  for (int i = 0; i < query_pairs_max; ++i) pairs += "k" + std::to_string(i) + "=v&";
  CHECK(parse_target(pairs).ok());
  CHECK_FALSE(parse_target(pairs + "one=more").ok());
}

TEST_CASE("responses are encoded, and never let a header in from a value") {
  Response response{
      206, {{"Content-Range", "bytes 0-1/2"}, {"content-length", "99"}, {"SERVER", "x"}}, "", {}};
  CHECK(encode_head(response, 2, AfterResponse::close_connection).value() ==
        "HTTP/1.1 206 Partial Content\r\nServer: gleaner\r\nContent-Length: 2\r\nConnection: close\r\n"
        "Content-Range: bytes 0-1/2\r\n\r\n");
  for (const auto& [name, value] : std::map<std::string, std::string>{{"A", "b\r\nC: d"},
                                                                      {"B", std::string("x\0y", 3)},
                                                                      {"C:", "v"},
                                                                      {"", "v"},
                                                                      {"D d", "v"},
                                                                      {"E", "\n"}}) {
    CHECK_FALSE(encode_head({200, {{name, value}}, "", {}}, 0, AfterResponse::keep_connection).ok());
  }
  for (const int status : {0, 100, 199, 600, -1}) {
    CHECK_FALSE(encode_head({status, {}, "", {}}, 0, AfterResponse::keep_connection).ok());
  }
  CHECK(server_timing(std::chrono::microseconds{1050}) == "total;dur=1.050");
  CHECK(server_timing(std::chrono::nanoseconds{999}) == "total;dur=0.000");
  CHECK(
      problem(413, "too long").body ==
      "{\"type\":\"about:blank\",\"title\":\"Content Too Large\",\"status\":413,\"detail\":\"too long\"}\n");
}
