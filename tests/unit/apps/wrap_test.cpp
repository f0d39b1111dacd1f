#include <filesystem>
#include <fstream>

#include "apps/wrap/command.h"
#include "apps/wrap/comparison.h"
#include "apps/wrap/item.h"
#include "apps/wrap/items.h"
#include "apps/wrap/wrap_manager.h"
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

namespace {

Bytes without(const std::vector<std::string>& rules, const Bytes& file) {
  const auto ignored = Ignored::parse(rules);
  REQUIRE(ignored.ok());
  return ignored->remove_from(file);
}

Bytes chunk(const std::string& type, const Bytes& content) {
  Bytes bytes(3, '\0');
  bytes += static_cast<char>(content.size());
  return bytes + type + content + "CRC!";
}

}  // namespace

TEST_CASE("A PNG loses its times and texts, and nothing else") {
  const Bytes signature = "\x89PNG\r\n\x1a\n";
  const Bytes head = chunk("IHDR", "size"), pixels = chunk("IDAT", "pixels"), end = chunk("IEND", "");
  const Bytes dated =
      signature + head + chunk("tIME", "2026") + chunk("tEXt", "by me") + pixels + chunk("iTXt", "x") + end;
  CHECK(without({"png"}, dated) == signature + head + pixels + end);
  CHECK(without({"gzip", "tar"}, dated) == dated);
  const Bytes other = "JPEG" + dated;
  CHECK(without({"png"}, other) == other);
  for (std::size_t length = 0; length < dated.size(); ++length)  // one that is cut: what is whole is cleaned
    CHECK(without({"png"}, dated.substr(0, length)).size() <= length);
  const Bytes lying = signature + Bytes("\xff\xff\xff\xfftEXt", 8) + "x";
  CHECK(without({"png"}, lying) == lying);
}

TEST_CASE("A gzip file loses its time") {
  const Bytes file("\x1f\x8b\x08\x00\x12\x34\x56\x78\x02\x03more", 14);
  CHECK(without({"gzip"}, file) == Bytes("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03more", 14));
  CHECK(without({"gzip"}, file.substr(0, 9)) == file.substr(0, 9));
}

TEST_CASE("A tar archive loses times and owners of all entries, and stays one") {
  const auto archive = [](const std::string& user, const std::string& time, const std::string& sum) {
    Bytes file;
    for (const std::string& content : {std::string("first"), std::string(600, 'x')}) {
      Bytes header(512, '\0');
      char size[12];
      std::snprintf(size, sizeof size, "%011o", static_cast<unsigned>(content.size()));
      header.replace(0, 4, "name").replace(100, 7, "0000644").replace(108, 7, user).replace(116, 7, user);
      header.replace(124, 11, size).replace(136, 11, time).replace(148, 6, sum).replace(257, 5, "ustar");
      header.replace(265, 4, time.substr(0, 4));
      file += header + content + Bytes((512 - content.size() % 512) % 512, '\0');
    }
    return file + Bytes(1024, '\0');
  };
  const Bytes one = without({"tar"}, archive("0001750", "15132435261", "001234"));
  CHECK(one == without({"tar"}, archive("0000144", "15132435777", "004321")));
  CHECK(one.substr(512, 5) == "first");
  CHECK(one.substr(136, 11) == "00000000000");
  unsigned sum = 8 * ' ';
  for (std::size_t i = 0; i < 512; ++i)
    if (i < 148 || i >= 156) sum += static_cast<unsigned char>(one[i]);
  CHECK(std::stoul(one.substr(148, 6), nullptr, 8) == sum);
  const Bytes text(600, 'x');
  CHECK(without({"tar"}, text) == text);
}

