#include "client/policy/outside.h"

#include "tests/catch.h"

namespace gleaner::client_policy::outside_test {
namespace {
using namespace std::chrono_literals;

constexpr SteadyTime start{std::chrono::hours{1000}};

TEST_CASE("An answer is a word and its reason, and nothing else is one") {
  CHECK(parse_outside("yes")->share == 1);
  CHECK(parse_outside("yes\n")->reason.empty());
  const auto no = parse_outside("no power costs 41 ct\nmore lines\n");
  REQUIRE(no);
  CHECK(no->share == 0);
  CHECK(no->reason == "power costs 41 ct");
  CHECK(parse_outside("40% cloudy")->share == 0.4);
  CHECK(parse_outside("0%")->share == 0);
  CHECK(parse_outside("no \033[31mred")->reason.find('\033') == std::string::npos);
  CHECK(parse_outside("no " + std::string(5000, 'x'))->reason.size() <= 200);
  for (const char* text :
       {"", "\n", "  ", "maybe", "101%", "-1%", "40", "%", "nan%", "inf%", "YES", "{\"ok\":1}"})
    CHECK_FALSE(parse_outside(text));
}

TEST_CASE("No, a level, and yes are what they say, with the reason") {
  const std::string where = "/usr/local/bin/power", none;
  const auto says = [&](double share, const char* reason) {
    return judge_outside({where, 1min, OutsideAnswer{share, reason}, start, none, start + 5min});
  };
  CHECK_FALSE(says(1, "the sun shines").signal);
  CHECK(says(1, "the sun shines").detail == "outside signal: /usr/local/bin/power: yes: the sun shines");
  const auto no = says(0, "power is dear");
  CHECK(no.signal->allows == RunMode::pause);
  CHECK(no.signal->sentence == "the outside signal (/usr/local/bin/power) says no: power is dear");
  const RunDecision part = decide({}, {*says(0.4, "").signal});
  CHECK(part.mode == RunMode::throttle);
  CHECK(part.cpu_share == 0.4);
  CHECK(part.reason == "the outside signal (/usr/local/bin/power) says 40 %");
}

TEST_CASE("An answer holds for a while; then, as before the first, nothing is computed") {
  const std::string where = "http://127.0.0.1:1/", none, broken = "it did not answer within 10 s";
  CHECK(judge_outside({where, 1min, {}, {}, none, start}).signal->allows == RunMode::pause);
  const auto after = [&](Duration time, Duration interval) {
    return judge_outside({where, interval, OutsideAnswer{1, ""}, start, broken, start + time});
  };
  CHECK_FALSE(after(10min, 1min).signal);
  CHECK(after(10min, 1min).detail.find("since then: it did not answer") != std::string::npos);
  const auto late = after(10min + 1s, 1min);
  REQUIRE(late.signal);
  CHECK(late.signal->sentence.find("gives no answer: it did not answer within 10 s; `gleaner prefs set") !=
        std::string::npos);
  CHECK_FALSE(after(3h, 1h).signal);
  CHECK(after(3h + 1s, 1h).signal);
}

TEST_CASE("Only programs and servers of this computer are asked") {
  for (const char* good : {"http://127.0.0.1:8123/power", "http://localhost/", "http://[::1]:80/x?y=1"})
    CHECK(is_outside_server(good));
  for (const char* bad :
       {"http://127.0.0.1.example.org/", "http://localhost@example.org/", "https://127.0.0.1/",
        "http://localhost:80@example.org/", "http://192.168.1.1/", "/bin/true", "", "http://"})
    CHECK_FALSE(is_outside_server(bad));
  CHECK(is_outside_program("/usr/local/bin/power"));
  CHECK_FALSE(is_outside_program("power"));
}

}  // namespace
}  // namespace gleaner::client_policy::outside_test
