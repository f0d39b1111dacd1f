#include <cmath>
#include <cstring>

#include "shared/base/random.h"
#include "shared/json/text.h"
#include "tests/catch.h"

namespace gleaner::json {
namespace {

std::string again(std::string_view text, const Layout& layout = {}) {
  const auto value = parse(text);
  REQUIRE(value.ok());
  return write(*value, layout);
}

Value random_value(Random& random, int depth) {
  switch (random.below(depth > 4 ? 6 : 8)) {
    case 0:
      return nullptr;
    case 1:
      return random.below(2) == 1;
    case 2:
      return static_cast<std::int64_t>(random.next());
    case 3:
      return random.next() | std::uint64_t{1} << 63U;
    case 4: {
      const std::uint64_t bits = random.next();
      double number = 0;
      std::memcpy(&number, &bits, sizeof number);
      return std::isfinite(number) ? number : 0.5;
    }
    case 5: {
      std::string text;
      for (std::uint64_t i = random.below(20); i > 0; --i) text += static_cast<char>(random.below(0x80));
      return text + "ü€🌾";
    }
    case 6: {
      Value list = Value::array();
      for (std::uint64_t i = random.below(5); i > 0; --i) list.push_back(random_value(random, depth + 1));
      return list;
    }
    default: {
      Value object = Value::object();
      for (std::uint64_t i = random.below(5); i > 0; --i)
        object["k" + std::to_string(random.below(50))] = random_value(random, depth + 1);
      return object;
    }
  }
}

}  // namespace

TEST_CASE("documents are written as they look", "[json]") {
  const std::vector<int> numbers{1, 2};
  Value value = {
      {"version", 1},       {"ok", true},
      {"name", "a\"b"},     {"list", Value::array({1, "x", nullptr})},
      {"numbers", numbers}, {"inner", {{"x", 0.5}, {"empty", Value::object()}, {"none", Value::array()}}}};
  CHECK(
      write(value) ==
      R"({"version":1,"ok":true,"name":"a\"b","list":[1,"x",null],"numbers":[1,2],"inner":{"x":0.5,"empty":{},"none":[]}})");
  CHECK(write({{"b", Value::array({1})}, {"a", Value::object()}}, {2, true, false}) ==
        "{\n  \"a\": {},\n  \"b\": [\n    1\n  ]\n}");
  CHECK(parse_or_null(write(value)) == value);
  value["ok"] = false;
  value["new"]["deep"] = 1;
  value.erase("list");
  CHECK(value["ok"] == Value(false));
  CHECK(value["new"]["deep"].integer() == 1);
  const Value& fixed = value;
  CHECK(fixed["list"].is_null());
  CHECK(fixed["ok"]["not an object"].is_null());
}

TEST_CASE("of a repeated name the last counts, among few and many", "[json]") {
  CHECK(again(R"({"a":1,"b":2,"a":3})") == R"({"b":2,"a":3})");
  std::string many = "{";
  for (int i = 0; i < 5000; ++i) many += "\"k" + std::to_string(i % 100) + "\":" + std::to_string(i) + ",";
  const auto value = parse(many + "\"k7\":\"last\"}");
  REQUIRE(value.ok());
  CHECK(value->size() == 100);
  CHECK((*value)["k7"].string() == "last");
  CHECK((*value)["k8"].integer() == 4908);
}

TEST_CASE("numbers keep their form and every bit", "[json]") {
  for (const char* text : {"0",
                           "-1",
                           "9223372036854775807",
                           "-9223372036854775808",
                           "18446744073709551615",
                           "0.0",
                           "-0.0",
                           "1.0",
                           "0.1",
                           "-2.5",
                           "123456789012345.0",
                           "1e+15",
                           "1.5e+15",
                           "0.0001",
                           "0.00012",
                           "1e-05",
                           "1.2e-05",
                           "5e-324",
                           "1.7976931348623157e+308",
                           "123456.789"})
    CHECK(again(text) == text);
  CHECK(again("100000000000000000000") == "1e+20");
  CHECK(write(NAN) == "null");
  CHECK(write(-INFINITY) == "null");
  CHECK_FALSE(parse("1e999").ok());
  CHECK(parse("18446744073709551615")->is_number());
  CHECK_FALSE(parse("18446744073709551615")->is_integer());
  CHECK(parse("18446744073709551615")->number() == 18446744073709551615.0);
}

TEST_CASE("texts are escaped, and what is not UTF-8 is replaced", "[json]") {
  CHECK(write("\"\\\b\f\n\r\t\x01\x7f/é") == "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u007f/é\"");
  CHECK(write("a\xff\xC3z") == "\"a\xEF\xBF\xBD\xEF\xBF\xBDz\"");
  CHECK(write("é€🌾\x7f\xff", {-1, false, true}) == R"("\u00e9\u20ac\ud83c\udf3e\u007f\ufffd")");
  CHECK(parse(R"("\u00e9\u20ac\ud83c\udf3e")")->string() == "é€🌾");
}

TEST_CASE("what is written is read as the same", "[json]") {
  Random random(19);
  for (int round = 0; round < 2000; ++round) {
    const Value value = random_value(random, 0);
    INFO("seed 19, round " << round << ": " << write(value));
    const auto read =
        parse(write(value, {static_cast<int>(random.below(4)) - 1, false, random.below(2) == 1}));
    REQUIRE(read.ok());
    CHECK(*read == value);
  }
}

TEST_CASE("faults say where they are, and bounds hold", "[json]") {
  CHECK(parse("{\"a\":\n{\"w\":1,}}").error().message.find("not JSON at line 2, column 8: ") == 0);
  CHECK(parse("").error().message.find("not JSON at line 1, column 1: ") == 0);
  CHECK(parse("{} {}").error().kind == ErrorKind::invalid);
  CHECK(parse("[\"\xff\"]").error().kind == ErrorKind::invalid);
  CHECK(parse_or_null("nonsense").is_null());
  const std::string deep(33, '[');
  CHECK(parse(deep).error().kind == ErrorKind::too_large);
  CHECK(parse("[[]]", {100, 100, 1}).error().kind == ErrorKind::too_large);
  CHECK(parse("[1,2,3]", {100, 4}).ok());
  CHECK(parse("[1,2,3]", {100, 3}).error().kind == ErrorKind::too_large);
  CHECK(parse("[1,2,3]", {6, 100}).error().kind == ErrorKind::too_large);
}

}  // namespace gleaner::json
