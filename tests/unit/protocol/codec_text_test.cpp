#include "shared/base/limits.h"
#include "shared/base/random.h"
#include "shared/protocol/codec.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::protocol;

namespace {

std::string nested(int levels) {
  return std::string(static_cast<std::size_t>(levels), '[') +
         std::string(static_cast<std::size_t>(levels), ']');
}

std::string with_extra(const std::string& extra) {
  return R"({"version":1,"slot":1,"urgent":true,"extra":)" + extra + "}";
}

}  // namespace

TEST_CASE("text that is no message is refused with a reason") {
  for (const std::string text :
       {"", " ", "x", "{", "[]", "1", "null", "\"version\"", "{\"version\":1}}", "{,}",
        "{\"version\":1,\"slot\":1e999,\"urgent\":true}", "{\"version\":01}", "\xff\xfe",
        "{\"version\":1,\"slot\":1,\"urgent\":true} x", "]]]]", "\"\\"}) {
    INFO(text);
    const auto result = decode<SlotRequest>(text);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().kind == ErrorKind::invalid);
    CHECK(result.error().message.rfind("slot request: ", 0) == 0);
    CHECK(result.error().message.find("json.exception") == std::string::npos);
  }
}

TEST_CASE("only version 1 is spoken") {
  const std::string rest = R"("slot":1,"urgent":true})";
  CHECK(decode<SlotRequest>("{\"version\":1," + rest).ok());
  for (const std::string version : {"", "\"version\":2,", "\"version\":0,", "\"version\":\"1\",",
                                    "\"version\":1.0,", "\"version\":null,", "\"version\":-1,"}) {
    const auto result = decode<SlotRequest>("{" + version + rest);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().kind == ErrorKind::invalid);
    CHECK(result.error().message.find("this program speaks protocol version 1") != std::string::npos);
    CHECK(result.error().message.find("update the older") != std::string::npos);
  }
}

TEST_CASE("length, depth and number of values are bounded while a message is read") {
  CHECK(decode<SlotRequest>(with_extra(nested(limits::json_depth_max - 1))).ok());
  CHECK(decode<SlotRequest>(with_extra(nested(limits::json_depth_max))).error().kind == ErrorKind::too_large);
  CHECK(decode<SlotRequest>(std::string(2'000'000, '[')).error().kind == ErrorKind::too_large);

  std::string values = "[0";
  for (std::int64_t i = 0; i < limits::json_values_max - 10; ++i) values += ",0";
  CHECK(decode<SlotRequest>(with_extra(values + "]")).ok());
  for (int i = 0; i < 10; ++i) values += ",0";
  CHECK(decode<SlotRequest>(with_extra(values + "]")).error().kind == ErrorKind::too_large);
  std::string lists = "[[]";
  for (std::int64_t i = 0; i < limits::json_values_max; ++i) lists += ",[]";
  CHECK(decode<SlotRequest>(with_extra(lists + "]")).error().kind == ErrorKind::too_large);

  const std::string good = with_extra("1");
  const auto room = static_cast<std::size_t>(limits::json_message_bytes_max) - good.size();
  CHECK(decode<SlotRequest>(good + std::string(room, ' ')).ok());
  CHECK(decode<SlotRequest>(good + std::string(room + 1, ' ')).error().kind == ErrorKind::too_large);
}

TEST_CASE("brackets and quotes within strings do not count") {
  CHECK(decode<SlotRequest>(with_extra("\"" + std::string(100, '[') + R"(\"\\,,,\u0022)" + "\"")).ok());
  FailureReport report;
  report.message = std::string(1000, '[') + "\"\\" + std::string(1000, '{');
  CHECK(decode<FailureReport>(encode(report))->message == report.message);
}

