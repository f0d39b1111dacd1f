#include "client/program/control_text.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"

namespace gleaner::program {
namespace {

TEST_CASE("Durations are read as people write them") {
  CHECK(parse_duration("90s") == 90);
  CHECK(parse_duration("30m") == 1800);
  CHECK(parse_duration("30") == 1800);
  CHECK(parse_duration("1.5h") == 5400);
  CHECK(parse_duration("2d") == 172800);
  for (const char* bad : {"", "s", "-1h", "0", "1e99d", "nan", "3 weeks", "1hh"}) {
    INFO(bad);
    CHECK_FALSE(parse_duration(bad).has_value());
  }
}

TEST_CASE("Status is readable, coloured only when asked, and tolerant of missing fields") {
  const nlohmann::json reply = {
      {"version", 1},
      {"ok", true},
      {"message", "computing"},
      {"status",
       {{"reason", "computing words on 1 of 1 core"},
        {"cores", 1},
        {"slots",
         {{{"slot", 0}, {"state", "running"}, {"unit", 9}, {"begin", 10}, {"end", 20}, {"finished", 15}}}}}}};
  const std::string plain = reply_text("status", reply, Colour::no);
  CHECK(plain.find("computing words") == 0);
  CHECK(plain.find("unit 9, items 10-19, 50 %") != std::string::npos);
  CHECK(plain.find('\033') == std::string::npos);
  CHECK(reply_text("status", reply, Colour::yes).find("\033[32m") != std::string::npos);
  CHECK(reply_text("why", reply, Colour::no) == "computing words on 1 of 1 core\n");
  CHECK(reply_text("pause", {{"message", "paused"}}, Colour::no) == "paused\n");
  CHECK_FALSE(reply_text("status", {{"status", {{"slots", {1, "x"}}}}}, Colour::no).empty());
}

}  // namespace
}  // namespace gleaner::program
