// gleaner-sim run and replay as they are used: files, exit codes, JSON.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "shared/json/text.h"
#include "tests/catch.h"
#include "tools/simulator/command/commands.h"

using namespace gleaner;
using namespace gleaner::simulator;

namespace {

class Directory {
 public:
  Directory() {
    std::string name = (std::filesystem::temp_directory_path() / "gleaner-sim-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string file(const std::string& name, const std::string& text = "") const {
    const std::string path = (path_ / name).string();
    if (!text.empty()) std::ofstream(path, std::ios::binary) << text;
    return path;
  }

 private:
  std::filesystem::path path_;
};

struct Ended {
  int code = 0;
  std::string out, error;
};

Ended call(std::vector<std::string> arguments) {
  std::ostringstream out, error;
  Console console{out, error, false};
  const int code = run_program(console, std::move(arguments));
  return {code, out.str(), error.str()};
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::string four = R"([problem]
items = 200
item_seconds = 1
[[fleet]]
speeds = [10, 5, 2, 1]
[network]
request_delay = 0.05
)";

}  // namespace

TEST_CASE("run prints every strategy and straggler rule with its interval") {
  const Directory directory;
  const std::string path = directory.file("four.toml", four), csv = directory.file("runs.csv");
  const Ended ended = call({"run", path, "--strategy", "wis", "--strategy", "static", "--straggler", "split",
                            "--straggler", "none", "--seeds", "3-5", "--json", "--csv", csv});
  INFO(ended.error);
  REQUIRE(ended.code == 0);
  const json::Value answer = json::parse_or_null(ended.out);
  CHECK(answer["scenario"].string() == "four");
  REQUIRE(answer["strategies"].size() == 4);
  for (const json::Value& entry : answer["strategies"].elements()) {
    CHECK(entry["mean"]["ratio"].number() >= 1);
    CHECK(entry["runs"].size() == 3);
    CHECK(entry["runs"][0]["seed"].integer() == 3);
  }
  const std::string table = contents(csv);
  CHECK(std::count(table.begin(), table.end(), '\n') == 1 + 4 * 3);
  CHECK(call({"run", path}).out.find("gleaner, split") != std::string::npos);
}

TEST_CASE("run writes plots and a table of the hosts") {
  const Directory directory;
  const std::string path = directory.file("four.toml", four), plots = directory.file("plots"),
                    hosts = directory.file("hosts.csv");
  REQUIRE(call({"run", path, "--plots", plots, "--hosts", hosts}).code == 0);
  for (const char* name : {"run1_gantt.csv", "run1_gantt.gp", "run1_idle.csv", "run1_sizes.csv"}) {
    INFO(name);
    CHECK(std::filesystem::file_size(plots + "/" + name) > 50);
  }
  const std::string table = contents(hosts);
  CHECK(table.find("# four, gleaner, split, seed 1\nhost,class,slots,") == 0);
  CHECK(std::count(table.begin(), table.end(), '\n') == 2 + 4);
}

TEST_CASE("a log that run writes replays; one that was changed ends with 1") {
  const Directory directory;
  const std::string path = directory.file("four.toml", four), log = directory.file("a.log");
  REQUIRE(call({"run", path, "--log", log}).code == 0);
  const Ended same = call({"replay", log});
  CHECK(same.code == 0);
  CHECK(same.out.find("lead to the same") != std::string::npos);
  std::string text = contents(log);
  const auto at = text.find("slot 0: unit 3 ");
  REQUIRE(at != std::string::npos);
  text.replace(at, 15, "slot 0: unit 4 ");
  const Ended changed = call({"replay", directory.file("b.log", text), "--json"});
  CHECK(changed.code == 1);
  const json::Value answer = json::parse_or_null(changed.out);
  CHECK_FALSE(answer["same"].boolean());
  CHECK(answer["parting"]["line"].integer() > 1);
  // A log whose writer was killed ends in mid-line.
  CHECK(call({"replay", directory.file("c.log", contents(log).substr(0, at + 5))}).code == 0);
}

TEST_CASE("what run and replay cannot do is said, with 1; wrong usage with 2") {
  const Directory directory;
  const std::string path = directory.file("four.toml", four);
  CHECK(call({"run", directory.file("none.toml")}).code == 1);
  CHECK(call({"run", path, "--strategy", "nonsense"}).code == 1);
  CHECK(call({"run", path, "--straggler", "nonsense"}).code == 1);
  CHECK(call({"run", path, "--seeds", "5-3"}).error.find("--seeds: expected") != std::string::npos);
  CHECK(call({"run", path, "--set", "items"}).error.find("--set: expected key=value") != std::string::npos);
  CHECK(
      call({"run", path, "--seeds", "1-2", "--log", directory.file("a.log")}).error.find("--log: name one") !=
      std::string::npos);
  CHECK(call({"run"}).code == 2);
  CHECK(call({"run", path, "--nonsense"}).code == 2);
  CHECK(call({"replay", directory.file("none.log")}).code == 1);
  CHECK(call({"replay", directory.file("bad.log", "{}\n")}).error.find("bad.log:1: dispatch: is missing") !=
        std::string::npos);
  CHECK(call({"replay", directory.file("empty.log", "\n")}).error.find("the file is empty") !=
        std::string::npos);
  CHECK(call({"replay", directory.file("stage.log", "{\"gleaner_stage_log\":3}\n")})
            .error.find("stage.log:1: gleaner_stage_log: logs of a stage or of verdicts") !=
        std::string::npos);
}

TEST_CASE("a mistake in an instance names the file, the line, the key and what was expected") {
  const Directory directory;
  const auto mistake = [&](const std::string& command, const std::string& text) {
    const std::string file = directory.file("i.json", text);
    const Ended ended = call({command, file, "--strategy", command == "map" ? "mm" : "wis"});
    CHECK(ended.code != 0);
    const std::size_t at = ended.error.find("i.json");
    return at == std::string::npos ? ended.error : ended.error.substr(at, ended.error.find('\n', at) - at);
  };
  CHECK(mistake("map", "{\"rates\": [1],\n \"sizes\": [1, -1]}") ==
        "i.json:2: sizes[1]: expected a number from 0 on, got -1");
  CHECK(mistake("map", "{\"rates\": [0], \"sizes\": [1]}") ==
        "i.json:1: rates[0]: expected a number above 0, got 0");
  CHECK(mistake("map", "{\"rates\": [1]}") == "i.json:1: sizes: expected a list of numbers; it is missing");
  CHECK(mistake("map", "{\"rates\": [1], \"sizes\": [1],\n\n\"speed\": 1}")
            .find("i.json:3: speed: is not known here") == 0);
  CHECK(mistake("map", "{\"rates\": [1, 2], \"sizes\": [1], \"communication\": [[1]]}") ==
        "i.json:1: communication[0]: expected a list with a number for each host, 2 in all, got [1]");
  CHECK(mistake("sizes", "{\"items\": 5,\n\"hosts\": [{\"speed\": 1},\n{\"speed\": \"fast\"}]}") ==
        "i.json:2: hosts[1].speed: expected a number above 0, got \"fast\"");
  CHECK(mistake("sizes", "{\"items\": 2, \"costs\": [1], \"hosts\": [{\"speed\": 1}]}") ==
        "i.json:1: costs: expected a number for each item, 2 in all, got 1");
  CHECK(mistake("sizes", "{\"items\": 0}") ==
        "i.json:1: items: expected a whole number from 1 to 10000000, got 0");
  CHECK(mistake("sizes", "{").find("i.json: not JSON at line 1, column 2: ") == 0);
  CHECK(mistake("sizes", "[]") == "i.json: expected an object in braces, got []");
}
