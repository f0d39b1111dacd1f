#include "shared/usage/usage.h"

#include <algorithm>

#include "tests/catch.h"

namespace gleaner::usage {
namespace {

// What a program with `problem list|show NAME|cancel` and `status` says of these words.
std::string said_of(std::vector<std::string> words) {
  CLI::App program("A program.", "grid");
  std::string name;
  bool json = false;
  program.add_flag("--json", json);
  program.fallthrough();
  program.require_subcommand(1);
  CLI::App* problem = program.add_subcommand("problem");
  problem->require_subcommand(1);
  problem->add_subcommand("list");
  problem->add_subcommand("show")->add_option("name", name)->required();
  problem->add_subcommand("cancel");
  program.add_subcommand("status");
  std::reverse(words.begin(), words.end());
  try {
    program.parse(words);
  } catch (const CLI::ParseError& mistake) {
    return explain(program, mistake);
  }
  return "understood";
}

TEST_CASE("A command that does not exist is named, with the nearest that does") {
  CHECK(said_of({"problem", "lst"}) == "`grid problem` has no command `lst`: did you mean `list`?");
  CHECK(said_of({"problm", "list"}) == "`grid` has no command `problm`: did you mean `problem`?");
  CHECK(said_of({"--json", "problem", "cancle", "1"}) ==
        "`grid problem` has no command `cancle`: did you mean `cancel`?");
  CHECK(said_of({"dance"}) == "`grid` has no command `dance` (see `grid --help`)");
}

TEST_CASE("Where a command is missing, those that there are are listed") {
  CHECK(said_of({}) == "`grid` needs a command: problem, status (see `grid --help`)");
  CHECK(said_of({"problem", "--json"}) ==
        "`grid problem` needs a command: list, show, cancel (see `grid problem --help`)");
}

TEST_CASE("What else is wrong is said with the command that explains it") {
  CHECK(said_of({"problem", "show"}) == "name is required (see `grid problem show --help`)");
  CHECK(said_of({"status", "--colour"}).find("--colour") != std::string::npos);
  CHECK(said_of({"problem", "list"}) == "understood");
}

}  // namespace
}  // namespace gleaner::usage
