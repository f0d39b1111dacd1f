#include <filesystem>
#include <fstream>

#include "apps/wrap/command.h"
#include "apps/wrap/item.h"
#include "apps/wrap/items.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::wrap;

namespace {

Result<Command> command(const std::string& arguments, const std::string& more = "") {
  return parse_command(R"({"program":"bin/x","suffix":".gz","arguments":)" + arguments + more + "}",
                       "/bundle");
}

// A problem's directory, removed at the end.
struct ProblemDirectory {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("gleaner-wrap-test-" + std::to_string(::getpid()));
  ProblemDirectory() { std::filesystem::create_directories(path / "inputs"); }
  ~ProblemDirectory() { std::filesystem::remove_all(path); }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(path / "inputs" / name) << text;
  }
  [[nodiscard]] Result<Items> read(const Command& by) const { return Items::read(by, kit::Problem(path)); }
};

}  // namespace

TEST_CASE("words in braces stand for what they name") {
  const auto parsed =
      command(R"(["{{x}}","-o","{out}","{out.log}","{bundle}/data","{n}={file:f}"])", R"(,"rows":true)");
  REQUIRE(parsed.ok());
  CHECK(parsed->endings == std::vector<std::string>{".gz", ".log"});
  CHECK_FALSE(parsed->keeps_standard_output);
  const ProblemDirectory problem;
  problem.put("table.csv", "n,f\n5,one.txt\n6,two.txt\n");
  problem.put("one.txt", "1");
  problem.put("two.txt", "2");
  const auto items = problem.read(*parsed);
  REQUIRE(items.ok());
  CHECK(items->count() == 2);
  CHECK(items->name(1) == "row 2");
  CHECK(items->identity(1) == "row 2,6,two.txt");
  REQUIRE(items->check(*parsed).ok());
  const auto words = items->arguments(*parsed, 1);
  REQUIRE(words.ok());
  CHECK(*words ==
        std::vector<std::string>{"{x}", "-o", "out.gz", "out.log", "bundle/data", "6=inputs/two.txt"});

  problem.put("table.csv", "n,f\n5,one.txt\n6,three.txt\n");
  const auto missing = problem.read(*parsed);
  REQUIRE(missing.ok());
  CHECK(missing->check(*parsed).error().message ==
        "row 2 names the file \"three.txt\", which is none of the inputs: give it with --input");
  problem.put("table.csv", "m,f\n5,one.txt\n");
  const auto other = problem.read(*parsed);
  REQUIRE(other.ok());
  CHECK(other->check(*parsed).error().message ==
        "{n} is in the command, and the table has no such column, only m, f");
}

TEST_CASE("of a command that cannot be meant it is said why") {
  CHECK(command(R"(["{in}"])", R"(,"rows":true)").error().message ==
        "{in} is the item's file, and items are rows: name {file:COLUMN}");
  CHECK(command(R"(["{in"])").error().message == "a brace is not closed in {in: {{ stands for {");
  CHECK(parse_command("{}", "/bundle").error().message ==
        "wrap.json names no program: sign the bundle again");
  const auto files = command(R"(["{column}"])");
  REQUIRE(files.ok());
  CHECK(files->keeps_standard_output);
  const ProblemDirectory problem;
  CHECK(problem.read(*files).error().message ==
        "there is no input: give files with --input NAME=FILE, one an item");
  problem.put("a", "1");
  const auto items = problem.read(*files);
  REQUIRE(items.ok());
  CHECK(items->check(*files).error().message ==
        "{column} stands for nothing, as items are files: {{column}} is the text in braces");
}

TEST_CASE("an item is taken for what it is, and for nothing else") {
  const Outcome good{"", "", {"one", ""}};
  const Bytes item = seal("row 1,x", good);
  const auto read = unseal("row 1,x", 2, item);
  REQUIRE(read.ok());
  CHECK(read->status.empty());
  CHECK(read->files == good.files);
  CHECK_FALSE(unseal("row 2,x", 2, item).ok());
  CHECK_FALSE(unseal("row 1,x", 1, item).ok());
  CHECK_FALSE(unseal("row 1,x", 3, item).ok());
  for (std::size_t i = 0; i < item.size(); ++i) {
    Bytes damaged = item;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    CHECK_FALSE(unseal("row 1,x", 2, damaged).ok());
    CHECK_FALSE(unseal("row 1,x", 2, std::string_view(item).substr(0, i)).ok());
  }
  const auto failed = unseal("a", 2, seal("a", {"exit 3", "no such ligand", {}}));
  REQUIRE(failed.ok());
  CHECK(failed->status == "exit 3");
  CHECK(failed->words == "no such ligand");
  CHECK_FALSE(unseal("a", 0, seal("a", {"", "words", {}})).ok());
  CHECK_FALSE(unseal("a", 0, seal("a", {std::string(101, 'x'), "", {}})).ok());
  CHECK_FALSE(unseal("a", 0, seal("a", {"exit 3", std::string(4097, 'x'), {}})).ok());
}

TEST_CASE("a table goes on in files of the same columns") {
  const auto by = command(R"(["{x}"])", R"(,"rows":true)");
  REQUIRE(by.ok());
  const ProblemDirectory directory;
  directory.put("table.csv", "x,y\n1,2\n3,4\n");
  directory.put("table.csv.1", "x,y\n5,6\n");
  directory.put("table.csv.2", "x,y\n7,8\n9,\n");
  directory.put("table.csv.4", "x,y\n0,0\n");  // 3 is missing
  const auto items = directory.read(*by);
  REQUIRE(items.ok());
  REQUIRE(items->count() == 5);
  CHECK(items->row(1) == std::vector<std::string>{"3", "4"});
  CHECK(items->row(2) == std::vector<std::string>{"5", "6"});
  CHECK(items->row(4) == std::vector<std::string>{"9", ""});
  CHECK(items->identity(2) == "row 3,5,6");
  CHECK(*items->arguments(*by, 3) == std::vector<std::string>{"7"});
  directory.put("table.csv.2", "x;z\n7;8\n");
  CHECK(directory.read(*by).error().message ==
        "table.csv.2: its columns are x, z, and those of the rows before are x, y");
}
