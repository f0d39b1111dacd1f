// Plans of flows, and which hosts can compute a problem: what people are told.
#include "server/service/core/flows.h"

#include "server/service/operator/suitable_hosts.h"
#include "tests/unit/says.h"
#include "tests/unit/service/model_text.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;

namespace {

Result<protocol::FlowInfo> put(World& world, const protocol::FlowInfo& flow) {
  return World::wait<protocol::FlowInfo>(
      [&](auto done) { world.service().views().flows().put(flow, std::move(done)); });
}

Result<protocol::FlowInfo> shown(World& world, const std::string& name) {
  return World::wait<protocol::FlowInfo>(
      [&](auto done) { world.service().views().flows().show(name, std::move(done)); });
}

// first, then left and right of it, then both.
protocol::FlowInfo study() {
  return {"study",
          {{"first", "numbers"},
           {"left", "numbers", {{"first", {"pieces.txt"}}}},
           {"right", "numbers", {{"first"}}},
           {"both", "numbers", {{"left"}, {"right"}}}}};
}

std::string states(const protocol::FlowInfo& flow) {
  std::string text;
  for (const auto& node : flow.nodes) text += node.name + " " + node.state + " ";
  return text;
}

ProblemId add_named(World& world, const std::string& name) {
  protocol::AddProblem request;
  request.application = "numbers";
  request.name = name;
  request.parameters = R"({"count": 3})";
  return must(world.try_add_problem(request)).id;
}

protocol::ProblemHosts hosts_of(World& world, ProblemId problem) {
  world.clock().advance(std::chrono::seconds{5});  // the last answer is too old then
  return must(World::wait<protocol::ProblemHosts>(
      [&](auto done) { world.service().views().problem_hosts(problem, std::move(done)); }));
}

}  // namespace

TEST_CASE("a flow is told, and its problems are found by their names, also after a restart") {
  World world;
  world.add_application();
  CHECK(shown(world, "study").error().kind == ErrorKind::not_found);
  CHECK(states(must(put(world, study()))) == "first waiting left waiting right waiting both waiting ");
  const ProblemId first = add_named(world, "study/first");
  const ProblemId other = add_named(world, "study/third");
  const auto running = must(shown(world, "study"));
  CHECK(states(running) == "first running left waiting right waiting both waiting ");
  CHECK(running.nodes[0].problem == first);
  CHECK(running.nodes[0].application == "numbers@1.0.0");
  CHECK(running.nodes[1].after[0].results == std::vector<std::string>{"pieces.txt"});
  CHECK(world.show(first).flow == "study");
  CHECK(world.show(other).flow.empty());  // the flow has no such node

  must(world.change(first, Problems::Action::cancel));
  CHECK(states(must(shown(world, "study"))) == "first cancelled left blocked right blocked both blocked ");
  const ProblemId again = add_named(world, "study/first.2");
  CHECK(must(shown(world, "study")).nodes[0].problem == again);
  world.restart();
  CHECK(states(must(shown(world, "study"))) == "first running left waiting right waiting both waiting ");
  CHECK(world.show(again).flow == "study");
  (void)world.memory();
}

TEST_CASE("a node that the server refused holds up only the nodes that need it") {
  World world;
  protocol::FlowInfo flow = study();
  flow.nodes[1].message = "there is no application numbers";
  flow.nodes[1].state = "finished";  // the server knows better
  CHECK(states(must(put(world, flow))) == "first waiting left refused right waiting both blocked ");
  CHECK(must(shown(world, "study")).nodes[1].message == "there is no application numbers");
  CHECK(states(must(put(world, study()))) == "first waiting left waiting right waiting both waiting ");
}

TEST_CASE("flows that cannot be are refused") {
  World world;
  const auto why = [&](const protocol::FlowInfo& flow) {
    const auto refused = put(world, flow);
    CHECK(refused.error().kind == ErrorKind::invalid);
    return refused.error().message;
  };
  protocol::FlowInfo flow = study();
  std::swap(flow.nodes[0], flow.nodes[3]);
  CHECK(says(why(flow), "both needs left, which is not before it"));
  flow = study();
  flow.nodes[1].name = "first";
  CHECK(says(why(flow), "two named first"));
  flow = study();
  flow.name = "a/b";
  CHECK(says(why(flow), "name"));
  flow.name = "study";
  flow.nodes[0].name = "a.2";
  CHECK(says(why(flow), "a name"));
}

