#include "tools/admin/progress.h"

#include <sstream>

#include "tests/catch.h"
#include "tools/admin/figures.h"

namespace gleaner::admin {
namespace {

protocol::ProblemInfo a_problem() {
  protocol::ProblemInfo problem;
  problem.id = ProblemId{3};
  problem.name = "picture";
  problem.state = protocol::ProblemState::running;
  problem.items = 640;
  problem.accepted = 160;
  problem.cost = 1280;
  problem.cost_accepted = 640;
  problem.rate = 12.34;
  problem.eta_seconds = 52;
  problem.hosts = 4;
  problem.units = 38;
  problem.open_units = 6;
  problem.splits = 3;
  problem.recovered = 2;
  problem.duplicates = 1;
  problem.elapsed_seconds = 61;
  return problem;
}

}  // namespace

TEST_CASE("a bar is full only when all is done", "[progress]") {
  CHECK(progress_bar(0, 12, {}) == "[..........]");
  CHECK(progress_bar(0.5, 12, {}) == "[#####.....]");
  CHECK(progress_bar(0.999, 12, {}) == "[#########.]");
  CHECK(progress_bar(1, 12, {}) == "[##########]");
  CHECK(progress_bar(7, 12, {}) == "[##########]");
  CHECK(progress_bar(-1, 12, {}) == "[..........]");
  CHECK(progress_bar(0.0 / 0.0, 12, {}) == "[..........]");
  Display unicode;
  unicode.unicode = true;
  CHECK(progress_bar(0.5, 4, unicode) == "[█░]");
}

TEST_CASE("progress is by cost where there are costs", "[progress]") {
  protocol::ProblemInfo problem = a_problem();
  CHECK(fraction_of(problem) == 0.5);
  problem.cost = 0;
  CHECK(fraction_of(problem) == 0.25);
  problem.items = 0;
  CHECK(fraction_of(problem) == 0);
  problem.state = protocol::ProblemState::finished;
  CHECK(fraction_of(problem) == 1);
}

TEST_CASE("progress is of the whole problem where the server tells", "[progress]") {
  protocol::ProblemInfo problem = a_problem();
  problem.done = 0.125;  // its second stage of four
  CHECK(fraction_of(problem) == 0.125);
}

TEST_CASE("an end is told with how far off it may be", "[progress]") {
  protocol::ProblemInfo problem = a_problem();
  CHECK(time_left_text(problem) == "52 s left");  // of a server that does not tell
  problem.eta_low_seconds = 44;
  problem.eta_high_seconds = 62;
  CHECK(time_left_text(problem) == "44 to 62 s left");
  problem.eta_seconds = problem.eta_low_seconds = problem.eta_high_seconds = 0;
  CHECK(time_left_text(problem) == "0 s left");
  problem.state = protocol::ProblemState::finished;
  CHECK(time_left_text(problem) == "-");
}

TEST_CASE("what a problem waits for has a line of its own", "[progress]") {
  protocol::ProblemInfo problem = a_problem();
  problem.eta_seconds = -1;
  problem.waits = "no host has joined yet\n\x1b[31m";
  const auto log = progress_lines(problem, {});
  REQUIRE(log.size() == 1);
  CHECK(log.front().find("time left not known yet") != std::string::npos);
  CHECK(log.front().find(", waits: no host has joined yet") != std::string::npos);
  CHECK(log.front().find('\x1b') == std::string::npos);
  Display display;
  display.terminal = true;
  display.columns = 80;
  const auto lines = progress_lines(problem, display);
  REQUIRE(lines.size() == 4);
  CHECK(lines.back().find("waits: no host has joined yet") == 0);
}

TEST_CASE("a log's line says everything", "[progress]") {
  const auto lines = progress_lines(a_problem(), {});
  REQUIRE(lines.size() == 1);
  CHECK(lines.front() ==
        "3 picture: running [##########..........]  50.0 %, 160/640 items, 12.3 cost/s, 52 s left, 4 hosts, "
        "38 units, 6 open, 3 splits, 2 recovered, 1 duplicate, elapsed 61 s");
}

TEST_CASE("a terminal's lines fit", "[progress]") {
  Display display;
  display.terminal = true;
  protocol::ProblemInfo problem = a_problem();
  problem.stage = 1;
  problem.stage_name = "columns";
  problem.name = "a problem with a long name of sixty-four bytes";
  for (int columns = 20; columns < 200; ++columns) {
    display.columns = columns;
    const auto lines = progress_lines(problem, display);
    REQUIRE(lines.size() == 3);
    for (const auto& line : lines) CHECK(columns_of(line) < columns);
  }
  display.columns = 120;
  const auto lines = progress_lines(a_problem(), display);
  CHECK(lines == std::vector<std::string>{
                     "3 picture  running  12.3 cost/s, 52 s left, 4 hosts",
                     "[#############################.............................]  50.0 %  160/640 items",
                     "38 units, 6 open, 3 splits, 2 recovered, 1 duplicate  61 s"});
}

TEST_CASE("endings", "[progress]") {
  protocol::ProblemInfo problem = a_problem();
  problem.state = protocol::ProblemState::finished;
  problem.wasted_cost = 640;  // of the last stage, as of a server that tells no more
  CHECK(ending_text(problem) ==
        "problem 3 (picture) finished in 61 s: 38 units, 3 splits, 1 duplicate, 50.0 % of the computing "
        "wasted");
  problem.state = protocol::ProblemState::failed;
  problem.message = "combining failed:\n\x1b[31mno space";
  CHECK(ending_text(problem).find("problem 3 (picture) failed: combining failed: ") == 0);
  CHECK(ending_text(problem).find('\x1b') == std::string::npos);
}

TEST_CASE("live text replaces itself on a terminal only", "[progress]") {
  Display display;
  std::ostringstream log;
  LiveText in_log(log, display);
  in_log.draw({"a"});
  in_log.draw({"b"});
  CHECK(log.str() == "a\nb\n");
  display.terminal = true;
  std::ostringstream screen;
  LiveText on_screen(screen, display);
  on_screen.draw({"a", "b"});
  on_screen.draw({"c"});
  CHECK(screen.str() == "a\nb\n\x1b[1A\x1b[2K\x1b[1A\x1b[2Kc\n");
}

}  // namespace gleaner::admin
