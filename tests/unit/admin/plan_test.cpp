// gleaner-admin plan: fleet files good and bad, the answer, the live project, plots.
#include <filesystem>

#include "shared/base/limits.h"
#include "shared/io/gnuplot.h"
#include "shared/json/text.h"
#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/admin/test_world.h"
#include "tools/admin/fleet_file.h"
#include "tools/admin/live_fleet.h"

namespace gleaner::admin {
namespace {

constexpr const char* example =
    R"({"tcp":1,"tcm":1,"tsol":0.2,"duplex":"full",
        "root":{"w":1.0,"children":[{"name":"lab-1","w":0.8,"z":0.05,"children":[]}]}})";

std::string message_of(const std::string& text) {
  const auto fleet = parse_fleet(text);
  return fleet.ok() ? std::string() : fleet.error().message;
}

std::string star(const std::string& child) {
  return R"({"root":{"w":1,"children":[)" + child + "]}}";
}

protocol::HostInfo a_host(std::int64_t id, const std::string& name, double mflops, int cores) {
  protocol::HostInfo host;
  host.id = HostId{id};
  host.name = name;
  host.mflops = mflops;
  host.cores = cores;
  return host;
}

protocol::HostShare a_share(const std::string& name, double rate, double ago) {
  protocol::HostShare share;
  share.host = HostId{1};
  share.name = name;
  share.rate = rate;
  share.last_contact_seconds = ago;
  return share;
}

protocol::ProblemInfo a_planned_problem() {
  protocol::ProblemInfo problem;
  problem.id = ProblemId{7};
  problem.name = "ray";
  problem.state = protocol::ProblemState::running;
  problem.cost = 1000;
  problem.cost_accepted = 400;
  problem.rate = 5;
  problem.elapsed_seconds = 200;
  problem.shares = {a_share("one", 4, 10), a_share("two", 2, 20), a_share("gone", 9, 900)};
  return problem;
}

}  // namespace

TEST_CASE("a fleet file's mistakes are named by place, key and what was expected", "[plan]") {
  CHECK(message_of(example).empty());
  CHECK(message_of(R"({"root":{"w":2,"z":0,"name":"top"},"version":1})").empty());
  CHECK(message_of("{\"root\":\n{\"w\":1,}}").find("not JSON at line 2, column 8") == 0);
  CHECK(message_of("").find("not JSON at line 1") == 0);
  CHECK(message_of("[1]") == "the file: expected an object, {\"root\": {...}}, but found [1]");
  CHECK(message_of("{}") == "root: expected a node, {\"w\": 1}, but it is missing");
  CHECK(message_of(R"({"root":{"children":[]}})") ==
        "root.w: expected a number above 0 (1e-12 to 1e12), but it is missing");
  CHECK(message_of(star(R"({"w":1,"z":0.1},{"w":"fast","z":0.1})")) ==
        "root.children[1].w: expected a number above 0 (1e-12 to 1e12), but found \"fast\"");
  CHECK(message_of(star(R"({"w":1})")) ==
        "root.children[0].z: expected a number from 0 to 1e12, but it is missing");
  CHECK(message_of(star(R"({"w":1,"z":-1})")).find("root.children[0].z: expected") == 0);
  CHECK(message_of(star(R"({"w":0,"z":1})")).find("root.children[0].w: expected") == 0);
  CHECK(message_of(star(R"({"w":1,"z":0,"children":[{"w":1,"z":0,"children":3}]})")) ==
        "root.children[0].children[0].children: expected a list of nodes, but found 3");
  CHECK(message_of(star(R"({"w":1,"z":0,"speed":3})")) ==
        "root.children[0].speed: there is no such key here; expected one of children, name, w, z");
  CHECK(message_of(star("5")).find("root.children[0]: expected a node") == 0);
  CHECK(message_of(star(R"({"w":1,"z":0,"name":""})")).find("root.children[0].name: expected a text") == 0);
  CHECK(message_of(R"({"duplex":"both","root":{"w":1}})") ==
        "duplex: expected \"full\" or \"half\", but found \"both\"");
  CHECK(message_of(R"({"tcp":0,"root":{"w":1}})").find("tcp: expected a number above 0") == 0);
  CHECK(message_of(R"({"tsol":1e999,"root":{"w":1}})").find("number") != std::string::npos);
  CHECK_FALSE(message_of(R"({"tcm":true,"root":{"w":1}})").empty());
}

