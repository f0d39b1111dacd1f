#include "client/program/control_text.h"

#include "client/program/projects_program.h"
#include "client/program/top_program.h"
#include "shared/json/text.h"
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

TEST_CASE("A time to pause until is the next such time of this computer's zone") {
  const std::string zone = std::getenv("TZ") != nullptr ? std::getenv("TZ") : "";
  ::setenv("TZ", "Europe/Berlin", 1);
  ::tzset();
  const Timestamp wednesday =
      std::chrono::sys_days{std::chrono::year{2026} / 3 / 25} + std::chrono::hours{17};
  constexpr double hour = 3600, day = 24 * hour;
  CHECK(seconds_until("18:30", wednesday) == hour / 2);
  CHECK(seconds_until("18:00", wednesday) == day);  // it is that now: tomorrow's
  CHECK(seconds_until("8:00", wednesday) == 14 * hour);
  CHECK(seconds_until("wed 18:00", wednesday) == 7 * day - hour);  // clocks go forward on Sunday
  CHECK(seconds_until("mon 8:00", wednesday) == 4 * day + 13 * hour);
  CHECK(seconds_until("2026-03-26 18:00", wednesday) == day);
  for (const char* bad : {"", "18", "25:00", "18:60", "18:00 ", "xyz 8:00", "2026-03-24 18:00",
                          "2026-04-31 18:00", "2028-01-01 0:00", "18:00h", "-1:00", "2026-03-26"}) {
    INFO(bad);
    CHECK_FALSE(seconds_until(bad, wednesday));
  }
  zone.empty() ? ::unsetenv("TZ") : ::setenv("TZ", zone.c_str(), 1);
  ::tzset();
}

TEST_CASE("Status is readable, coloured only when asked, and tolerant of missing fields") {
  const json::Value reply = json::parse_or_null(R"({"version":1,"ok":true,"message":"computing","status":{
      "reason":"computing words on 1 of 1 core","cores":1,
      "core_seconds_today":720,"core_seconds_week":11160,"core_seconds_year":1116000,
      "slots":[{"slot":0,"state":"running","unit":9,"begin":10,"end":20,"finished":15}]}})");
  const std::string plain = reply_text("status", reply, Colour::no);
  CHECK(plain.find("computing words") == 0);
  CHECK(plain.find("unit 9, items 10-19, 50.0 %") != std::string::npos);
  CHECK(plain.find("so far    12 min of a core today, 3.1 core-hours in the last 7 days, 310 core-hours in "
                   "the last year\n") != std::string::npos);
  CHECK(plain.find(", 0 cores, ") != std::string::npos);
  CHECK(plain.find("  core 1 ") != std::string::npos);
  CHECK(plain.find("no contact since the client started") == std::string::npos);
  json::Value boxed = reply;
  boxed["status"]["cpu_share"] = 0.3;
  boxed["status"]["computer_cores"] = 2;
  CHECK(reply_text("status", boxed, Colour::no).find(", 0.3 of 2 cores, ") != std::string::npos);
  CHECK(plain.find('\033') == std::string::npos);
  CHECK(reply_text("status", reply, Colour::yes).find("\033[32m") != std::string::npos);
  CHECK(reply_text("why", reply, Colour::no) == "computing words on 1 of 1 core\n");
  CHECK(reply_text("pause", {{"message", "paused"}}, Colour::no) == "paused\n");
  CHECK_FALSE(
      reply_text("status", json::parse_or_null(R"({"status":{"slots":[1,"x"]}})"), Colour::no).empty());
}

TEST_CASE("A refusal is told with its reason, and what was told of a problem long ago as that") {
  const json::Value reply = json::parse_or_null(R"({"status":{"reason":"waiting","commits_refused":2,
      "last_refusal":"item 7: not a number","problems":[
        {"name":"words","done":0.907,"items":20,"hosts":2,"in_hand":false},
        {"name":"letters","done":0.5,"items":20,"hosts":2,"in_hand":true}]}})");
  const std::string text = reply_text("status", reply, Colour::no);
  CHECK(
      text.find(
          "2 rejected since the client started\n  rejected  the last one because: item 7: not a number\n") !=
      std::string::npos);
  CHECK(text.find("words: was 90.7 % done when this computer finished its part") != std::string::npos);
  CHECK(text.find("  together  letters: 50.0 % done, ") != std::string::npos);
}

TEST_CASE("Of several projects each is named; of one nothing more is said than before") {
  json::Value reply = json::parse_or_null(R"({"status":{"reason":"computing","project_name":"Atlas",
      "server":"https://a:1","slots":[{"slot":0,"state":"running","unit":9,"problem":"words","project":"Atlas"}],
      "projects":[{"key":"0123456789abcdef","name":"Atlas","server":"https://a:1","host":4,"last_contact_seconds":7,"share":3,
          "recent_part":0.754,"units_in_hand":2,"outbox":1,"state":"computing on 1 core"}]}})");
  const std::string one = reply_text("status", reply, Colour::no);
  CHECK(one.find("  project   Atlas at https://a:1\n") != std::string::npos);
  CHECK(one.find(" words: unit 9") != std::string::npos);
  CHECK(top_text(reply, {200, 40}, Colour::no).find("for Atlas (https://a:1)") != std::string::npos);
  json::Value& projects = reply["status"]["projects"];
  projects.push_back(json::Value{{"name", "Birds"}, {"suspended", true}, {"state", "you suspended it"}});
  projects.push_back("nonsense");
  const std::string several = reply_text("status", reply, Colour::no);
  CHECK(several.find("Atlas at https://a:1: host 4, share 3, 75 % recently, last contact 7 s ago; computing "
                     "on 1 core\n") != std::string::npos);
  CHECK(several.find("you suspended it") != std::string::npos);
  CHECK(several.find(" words (Atlas): unit 9") != std::string::npos);
  CHECK(top_text(reply, {200, 40}, Colour::no).find("Atlas 75 %, Birds 0 % (suspended)") !=
        std::string::npos);
  const std::string table = projects_text(projects);
  CHECK(table.find("0123456789abcdef  Atlas") != std::string::npos);
  CHECK(table.find("computing on 1 core\n") != std::string::npos);
  CHECK(projects_text({}).find("recently") != std::string::npos);
}

}  // namespace
}  // namespace gleaner::program
