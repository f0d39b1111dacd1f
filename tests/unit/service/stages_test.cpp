// What a relay is told of a stage: enough to decide as its parent does, and nobody else is.
#include "server/service/work/stages.h"

#include "shared/bundle/manifest.h"
#include "shared/io/compression.h"
#include "shared/protocol/stage_costs.h"
#include "tests/unit/service/relay_enrolment.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;

namespace {

Result<protocol::StageDescription> describe(World& world, HostId asker, ProblemId problem, int stage = 0) {
  return World::wait<protocol::StageDescription>(
      [&](auto done) { world.service().stages().describe(asker, problem, stage, std::move(done)); });
}

Result<Bytes> costs(World& world, HostId asker, ProblemId problem, std::int64_t from) {
  return World::wait<Bytes>(
      [&](auto done) { world.service().stages().costs(asker, problem, 0, from, std::move(done)); });
}

// As a relay fetches them.
std::vector<double> all_costs(World& world, HostId relay, ProblemId problem, std::int64_t items) {
  std::vector<double> all;
  while (std::ssize(all) < items) {
    const Bytes raw = must(io::decompress(must(costs(world, relay, problem, std::ssize(all))),
                                          8 * protocol::costs_per_reply_max));
    const auto some = must(protocol::unpack_costs(raw));
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace

TEST_CASE("a relay is told what it must know of a stage that is under way, and no other host is") {
  World world;
  const HostId relay = join_as_relay(world, {"lab"}, 9).host;
  const TestHost host = world.add_host();
  world.add_application({.checkpoint = true});
  const ProblemId even = world.add_problem(40), uneven = world.add_problem(7, R"(, "x": "hints")", "ss");

  const auto told = must(describe(world, relay, even));
  CHECK(told.problem == even);
  CHECK(told.stage == 0);
  CHECK(told.name == world.show(even).name);
  CHECK(told.items == 40);
  CHECK(!told.costs);
  CHECK(told.weight == 1);
  const auto manifest = must(bundle::parse_manifest(told.manifest, "manifest"));
  CHECK(manifest.name == "numbers");
  CHECK(manifest.checkpoint);

  CHECK(must(describe(world, relay, uneven)).costs);
  CHECK(all_costs(world, relay, uneven, 7) == std::vector<double>(7, 2));
  CHECK(all_costs(world, relay, uneven, 7).size() == 7);
  CHECK(costs(world, relay, even, 0).error().kind == ErrorKind::not_found);
  CHECK(costs(world, relay, uneven, 7).error().kind == ErrorKind::not_found);
  CHECK(must(protocol::unpack_costs(must(io::decompress(must(costs(world, relay, uneven, 5)), 16)))).size() ==
        2);

  CHECK(describe(world, host.id, even).error().kind == ErrorKind::forbidden);
  CHECK(costs(world, host.id, uneven, 0).error().kind == ErrorKind::forbidden);
  CHECK(describe(world, relay, even, 1).error().kind == ErrorKind::not_found);
  CHECK(describe(world, relay, ProblemId{99}).error().kind == ErrorKind::not_found);
  must(world.change(even, Problems::Action::cancel));
  CHECK(describe(world, relay, even).error().kind == ErrorKind::not_found);
}

TEST_CASE("many costs come in several answers") {
  World world;
  const HostId relay = join_as_relay(world, {"lab"}, 9).host;
  world.add_application();
  const int items = static_cast<int>(protocol::costs_per_reply_max) + 3;
  const ProblemId problem = world.add_problem(items, R"(, "x": "hints")", "ss");
  CHECK(all_costs(world, relay, problem, items) == std::vector<double>(static_cast<std::size_t>(items), 2));
}