TEST_CASE("fleets are bounded in nodes and levels", "[plan]") {
  std::string many = R"({"w":1,"z":0})";
  for (int i = 1; i < limits::plan_nodes_max; ++i) many += R"(,{"w":1,"z":0})";
  CHECK(parse_fleet(star(many)).error().kind == ErrorKind::too_large);
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += R"({"w":1,"z":0,"children":[)";
  CHECK(parse_fleet(star(deep)).error().kind == ErrorKind::too_large);
  for (int i = 0; i < 5000; ++i) deep += "]}";
  CHECK(parse_fleet(star(deep)).error().kind == ErrorKind::too_large);
  std::string deepest;
  for (int i = 1; i < limits::plan_depth_max; ++i) deepest += R"({"w":1,"z":0,"children":[)";
  deepest += R"({"w":1,"z":0})";
  for (int i = 1; i < limits::plan_depth_max; ++i) deepest += "]}";
  CHECK(parse_fleet(star(deepest)).ok());
}

TEST_CASE("the answer for a fleet file needs no server", "[plan]") {
  TestWorld world;
  const auto file = world.write("fleet.json", example).string();
  REQUIRE(world.run({"plan", file, "--json"}) == 0);
  const json::Value answer = json::parse_or_null(world.out);
  for (const char* name : {"eas", "sos", "sos_pruned", "mos"}) {
    const json::Value& plan = answer[name];
    CHECK(plan["shares"].size() == 2);
    CHECK(plan["feasible"].boolean());
    CHECK(plan["left_out"] == json::Value::array());
    CHECK(plan["warnings"].is_array());
    CHECK(plan["speedup"].number() == Approx(1 / plan["finish_replay"].number()));
  }
  // Equal shares: half a load takes 0.025 there, 0.4 to compute, 0.005 back; the root 0.5.
  CHECK(answer["eas"]["finish_closed_form"].is_null());
  CHECK(answer["eas"]["finish_replay"].number() == 0.5);
  // a_root = (z Tcm + w1 Tcp + z Tsol) / w.
  const double root = 0.05 + 0.8 + 0.01;
  CHECK(answer["sos"]["finish_closed_form"].number() == Approx(root / (root + 1)).epsilon(1e-14));
  CHECK(answer["mos"]["finish_closed_form"].number() == Approx(root / (root + 1)).epsilon(1e-14));
  CHECK(world.server.calls().empty());
  REQUIRE(world.run({"plan", file}) == 0);
  CHECK(world.out.find("lab-1") != std::string::npos);
  CHECK(world.out.find("sos_pruned") != std::string::npos);
}

TEST_CASE("hosts to leave out are named, and why", "[plan]") {
  TestWorld world;
  const auto file = world.write(
      "fleet.json", star(R"({"name":"far","w":0.5,"z":10,"children":[{"w":1,"z":5}]},{"w":0.5,"z":0.01})"));
  REQUIRE(world.run({"plan", file.string(), "--json"}) == 0);
  const json::Value pruned = json::parse_or_null(world.out)["sos_pruned"];
  CHECK(pruned["left_out"] == json::Value::array({"far", 2}));
  CHECK(pruned["shares"][1].number() == 0);
  REQUIRE(world.run({"plan", file.string()}) == 0);
  CHECK(world.out.find("leave out far: its link costs more than it computes") != std::string::npos);
  CHECK(world.out.find("leave out node 2: it is below far") != std::string::npos);
}

TEST_CASE("wrong ways to ask for a plan", "[plan]") {
  TestWorld world;
  const auto bad = world.write("bad.json", "{\n \"root\": 3\n}").string();
  CHECK(world.run({"plan", bad}) == 1);
  CHECK(world.error.find("bad.json: root: expected a node") != std::string::npos);
  CHECK(world.run({"plan", (world.directory / "none.json").string()}) == 4);
  CHECK(world.run({"plan", bad, "--problem", "1"}) == 1);
  CHECK(world.run({"plan", "--mflop", "0"}) == 2);
  CHECK(world.run({"plan", bad, "--show", "best"}) == 2);
  const auto good = world.write("good.json", example).string();
  CHECK(world.run({"plan", good, "--plot", "plan.pdf"}) == 1);
  CHECK(world.error.find("ends in .svg or .png") != std::string::npos);
}

TEST_CASE("the live project is a star below a server that computes nothing", "[plan]") {
  std::vector<protocol::HostInfo> hosts{a_host(1, "fast", 2000, 4), a_host(2, "slow", 1000, 2),
                                        a_host(3, "left", 1000, 1), a_host(4, "new", 0, 8)};
  hosts[2].state = protocol::HostState::left;
  TestWorld world;
  world.add_profile();
  world.server.on("GET /v1/admin/hosts", 200, protocol::encode(hosts));
  REQUIRE(world.run({"plan", "--json"}) == 0);
  const json::Value answer = json::parse_or_null(world.out);
  CHECK(answer["nodes"].size() == 3);
  CHECK(answer["nodes"][0]["w"].is_null());
  CHECK(answer["remarks"].size() == 2);
  // 10^6 MFLOP on 10,000 MFLOP/s.
  CHECK(answer["sos"]["finish_replay"].number() == Approx(100));
  CHECK(answer["optimum"]["finish_replay"].number() == Approx(100));
  CHECK(answer["eas"]["finish_replay"].number() == Approx(250));
  CHECK(answer["eas"]["shares"][0].number() == 0);
  CHECK(answer["sos"]["speedup"].number() == Approx(1.25));
  CHECK(answer["sos"]["shares"][1].number() == Approx(0.8));
  REQUIRE(world.run({"plan", "--load-seconds", "10", "--json"}) == 0);
  CHECK(json::parse_or_null(world.out)["optimum"]["finish_replay"].number() > 100);
  CHECK(live_fleet({hosts[3]}, 1e6, {}).error().kind == ErrorKind::not_found);
  CHECK(world.run({"plan", "--load-bytes", "1e9"}) == 4);
  CHECK(world.error.find("no host has measured its link yet") != std::string::npos);
}

