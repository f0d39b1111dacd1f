#include "shared/usage/help.h"

#include "tests/catch.h"

namespace gleaner::usage {
namespace {

// The line of --help about one option; with its text below it, if that has no room beside.
std::string line_of(const CLI::App& program, const std::string& option) {
  const std::string help = program.help();
  const auto at = help.find("  " + option);
  REQUIRE(at != std::string::npos);
  std::string line = help.substr(at + 2, help.find('\n', at) - at - 2);
  if (line.find("   ") == std::string::npos) {
    const auto next = help.find('\n', at) + 1;
    line += help.substr(next, help.find('\n', next) - next);
  }
  const auto blanks = line.find("   ");
  return blanks == std::string::npos
             ? line
             : line.substr(0, blanks) + " | " + line.substr(line.find_first_not_of(' ', blanks));
}

TEST_CASE("--help names an option's value, and tells its bounds and default in its text") {
  CLI::App program("A program.", "grid");
  set_help_form(program);
  int port = 8443, count = 1;
  double large = 0, idle = 0;
  std::string name, kind, fleet, level;
  std::vector<std::string> tags, inputs;
  bool browser = true, partial = false;
  program.add_option("--port", port, "to listen on")->capture_default_str()->check(CLI::Range(1, 65535));
  program.add_option("--idle-seconds", idle, "without input")->check(CLI::Range(0.05, 3600.0));
  program.add_option("--bytes", large, "size")->check(CLI::Range(0.0, 1e12));
  auto* named = program.add_option("--name", name, "of it")->required()->type_name("NAME");
  program.add_option("--count", count, "how many")->type_name("N")->check(CLI::PositiveNumber);
  program.add_option("--head", fleet, "a head")->type_name("NUMBER:DIGEST")->needs(named);
  program.add_option("--kind", kind, "either a or b")->check(CLI::IsMember({"a", "b"}));
  program.add_option("--level", level, "of the log")->check(CLI::IsMember({"low", "high"}));
  program.add_option("--tag", tags, "of it")->type_name("TAG");
  program.add_option("--input", inputs, "a file (repeatable)")->type_name("FILE");
  program.add_flag("!--no-browser", browser, "only print")->excludes(named);
  program.add_flag("--partial", partial, "what there is");
  CHECK(line_of(program, "--port") == "--port PORT | to listen on (1 to 65535; default: 8443)");
  CHECK(line_of(program, "--idle-seconds") == "--idle-seconds SECONDS | without input (0.05 to 3600)");
  CHECK(line_of(program, "--bytes") == "--bytes BYTES | size");
  CHECK(line_of(program, "--name") == "--name NAME | of it (required)");
  CHECK(line_of(program, "--count") == "--count N | how many");
  CHECK(line_of(program, "--head") == "--head NUMBER:DIGEST | a head (only with --name)");
  CHECK(line_of(program, "--kind") == "--kind KIND | either a or b");
  CHECK(line_of(program, "--level") == "--level LEVEL | of the log (low, high)");
  CHECK(line_of(program, "--tag") == "--tag TAG ... | of it");
  CHECK(line_of(program, "--input") == "--input FILE | a file (repeatable)");
  CHECK(line_of(program, "--no-browser") == "--no-browser | only print");
  CHECK(line_of(program, "--partial") == "--partial | what there is");
}

TEST_CASE("A command's arguments go by their names, and the form is its commands', too") {
  CLI::App program("A program.", "grid");
  set_help_form(program);
  std::string directory, problem;
  CLI::App* show = program.add_subcommand("show", "Show it");
  show->add_option("DIR", directory, "the directory")->required();
  show->add_option("problem", problem, "its id")->type_name("ID|NAME");
  CHECK(line_of(*show, "DIR") == "DIR | the directory");
  CHECK(line_of(*show, "problem") == "problem ID|NAME | its id");
  CHECK(show->help().find("Usage: show [OPTIONS] DIR [problem]") != std::string::npos);
}

}  // namespace
}  // namespace gleaner::usage
