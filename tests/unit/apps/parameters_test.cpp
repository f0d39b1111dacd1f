#include "apps/kit/parameters.h"

#include "shared/base/limits.h"
#include "shared/base/random.h"
#include "tests/catch.h"

namespace gleaner::kit {
namespace {

Status read(const std::string& json) {
  auto parameters = Parameters::parse(json);
  if (!parameters.ok()) return parameters.error();
  static_cast<void>(parameters->integer("width", {1, 100}, 10));
  static_cast<void>(parameters->number("x", {-1.5, 2}, 0));
  static_cast<void>(parameters->boolean("fast", false));
  static_cast<void>(parameters->choice("colour", {"red", "blue"}, "red"));
  static_cast<void>(parameters->text("title", 5, ""));
  static_cast<void>(parameters->integer("needed", {-5, 5}, std::nullopt));
  return parameters->finish();
}

}  // namespace

TEST_CASE("Parameters are read with their types and defaults") {
  auto parameters =
      Parameters::parse(R"({"width": 7, "x": 1, "fast": true, "colour": "blue", "title": "ab"})");
  REQUIRE(parameters.ok());
  CHECK(parameters->integer("width", {1, 100}, 10) == 7);
  CHECK(parameters->integer("height", {1, 100}, 10) == 10);
  CHECK(parameters->number("x", {-1.5, 2}, 0) == 1);
  CHECK(parameters->boolean("fast", false));
  CHECK(parameters->choice("colour", {"red", "blue"}, "red") == "blue");
  CHECK(parameters->text("title", 5, "") == "ab");
  CHECK(parameters->finish().ok());
  CHECK(Parameters::parse("")->finish().ok());
}

TEST_CASE("Numbers may be texts, and numerals are texts") {
  auto parameters =
      Parameters::parse(R"({"a": "0.25", "b": -1.5e-3, "c": "-0.1234567890123456789012", "d": 7})");
  REQUIRE(parameters.ok());
  CHECK(parameters->number("a", {0, 1}, std::nullopt) == 0.25);
  CHECK(parameters->numeral("b", 20, std::nullopt) == "-0.0015");
  CHECK(parameters->numeral("c", 40, std::nullopt) == "-0.1234567890123456789012");
  CHECK(parameters->numeral("d", 20, std::nullopt) == "7");
  CHECK(parameters->numeral("e", 20, "1") == "1");
  CHECK(parameters->finish().ok());
  static_cast<void>(parameters->numeral("c", 5, std::nullopt));
  static_cast<void>(parameters->number("c", {0, 1}, std::nullopt));
  CHECK(parameters->finish().error().message.find("c: must be a number from 0.0 to 1.0") !=
        std::string::npos);
  for (const char* wrong : {R"({"x": "1 "})", R"({"x": ""})", R"({"x": "nan"})", R"({"x": "1e999"})"}) {
    auto other = Parameters::parse(wrong);
    static_cast<void>(other->number("x", {-1e300, 1e300}, 0));
    CHECK_FALSE(other->finish().ok());
  }
}

TEST_CASE("Every mistake is named, all at once") {
  CHECK(read(R"({"needed": 5})").ok());
  CHECK(read("{}").error().message == "needed: must be given");
  const Status wrong =
      read(R"({"width": 0, "x": "a", "fast": 1, "colour": "green", "title": "too long", "neded": 1})");
  REQUIRE(!wrong.ok());
  CHECK(wrong.error().kind == ErrorKind::invalid);
  CHECK(
      wrong.error().message ==
      "width: must be a whole number from 1 to 100, not 0; x: must be a number from -1.5 to 2.0, not \"a\"; "
      "fast: must be true or false, not 1; colour: must be one of \"red\", \"blue\", not \"green\"; "
      "title: must be a text of at most 5 bytes, not \"too long\"; needed: must be given; "
      "\"neded\": there is no such parameter");
  for (const char* width : {"1.5", "101", "-1", "18446744073709551615", "1e99", "null", "[1]", "\"1\""}) {
    CHECK_FALSE(read(std::string(R"({"needed": 1, "width": )") + width + "}").ok());
  }
  for (const char* needed : {"-5", "5"}) CHECK(read(std::string(R"({"needed": )") + needed + "}").ok());
  for (const char* needed : {"-6", "6"}) CHECK_FALSE(read(std::string(R"({"needed": )") + needed + "}").ok());
}

TEST_CASE("What is no object, too deep or too large is refused") {
  CHECK_FALSE(Parameters::parse("[1]").ok());
  CHECK_FALSE(Parameters::parse("{").ok());
  CHECK_FALSE(Parameters::parse("{\"a\": " + std::string(100, '[') + std::string(100, ']') + "}").ok());
  CHECK_FALSE(Parameters::parse(std::string(100'000, '[')).ok());
  const auto large = Parameters::parse("{\"a\": \"" + std::string(limits::parameters_bytes_max, 'a') + "\"}");
  REQUIRE(!large.ok());
  CHECK(large.error().kind == ErrorKind::too_large);
}

TEST_CASE("Damaged parameters give errors, never more") {
  const std::uint64_t seed = 20261120;
  INFO("seed " << seed);
  Random random(seed);
  const std::string valid =
      R"({"width": 7, "x": 1.25, "fast": true, "colour": "blue", "title": "ab", "needed": -3})";
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text = valid;
    for (std::uint64_t n = 0; n <= random.below(3); ++n)
      text[random.below(text.size())] = static_cast<char>(random.next());
    const Status status = read(text);
    accepted += status.ok();
    if (!status.ok()) {
      REQUIRE(!status.error().message.empty());
      REQUIRE(status.error().message.size() <= static_cast<std::size_t>(limits::message_length_max));
    }
  }
  CHECK(accepted < 5000);
}

}  // namespace gleaner::kit