TEST_CASE("what hosts measured of themselves goes into the plan", "[plan]") {
  std::vector<protocol::HostInfo> hosts{a_host(1, "near", 2000, 4), a_host(2, "far", 1000, 2),
                                        a_host(3, "unknown", 1000, 1)};
  hosts[0].speeds = protocol::HostSpeeds{6000, 0, 1e8, 1e7};
  hosts[1].speeds = protocol::HostSpeeds{0, 0, 1e6, 1e5};
  const auto links = measured_links(hosts, 1e9, 1e7);
  REQUIRE(links.ok());
  CHECK(links->load_seconds == Approx(10));  // the median of two is the faster one
  CHECK(links->result_seconds == Approx(1));
  CHECK(links->relative.at(HostId{1}) == 1);
  CHECK(links->relative.at(HostId{2}) == Approx(100));
  CHECK(links->relative.count(HostId{3}) == 0);
  const auto live = live_fleet(hosts, 1e6, *links);
  REQUIRE(live.ok());
  CHECK(live->fleet.tree[1].w == Approx(1.0 / 6000));  // not four times its one core's
  CHECK(live->fleet.tree[2].w == Approx(1.0 / 2000));
  CHECK(live->fleet.tree[2].z == Approx(100));
  CHECK(live->fleet.tree[3].z == 1);
}

TEST_CASE("a problem's finish is predicted with an interval", "[plan]") {
  protocol::ProblemInfo problem = a_planned_problem();
  const Forecast measured = forecast(problem, 100);
  CHECK(measured.rate_of_hosts == 6);
  CHECK(measured.rate_average == 2);
  CHECK(measured.low == Approx(100));   // 600 at 6
  CHECK(measured.high == Approx(300));  // 600 at 2
  problem.elapsed_seconds = 30;         // too short for an average
  problem.rate = 0;
  CHECK(forecast(problem, 100).high == Approx(100));
  TestWorld world;
  world.add_profile();
  world.server.on("GET /v1/admin/problems/7", 200, protocol::encode(a_planned_problem()));
  REQUIRE(world.run({"plan", "--problem", "7", "--json"}) == 0);
  const json::Value answer = json::parse_or_null(world.out);
  CHECK(answer["forecast"]["seconds"].number() == Approx(100));
  CHECK(answer["forecast"]["high_seconds"].number() == Approx(300));
  CHECK(answer["remarks"].size() == 1);
  REQUIRE(world.run({"plan", "--problem", "7"}) == 0);
  CHECK(world.out.find("predicted finish in about 100 s (100 s to 5 min)") != std::string::npos);
  problem.state = protocol::ProblemState::finished;
  CHECK(live_fleet(problem, {}).error().message.find("is finished") != std::string::npos);
  problem = a_planned_problem();
  problem.shares.clear();
  CHECK(live_fleet(problem, {}).error().message.find("nothing measured") != std::string::npos);
}

TEST_CASE("a plan is drawn by gnuplot, if it is installed", "[plan]") {
  TestWorld world;
  const auto file = world.write("fleet.json", example).string();
  const bool installed = io::find_gnuplot(io::real_files()).has_value();
  for (const char* name : {"plan.svg", "plan.png"}) {
    const io::Path picture = world.directory / name;
    CHECK(world.run({"plan", file, "--plot", picture.string(), "--show", "mos"}) == (installed ? 0 : 4));
    CHECK(std::filesystem::exists(picture) == installed);
    if (!installed) CHECK(world.error.find("apt-get install gnuplot-nox") != std::string::npos);
  }
  if (!installed) return;
  const std::string picture = world.read(world.directory / "plan.svg");
  CHECK(picture.find("multi-installment: finish") != std::string::npos);
  CHECK(picture.find("lab-1") != std::string::npos);
  CHECK(world.run({"plan", file, "--plot", "/no-such-directory/plan.svg"}) == 1);
}

}  // namespace gleaner::admin
