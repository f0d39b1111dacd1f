#include "client/agent/report/report.h"

#include "client/agent/report/notice.h"

#include "shared/base/clean_text.h"

#include "tests/catch.h"

namespace gleaner::agent {
namespace {
using namespace std::chrono_literals;
using Busy = SessionReport::Busy;

TEST_CASE("A report comes back as it was told") {
  SessionReport report;
  report.session = "c2";
  report.display = ":0";
  report.inputs = {{"X11 display :0", true, 0s, false}, {"Wayland", false, 90s, true}};
  report.locked = true;
  report.busy = {{Busy::Kind::full_screen, "mpv"}, {Busy::Kind::inhibitor, "a call"}};
  report.missing = {"the session's D-Bus does not answer"};
  report.takes_notices = true;
  const std::string line = encode(report);
  CHECK(line.find('\n') == std::string::npos);
  const auto back = decode(line);
  REQUIRE(back.ok());
  CHECK(*back == report);
  CHECK(*decode(encode(SessionReport{})) == SessionReport{});
}

TEST_CASE("The longest report fits, and what is too much is left out") {
  SessionReport report;
  const std::string quotes(10000, '"');
  const std::string slashes(10000, '\\');
  report.session = report.display = quotes;
  for (int i = 0; i < 100; ++i) {
    report.inputs.push_back({slashes, false, std::chrono::hours{1'000'000}, true});
    report.busy.push_back({Busy::Kind::inhibitor, quotes});
    report.missing.push_back(quotes);
  }
  const std::string line = encode(report);
  CHECK(line.size() <= report_line_bytes_max);
  const auto back = decode(line);
  REQUIRE(back.ok());
  CHECK(back->inputs.size() == report_inputs_max);
  CHECK(back->inputs[0].idle == report_idle_max);
  CHECK(back->busy.size() == report_busy_max);
  CHECK(back->missing.size() == report_missing_max);
  CHECK(back->session.size() == report_text_max);
}

TEST_CASE("A notice and its answer come back as they were told, and nothing else is one") {
  const Notice notice{7, "Gleaner needs you", "Room 12 no longer accepts this computer."};
  CHECK(*decode_notice(encode(notice)) == notice);
  const NoticeAnswer answer{7, false, "no program shows notifications"};
  CHECK(*decode_answer(encode(answer)) == answer);
  CHECK(is_answer(encode(answer)));
  CHECK_FALSE(is_answer(encode(SessionReport{})));
  const std::string quotes(10'000, '"');
  CHECK(encode(Notice{7, quotes, quotes}).size() <= notice_line_bytes_max);
  CHECK(encode(NoticeAnswer{7, false, quotes}).size() <= notice_line_bytes_max);
  for (const char* wrong :
       {"", "{}", R"({"version":2,"notice":1,"title":"x","text":"y"})",
        R"({"version":1,"notice":"1","title":"x","text":"y"})", R"({"version":1,"notice":1,"title":"x"})"})
    CHECK_FALSE(decode_notice(wrong).ok());
  CHECK_FALSE(decode_answer(R"({"version":1,"answer":1,"shown":1,"why":""})").ok());
}

TEST_CASE("What is no report is refused with a sentence") {
  for (const char* wrong :
       {"", "{", "[]", "{}", R"({"version":2})", R"({"version":1,"session":7})",
        R"({"version":1,"inputs":{}})", R"({"version":1,"inputs":[1]})",
        R"({"version":1,"inputs":[{"source":"x","active":1,"idle":0}]})",
        R"({"version":1,"inputs":[{"source":"x","active":false,"idle":-1}]})",
        R"({"version":1,"inputs":[{"source":"x","active":false,"idle":1e300}]})",
        R"({"version":1,"inputs":[{"active":true,"idle":0}]})", R"({"version":1,"locked":"yes"})",
        R"({"version":1,"busy":[{"kind":"asleep","what":"x"}]})", R"({"version":1,"missing":[1]})"}) {
    const auto report = decode(wrong);
    REQUIRE_FALSE(report.ok());
    CHECK_FALSE(report.error().message.empty());
  }
  CHECK(decode(std::string(report_line_bytes_max + 1, ' ')).error().kind == ErrorKind::too_large);
}

TEST_CASE("Nothing that a terminal would obey comes through") {
  CHECK(printable("mpv - film \"x\"") == "mpv - film \"x\"");
  CHECK(printable("gr\xC3\xBC\xC3\x9F") == "gr\xC3\xBC\xC3\x9F");
  CHECK(printable("\x1B[31mred\n") == "[31mred");
  CHECK(printable("\xC2\x9B"
                  "31m") == "31m");  // a control sequence in one character
  CHECK(printable("\xE2\x80\xAE"
                  "txt") == "txt");                        // turns what follows around
  CHECK(is_clean(printable("\xC0\x80\xFF\xED\xA0\x80")));  // no UTF-8 at all
  CHECK(printable(std::string(99, 'a') + "\xC3\xBC") ==
        std::string(97, 'a') + "...");  // never half a character
}

}  // namespace
}  // namespace gleaner::agent
