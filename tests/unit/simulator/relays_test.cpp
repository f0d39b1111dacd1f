// Trees of relays in virtual time: nothing is lost or counted twice whatever befalls relays and links, a tree
// takes hardly longer than one server, and its server hears little.
#include <cmath>

#include "shared/planning/serving.h"
#include "tests/catch.h"
#include "tools/simulator/fluid.h"
#include "tools/simulator/population.h"
#include "tools/simulator/relays/world.h"

using namespace gleaner;
using namespace gleaner::simulator;

namespace {

RelayWorld steady_world(std::size_t hosts, double seconds, std::uint64_t seed) {
  RelayWorld world;
  Random random(seed);
  double speed = 0;
  for (std::size_t i = 0; i < hosts; ++i) {
    const double one = 0.05 * (0.5 + random.uniform());
    world.hosts.push_back({static_cast<float>(one), static_cast<float>(one), -1, 1});
    speed += one;
  }
  world.problem.items = std::llround(speed * seconds);
  world.problem.item_seconds = 1;
  world.ideal_seconds = seconds;
  world.seed = seed;
  world.until = 20 * seconds;
  return world;
}

RelayRun run(const RelayWorld& world) {
  auto result = run_relay_world(world);
  REQUIRE(result.ok());
  return std::move(result).value();
}

}  // namespace

TEST_CASE("nothing is lost or counted twice whatever befalls relays, links and hosts") {
  const std::vector<std::vector<std::int64_t>> shapes{{}, {3}, {2, 2}, {2, 2, 2}};
  int gone = 0, cut = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    RelayWorld world = steady_world(32, 1500, seed);
    world.children = shapes[seed % shapes.size()];
    world.latency = seed % 3 == 0 ? 4 : 0;
    world.service = planning::serving_rules()[seed % 5].name;
    world.problem.bytes_in = world.problem.bytes_out = seed % 4 == 2 ? 1000 : 0;
    for (std::size_t i = 0; i < world.hosts.size(); ++i)
      world.hosts[i].down_byte_seconds = world.hosts[i].up_byte_seconds = 1e-3F * static_cast<float>(i % 4);
    world.relay.horizon = seed % 2 == 0 ? 600 : 60;
    world.relay.deliver = seed % 2 == 0 ? 1800 : 30;
    world.cut_gap = 400;
    world.cut_length = 120;
    world.off_gap = seed % 2 == 0 ? 900 : 0;
    world.off_length = 90;
    world.vanish_mean = seed % 4 == 1 ? 6000 : 0;
    world.rules.lease = seed % 5 == 0 ? 200 : 86400;  // units of who is silent are given to others
    // A third of the hosts have owners, who come, go and switch them off.
    PopulationSetup population;
    population.hosts = 11;
    population.slots = 2;
    population.mix = {.always = 0, .office = 0, .home = 0.5, .lab = 0.5};
    population.seed = seed;
    world.lively = make_population(population);
    for (std::size_t i = 0; i < world.lively.size(); ++i) {
      world.hosts[3 * i % world.hosts.size()].lively = static_cast<std::int32_t>(i);
      world.hosts[3 * i % world.hosts.size()].slots = 2;
    }
    world.check_every = 1;
    const RelayRun once = run(world);
    INFO("seed " << seed << ", " << world.children.size() << " levels, " << once.relays_gone << " gone");
    // With all relays of the server gone nobody is left.
    const bool nobody = !world.children.empty() && once.relays_gone >= world.children.front();
    CHECK((once.complete || nobody));
    if (once.complete) CHECK(once.items_credited == world.problem.items);
    gone += once.relays_gone > 0 ? 1 : 0;
    cut += once.relays_cut > 0 ? 1 : 0;

    // On any number of threads, the same.
    world.threads = 3;
    const RelayRun again = run(world);
    CHECK(again.makespan == once.makespan);
    CHECK(again.events == once.events);
    CHECK(again.waste == once.waste);
    CHECK(again.levels.front().bytes_up == once.levels.front().bytes_up);
  }
  CHECK(gone >= 1);
  CHECK(cut >= 8);
}

TEST_CASE("a tree takes hardly longer than one server, which hears a fiftieth") {
  RelayWorld world = steady_world(1000, 3600, 7);
  const RelayRun direct = run(world);
  world.children = {5};
  const RelayRun tree = run(world);
  REQUIRE(direct.complete);
  REQUIRE(tree.complete);
  CHECK(direct.makespan < 1.03 * world.ideal_seconds);
  CHECK(tree.makespan < 1.02 * direct.makespan);
  CHECK(tree.waste < 0.02);
  CHECK(50 * tree.levels[0].messages < direct.levels[0].messages);
  CHECK(5 * tree.levels[0].segments < direct.levels[0].segments);
  CHECK(tree.levels[1].nodes == 5);
}

TEST_CASE("inputs come before their unit starts, results count once they are there") {
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{{}, {2}}) {
    RelayWorld world = steady_world(8, 600, 3);  // an item takes 20 s of a host in the mean
    world.children = shape;
    world.check_every = 1;
    world.problem.bytes_in = world.problem.bytes_out = 1000;
    const double without = run(world).makespan;
    for (WorldHost& host : world.hosts) host.down_byte_seconds = 0.06F;
    CHECK(run(world).makespan > 2.5 * without);
    for (WorldHost& host : world.hosts) {
      host.down_byte_seconds = 0;
      host.up_byte_seconds = 0.06F;
    }
    const RelayRun late = run(world);
    CHECK(late.makespan > 2.5 * without);
    CHECK(late.items_credited == world.problem.items);
  }
}

TEST_CASE("a world without items or hosts, or with more relays than hosts, is refused") {
  RelayWorld world = steady_world(4, 100, 1);
  world.children = {5};
  CHECK(!run_relay_world(world).ok());
  world.children = {0};
  CHECK(!run_relay_world(world).ok());
  world.children = {};
  world.hosts.clear();
  CHECK(!run_relay_world(world).ok());
  world = steady_world(4, 100, 1);
  world.problem.items = 0;
  CHECK(!run_relay_world(world).ok());
}
