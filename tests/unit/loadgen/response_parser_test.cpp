// Responses in whatever pieces they come; what is no response of ours is refused.
#include "tools/loadgen/response_parser.h"

#include "tests/catch.h"

using namespace gleaner;
using loadgen::ResponseParser;

namespace {

constexpr std::string_view busy =
    "HTTP/1.1 503 Service Unavailable\r\nServer: gleaner\r\ncontent-length: 5\r\nRetry-After: 7\r\n"
    "Connection: Close\r\n\r\nlater";

}  // namespace

TEST_CASE("a response is read whole") {
  ResponseParser parser;
  const auto complete = parser.take(busy);
  REQUIRE(complete.ok());
  REQUIRE(*complete);
  const auto response = parser.finish();
  CHECK(response.status == 503);
  CHECK(response.retry_after_seconds == 7);
  CHECK(response.closes);
  CHECK(response.body == "later");
  CHECK(response.bytes == static_cast<std::int64_t>(busy.size()));
}

TEST_CASE("a response may come in any two pieces, or byte by byte") {
  for (std::size_t cut = 1; cut < busy.size(); ++cut) {
    CAPTURE(cut);
    ResponseParser parser;
    auto complete = parser.take(busy.substr(0, cut));
    REQUIRE(complete.ok());
    CHECK(!*complete);
    complete = parser.take(busy.substr(cut));
    REQUIRE(complete.ok());
    REQUIRE(*complete);
    CHECK(parser.finish().body == "later");
  }
  ResponseParser parser;
  for (std::size_t at = 0; at < busy.size(); ++at) {
    const auto complete = parser.take(busy.substr(at, 1));
    REQUIRE(complete.ok());
    CHECK(*complete == (at + 1 == busy.size()));
  }
}

TEST_CASE("the same parser reads one response after the other") {
  ResponseParser parser;
  for (const std::string_view body : {"one", "", "three"}) {
    const std::string text =
        "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
    const auto complete = parser.take(text);
    REQUIRE(complete.ok());
    REQUIRE(*complete);
    const auto response = parser.finish();
    CHECK(response.status == 200);
    CHECK(response.body == body);
    CHECK(!response.closes);
    CHECK(response.retry_after_seconds == 0);
  }
}

TEST_CASE("what is no such response is an error") {
  const auto text = GENERATE(as<std::string>(), "SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n",
                             "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                             "HTTP/1.1 200 OK\r\nContent-Length: 1e3\r\n\r\n",
                             "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                             "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 0\r\n\r\n",
                             "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nthree",
                             "HTTP/1.1 503 Busy\r\nRetry-After: soon\r\nContent-Length: 0\r\n\r\n");
  CAPTURE(text);
  ResponseParser parser;
  CHECK(!parser.take(text).ok());
}

TEST_CASE("a head without an end is given up") {
  ResponseParser parser;
  const std::string line = "X-Filler: " + std::string(1000, 'x') + "\r\n";
  auto complete = parser.take("HTTP/1.1 200 OK\r\n");
  int taken = 0;
  for (; complete.ok() && taken < 100; ++taken) complete = parser.take(line);
  CHECK(!complete.ok());
  CHECK(complete.error().kind == ErrorKind::too_large);
  CHECK(taken < 20);
}
