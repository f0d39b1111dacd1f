#include "tools/admin/flow_file.h"

#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::admin;

namespace {

const std::string head = "flow = 1\nname = \"study\"\n";

std::string mistakes(const std::string& nodes, const std::string& before = head) {
  const auto flow = parse_flow(before + nodes, "dir/study.toml");
  return flow.ok() ? "none" : flow.error().message;
}

}  // namespace

TEST_CASE(
    "a flow's nodes come after those that they need, with files beside the flow's and results of nodes") {
  const auto flow = parse_flow(head + R"(
[[node]]
name = "last"
app = "gzip"
inputs = ["rows.tar=first/rows.tar", "second/table.csv", "./first/x", "first/a/b"]
after = ["third"]
weight = 2.5
priority = 3
strategy = "wis"
straggler = "none"
validation = "quorum:2"
parameters = { level = 9, deep = { a = [1, 2] } }

[[node]]
name = "second"
app = "logistic@1.0.0"
table = "runs.csv"
after = ["first"]

[[node]]
name = "first"
app = "x"

[[node]]
name = "third"
app = "x"
)",
                               "dir/study.toml");
  if (!flow.ok()) FAIL(flow.error().message);
  REQUIRE(flow->nodes.size() == 4);
  const auto place = [&](const std::string& name) {
    for (std::size_t i = 0; i < 4; ++i)
      if (flow->nodes[i].name == name) return i;
    return std::size_t{4};
  };
  CHECK(place("first") < place("second"));
  CHECK(place("second") < place("last"));
  CHECK(place("third") < place("last"));
  const FlowNode& last = flow->nodes[place("last")];
  CHECK(last.after == std::vector<std::string>{"first", "second", "third"});
  REQUIRE(last.inputs.size() == 4);
  CHECK((last.inputs[0].node == "first" && last.inputs[0].result == "rows.tar" &&
         last.inputs[0].name == "rows.tar"));
  CHECK((last.inputs[1].node == "second" && last.inputs[1].name == "table.csv"));
  CHECK((last.inputs[2].node.empty() && last.inputs[2].file == "dir/./first/x"));
  CHECK((last.inputs[3].node.empty() && last.inputs[3].file == "dir/first/a/b"));
  CHECK(last.problem.name == "study/last");
  CHECK(last.problem.application == "gzip");
  CHECK((last.problem.weight == 2.5 && last.problem.priority == 3));
  CHECK((last.problem.strategy == "wis" && last.problem.straggler == "none" &&
         last.problem.validation == "quorum:2"));
  CHECK(last.problem.parameters == R"({"deep":{"a":[1,2]},"level":9})");
  const FlowNode& second = flow->nodes[place("second")];
  REQUIRE(second.inputs.size() == 1);
  CHECK((second.inputs[0].name == "table.csv" && second.inputs[0].file == "dir/runs.csv"));
  CHECK(second.problem.parameters == "{}");
}

TEST_CASE("all that is wrong with a flow is said, each with its node") {
  const std::string good = "[[node]]\nname = \"a\"\napp = \"x\"\n";
  CHECK(mistakes(good) == "none");
  CHECK(mistakes("").find("expected [[node]]") != std::string::npos);
  CHECK(mistakes(good, "name = \"study\"\n") == "dir/study.toml: flow: missing: expected flow = 1");
  CHECK(mistakes(good, "flow = 2\nname = \"s\"\n").find("flow: expected") != std::string::npos);
  CHECK(mistakes(good, "flow = 1\nname = \"a/b\"\n").find("name: expected 1 to 30") != std::string::npos);
  CHECK(mistakes(good + good) == "dir/study.toml: node a: there are two of this name");
  CHECK(mistakes("[[node]]\nname = \"a b\"\napp = \"x\"\n").find("node 1: name: expected letters") !=
        std::string::npos);
  CHECK(mistakes("[[node]]\nname = \"a\"\nweight = \"x\"\nafter = \"b\"\nlimit = 3\n") ==
        "dir/study.toml: node a: app: missing, the application\n"
        "dir/study.toml: node a: weight: expected a number\n"
        "dir/study.toml: node a: after: expected a list\n"
        "dir/study.toml: node a: limit: unknown key");
  CHECK(mistakes(good + "after = [\"b\"]\n") == "dir/study.toml: node a: after: there is no node b");
  CHECK(mistakes(good + "inputs = [\"b/..\"]\n").find("plain file name") != std::string::npos);
  const std::string circle =
      good + "after = [\"b\"]\n[[node]]\nname = \"b\"\napp = \"x\"\ninputs = [\"a/out\"]\n";
  CHECK(mistakes(circle) ==
        "dir/study.toml: node a: it waits for itself in a circle\n"
        "dir/study.toml: node b: it waits for itself in a circle");
}