TEST_CASE("Lines that an expression finds are removed, others stay as they are") {
  const Bytes text = "P6\n# made at 12:00\r\n4 4\nat 12:00\nlast at 12";
  CHECK(without({"lines=^# made at "}, text) == "P6\n4 4\nat 12:00\nlast at 12");
  CHECK(without({"lines=^# made", "lines=at 12$"}, text) == "P6\n4 4\nat 12:00\n");
  CHECK(without({"lines=nothing"}, text) == text);
  const Bytes longer = Bytes(2000, 'x') + "\nx\n";
  CHECK(without({"lines=x"}, longer) == Bytes(2000, 'x') + "\n");  // no text has such lines
  CHECK(without({"lines=x"}, "").empty());
}

TEST_CASE("Rules that are not known are refused") {
  for (const char* rule : {"", "PNG", "lines", "lines=(", "jpeg"}) CHECK_FALSE(Ignored::parse({rule}).ok());
  CHECK_FALSE(command("[]", R"(,"ignore":["jpeg"])").ok());
  CHECK(command("[]", R"(,"ignore":["png","lines=^x"])").ok());
}

TEST_CASE("A rule is proposed that makes outputs of equal runs equal, or none") {
  const Bytes png = "\x89PNG\r\n\x1a\n" + chunk("IHDR", "size");
  CHECK(proposed_rules(png + chunk("tEXt", "one"), png + chunk("tEXt", "another")) ==
        std::vector<std::string>{"png"});
  CHECK(proposed_rules(png + chunk("IDAT", "one"), png + chunk("IDAT", "two")).empty());
  CHECK(proposed_rules("# made (at) Sat 12:00:01\n1\n", "# made (at) Sun 12:00:02\n1\n") ==
        std::vector<std::string>{R"(lines=^# made \(at\) )"});
  CHECK(proposed_rules("Date: 12:01\n1\nSeconds: 3\n", "Date: 12:02\n1\nSeconds: 4\n") ==
        std::vector<std::string>{"lines=^Date: ", "lines=^Seconds: "});
  CHECK(proposed_rules("0.25\n", "0.26\n").empty());  // the result itself
  CHECK(proposed_rules("Date: 1\n0.25\n", "Date: 2\n0.26\n").empty());
  CHECK(proposed_rules("", "Date: 1\n").empty());
  CHECK(proposed_rules("energy = 0.25\n", "energy = 0.26\n").empty());  // no date
  CHECK(proposed_rules("time step 3: 0.25\n", "time step 3: 0.26\n").empty());
  CHECK(proposed_rules("took (s): 0.25\n", "took (s): 0.26\n") ==
        std::vector<std::string>{R"(lines=^took \(s\): )"});
  const std::string timed = "elapsed 1.5\n3\n", again = "elapsed 1.6\n3\n";
  CHECK_FALSE(proposed_rules(timed, again, {{"result", "^(\\d+)$"}}).empty());
  CHECK(proposed_rules(timed, again, {{"speed", "^elapsed (.*)"}}).empty());
}

TEST_CASE("The kept files of an item are read without knowing whose it is") {
  Outcome outcome;
  outcome.files = {"first", "", "third"};
  const Bytes item = seal("somebody", outcome);
  CHECK(files_in(item) == std::vector<std::string_view>{"first", "", "third"});
  CHECK(files_in(seal("somebody", {"exit 3", "words", {}})).empty());
  CHECK(files_in("short").empty());
}

