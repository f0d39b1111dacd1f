// flow run against a scripted server: what --again does with nodes that are stopped.
#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/admin/test_world.h"

namespace gleaner::admin {
namespace {

using protocol::ProblemState;

protocol::ProblemInfo node_problem(std::int64_t id, const std::string& name, ProblemState state) {
  protocol::ProblemInfo problem;
  problem.id = ProblemId{id};
  problem.name = name;
  problem.application = "square@1.0";
  problem.state = state;
  problem.parameters = "{}";
  return problem;
}

struct StoppedFlow {
  TestWorld world;
  io::Path file =
      world.write("late.toml", "flow = 1\nname = \"late\"\n[[node]]\nname = \"a\"\napp = \"square\"\n");

  StoppedFlow() {
    world.add_profile();
    list({node_problem(1, "late/a", ProblemState::stopped)});
    const auto problem = protocol::encode(node_problem(1, "late/a", ProblemState::stopped));
    for (const char* call : {"GET /v1/admin/problems/1?inputs=true", "POST /v1/admin/problems/1/retry",
                             "POST /v1/admin/problems/1/cancel"})
      world.server.on(call, 200, problem);
    world.server.on("POST /v1/admin/problems", 200,
                    protocol::encode(node_problem(2, "late/a.2", ProblemState::running)));
  }
  void list(const std::vector<protocol::ProblemInfo>& problems) {
    world.server.on("GET /v1/admin/problems", 200, protocol::encode(problems));
  }
  void newest_version(const std::string& version) {
    protocol::ApplicationInfo application;
    application.name = "square";
    application.version = version;
    application.archive = std::string(64, 'a');
    world.server.on("GET /v1/admin/applications/square", 200, protocol::encode(application));
  }
  int run(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"flow", "run", file.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return world.run(arguments);
  }
  [[nodiscard]] std::vector<std::string> changes() const {
    std::vector<std::string> posted;
    for (const auto& each : world.server.calls())
      if (each.call.starts_with("POST") && each.call != "POST /v1/admin/flows") posted.push_back(each.call);
    return posted;
  }
};

}  // namespace

TEST_CASE("a stopped node stays so unless it is to be tried again", "[flow]") {
  StoppedFlow f;
  CHECK(f.run() == 1);
  CHECK(f.changes().empty());
}

TEST_CASE("a stopped node goes on with what is accepted", "[flow]") {
  StoppedFlow f;
  f.newest_version("1.0");
  f.list({node_problem(1, "late/a", ProblemState::finished)});
  CHECK(f.run({"--again"}) == 0);
  CHECK(f.changes() == std::vector<std::string>{"POST /v1/admin/problems/1/retry"});
}

TEST_CASE("a stopped node is replaced where another version would be added now", "[flow]") {
  StoppedFlow f;
  f.newest_version("1.1");
  f.list({node_problem(1, "late/a", ProblemState::cancelled)});
  f.list({node_problem(1, "late/a", ProblemState::cancelled),
          node_problem(2, "late/a.2", ProblemState::finished)});
  CHECK(f.run({"--again"}) == 0);
  CHECK(f.changes() ==
        std::vector<std::string>{"POST /v1/admin/problems/1/cancel", "POST /v1/admin/problems"});
  for (const auto& each : f.world.server.calls())
    if (each.call == "POST /v1/admin/problems")
      CHECK(each.request.body.find("\"late/a.2\"") != std::string::npos);
}

}  // namespace gleaner::admin
