// Accepted items as they come, for programs.
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;

namespace {

Result<Bytes> items(World& world, ProblemId id, RangeSet known = {}, int stage = 0) {
  return World::wait<Bytes>([&](auto done) {
    world.service().accepted_items().read(id, stage, std::move(known), std::move(done));
  });
}

Bytes number(std::uint64_t value, int size) {
  Bytes bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * i & 0xff);
  return bytes;
}

Bytes expected(std::int64_t item) {
  const std::string content = "item-" + std::to_string(item);
  return number(static_cast<std::uint64_t>(item), 8) + number(content.size(), 4) + content;
}

}  // namespace

TEST_CASE("accepted items are read as they come, without those that are known") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  CHECK(must(items(world, problem)).empty());
  const auto held = world.grants(host.id, 2);
  REQUIRE(held.size() == 2);
  const protocol::Grant &first = held[0], &second = held[1];
  (void)must(world.commit(host.id, World::results(first.unit, {first.range.begin, first.range.begin + 1})));
  CHECK(must(items(world, problem)) == expected(first.range.begin));
  world.finish(second);
  Bytes later;
  for (std::int64_t item = second.range.begin; item < second.range.end; ++item) later += expected(item);
  CHECK(must(items(world, problem)) == expected(first.range.begin) + later);
  CHECK(must(items(world, problem, RangeSet({first.range.begin, first.range.begin + 1}))) == later);
  CHECK(must(items(world, problem, RangeSet({0, 30}))).empty());
}

TEST_CASE("accepted items of another stage, an ended problem or none are refused") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(30);
  CHECK(items(world, problem, {}, 1).error().kind == ErrorKind::conflict);
  CHECK(items(world, ProblemId{999}).error().kind == ErrorKind::not_found);
  (void)must(world.change(problem, service::Problems::Action::cancel));
  CHECK(items(world, problem).error().kind == ErrorKind::conflict);
}