namespace {

// A program of the shell, in a directory of its own.
struct Comparer {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("gleaner-compare-test-" + std::to_string(::getpid()));
  explicit Comparer(const std::string& text) {
    std::ofstream(path) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  ~Comparer() { std::filesystem::remove(path); }
  [[nodiscard]] std::string of(const std::string& one, const std::string& other) const {
    const auto found = Comparison(path, std::chrono::seconds{2}).of(".txt", one, other);
    REQUIRE(found.ok());
    return *found;
  }
};

}  // namespace

TEST_CASE("a program of the author decides whether two results are equal") {
  const Comparer same_size(
      "[ $(wc -c <$1) = $(wc -c <$2) ] && exit 0\necho \"$1 and $2 differ\"; echo more; exit 1\n");
  CHECK(same_size.of("abc", "xyz").empty());
  CHECK(same_size.of("abc", "x") == "compare-1.txt and compare-2.txt differ");
  CHECK_FALSE(std::filesystem::exists("compare-1.txt"));
}

TEST_CASE("a comparison that fails, talks or hangs finds a difference, is over, and says that it failed") {
  const auto failed = [](const std::string& text, const std::string& end) {
    return text.starts_with("failed: ") && text.ends_with(end);
  };
  CHECK(failed(Comparer("exit 7\n").of("a", "b"), " exited with status 7"));
  CHECK(failed(Comparer("echo no module; exit 2\n").of("a", "b"), " exited with status 2: no module"));
  CHECK(failed(
      Comparer("printf 'Traceback (most recent call last):\\n  x\\nValueError: y\\n'; exit 1\n").of("a", "b"),
      ": ValueError: y"));
  CHECK(failed(Comparer("kill -9 $$\n").of("a", "b"), " was killed by signal 9"));
  CHECK(failed(Comparer("exec yes\n").of("a", "b"), " took too long"));
  CHECK(Comparer("exit 1\n").of("a", "b").ends_with(" exited with status 1"));
  CHECK_FALSE(Comparer("exit 1\n").of("a", "b").starts_with("failed: "));
  CHECK(Comparer("exec >&- 2>&-; exec sleep 60\n").of("a", "b").ends_with(" took too long"));
  CHECK(Comparer("head -c 100000 /dev/zero; exit 0\n").of("a", "b").empty());
  CHECK(Comparison("/no/such/program").of("", "a", "b").value().starts_with("failed: program: cannot start"));
}

TEST_CASE("rows are compared by the author's program where their bytes differ") {
  const Comparer accepts("exit 0\n");
  const ProblemDirectory directory;
  directory.put("table.csv", "x\n1\n2\n");
  const auto made = [&](const std::string& more) {
    return command(R"(["{x}"])", R"(,"rows":true)" + more).value();
  };
  const auto manager = [&](const std::string& more) {
    WrapManager begun(made(more));
    std::ofstream(directory.path / "parameters.json") << "{}";
    REQUIRE(begun.check(kit::Problem(directory.path)).ok());
    return begun;
  };
  const auto result = [](int row, const Outcome& outcome) {
    return seal("row " + std::to_string(row) + "," + std::to_string(row), outcome);
  };
  const Bytes one = result(1, {"", "", {"a"}}), other = result(1, {"", "", {"b"}});
  const Bytes failed = result(1, {"exit 3", "one", {}}), otherwise = result(1, {"exit 3", "two", {}});
  auto comparing = manager(R"(,"compare":")" + accepts.path.string() + R"(")");
  CHECK(comparing.compare(0, 0, one, other).value().empty());
  CHECK(comparing.compare(0, 0, failed, otherwise).value().empty());
  CHECK(comparing.compare(0, 0, one, failed).value() == "they ended otherwise");
  CHECK_FALSE(comparing.compare(0, 1, one, other).ok());  // of another row
  auto exact = manager("");
  CHECK(exact.compare(0, 0, one, other).value().starts_with("they differ first at byte"));
  CHECK(exact.compare(0, 0, failed, otherwise).value().empty());
  CHECK(exact.compare(0, 0, one, failed).value() == "they ended otherwise");
  const Comparer hangs("exec sleep 60\n");
  WrapManager waiting(made(R"(,"compare":")" + hangs.path.string() + R"(")"), std::chrono::milliseconds{300});
  REQUIRE(waiting.check(kit::Problem(directory.path)).ok());
  for (int i = 0; i < 3; ++i) CHECK(waiting.compare(0, 0, one, other).value().ends_with("took too long"));
  CHECK(waiting.compare(0, 0, one, other).value().ends_with("is not asked any more"));
}