TEST_CASE("programs' last words cannot spoil a message") {
  Random random(3);
  for (int round = 0; round < 50; ++round) {
    FailureReport report;
    for (std::uint64_t n = random.below(10'000); n > 0; --n)
      report.message += static_cast<char>(random.below(256));
    const auto back = decode<FailureReport>(encode(report));
    if (!back.ok()) FAIL(back.error().message);
    CHECK(back->message.size() <= static_cast<std::size_t>(limits::message_length_max));
  }
  const std::string words(static_cast<std::size_t>(limits::message_length_max) + 1, 'w');
  const std::string text =
      R"({"version":1,"unit":1,"kind":"kernel-error","item":0,"message":")" + words + "\"}";
  CHECK(decode<FailureReport>(text).error().message ==
        "failure report: message: expected at most 4096 bytes of "
        "text, got 4097");
}

TEST_CASE("what is not UTF-8 is replaced in names") {
  EnrolReply reply;
  reply.token = "a\xffz";
  CHECK(decode<EnrolReply>(encode(reply))->token == "a\xEF\xBF\xBDz");
}

TEST_CASE("random damage never does more than fail") {
  Random random(99);
  WorkRequest request;
  request.platforms = {"x86_64-linux", "any"};
  request.units.resize(3);
  request.slots.resize(2);
  request.benchmark = Benchmark{1234.5, from_microseconds(1'763'676'000'000'000)};
  const std::string good = encode(request);
  for (int round = 0; round < 5000; ++round) {
    std::string bad = good;
    for (std::uint64_t n = 1 + random.below(4); n > 0; --n)
      bad[random.below(bad.size())] = static_cast<char>(random.below(256));
    if (random.chance(0.2)) bad.resize(random.below(bad.size()));
    const auto result = decode<WorkRequest>(bad);
    if (result.ok()) CHECK(decode<WorkRequest>(encode(*result)).ok());
  }
}

TEST_CASE("parameters must be one bounded JSON object") {
  CHECK(check_json_object("{}").ok());
  CHECK(check_json_object(R"( {"width": 640, "deep": {"er": [1, 2.5, null]}} )").ok());
  CHECK(check_json_object("[]").error().kind == ErrorKind::invalid);
  CHECK(check_json_object("{} {}").error().kind == ErrorKind::invalid);
  CHECK(check_json_object("{\"a\":}").error().kind == ErrorKind::invalid);
  CHECK(check_json_object("{\"a\":" + nested(limits::json_depth_max) + "}").error().kind ==
        ErrorKind::too_large);
  CHECK(check_json_object(std::string(static_cast<std::size_t>(limits::parameters_bytes_max) + 1, ' '))
            .error()
            .kind == ErrorKind::too_large);
}

TEST_CASE("codec speed", "[.][benchmark]") {
  WorkRequest request;
  request.platforms = {"x86_64-linux", "any"};
  request.units.resize(4);
  request.slots.resize(4);
  CommitRequest commit;
  commit.digest = std::string(64, '0');
  commit.data = std::string(2000, 'x');
  request.commits = {commit, commit};
  const std::string text = encode(request);
  WARN("work request of " << text.size() << " bytes");
  const auto time = [](const char* what, auto&& work) {
    const int rounds = 5000;
    const auto start = system_clock().steady();
    for (int i = 0; i < rounds; ++i) work();
    WARN(what << ": " << to_seconds(system_clock().steady() - start) / rounds * 1e6 << " us");
  };
  time("decode", [&] { REQUIRE(decode<WorkRequest>(text).ok()); });
  time("encode", [&] { REQUIRE(encode(request).size() == text.size()); });
}

TEST_CASE("names that hide something are refused, and never make a message unreadable") {
  for (const std::string hidden :
       {"\\u202e", "\\u200b", "\\u2028", "\\u2066", "\\udb40\\udc61", "\\ufeff", "\\u00ad"}) {
    INFO(hidden);
    const auto named =
        decode<AddProblem>("{\"version\":1,\"application\":\"a\",\"name\":\"a" + hidden + "b\"}");
    REQUIRE_FALSE(named.ok());
    CHECK(named.error().message.find("name: expected text without control or invisible characters") !=
          std::string::npos);
  }
  // Stored before they were refused.
  HostInfo host;
  host.name =
      "a\xE2\x80\xAE"
      "b";
  CHECK(encode(host).find("\"a b\"") != std::string::npos);
}