TEST_CASE("of too many flows the oldest are forgotten") {
  World world;
  const auto wide = [](const std::string& name) {
    protocol::FlowInfo flow{name, {}};
    for (int i = 0; i < protocol::FlowInfo::nodes_max; ++i)
      flow.nodes.push_back({"n" + std::to_string(i), "numbers"});
    return flow;
  };
  constexpr int kept = static_cast<int>(flows_nodes_kept) / protocol::FlowInfo::nodes_max;
  for (int i = 0; i < kept; ++i) (void)must(put(world, wide("f" + std::to_string(i))));
  (void)must(put(world, wide("f0")));  // the newest now
  (void)must(put(world, wide("last")));
  CHECK(shown(world, "f0").ok());
  CHECK_FALSE(shown(world, "f1").ok());
  CHECK(shown(world, "f2").ok());
  world.restart();
  CHECK_FALSE(shown(world, "f1").ok());
  CHECK(shown(world, "last").ok());
}

TEST_CASE("hosts that cannot compute a problem are counted by what they lack") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(5);
  const auto ask = [&](const TestHost& host, const std::vector<std::string>& capabilities) {
    auto request = world.work_request(0);
    request.capabilities = capabilities;
    must(world.work(host.id, request));
  };
  ask(world.add_host("good"), {"numpy 1.24", "python 3.11"});
  ask(world.add_host("old"), {"numpy 1.19", "python 3.8"});
  ask(world.add_host("bare"), {"python 3.11"});
  const TestHost held = world.add_host("held");
  ask(held, {"numpy 1.24", "python 3.11"});
  (void)must(World::wait<protocol::HostInfo>(
      [&](auto done) { world.service().hosts().hold(held.id, {"an exam"}, std::move(done)); }));
  (void)world.add_host("quiet");
  CHECK(hosts_of(world, problem).suited == 3);
  const auto change = [&](const std::function<void(bundle::Manifest&)>& what) {
    must(world.operate([&](Transaction& tx) -> Status {
      what(tx.model.problems.at(problem).manifest);
      return {};
    }));
  };
  change([](auto& manifest) { manifest.needs = {"python>=3.9", "numpy"}; });
  auto told = hosts_of(world, problem);
  CHECK(told.needs.size() == 2);
  CHECK(told.platforms == std::vector<std::string>{"any"});
  CHECK(told.hosts == 5);
  CHECK(told.suited == 1);
  std::string reasons;
  for (const auto& group : told.unsuited)
    reasons += group.kind + ": " + group.value + ": " + group.names.at(0) + "; ";
  CHECK(reasons == "need: numpy: bare; need: python>=3.9: old; on hold: : held; silent: : quiet; ");
  CHECK(told.unsuited[1].text == "lacks Python 3.9 or newer");

  change([](auto& manifest) { manifest.memory_bytes = std::int64_t{1} << 49; });
  change([](auto& manifest) { manifest.threads = 3; });
  told = hosts_of(world, problem);
  CHECK(told.suited == 0);
  CHECK(told.unsuited.at(0).hosts == 5);
  change([](auto& manifest) { manifest.kernels = {{"aarch64-linux", manifest.kernels.begin()->second}}; });
  told = hosts_of(world, problem);
  CHECK(told.unsuited.at(0).kind == "platform");
  CHECK(told.unsuited.at(0).text == "the application has no kernel for x86_64-linux");
  CHECK(told.unsuited.at(0).names.size() == 5);

  HostQuery query;
  query.needs = {"python>=3.9", "numpy"};
  const auto page = must(World::wait<protocol::HostPage>(
      [&](auto done) { world.service().views().host_pages().page(query, std::move(done)); }));
  CHECK(page.hosts.size() == 2);
}
