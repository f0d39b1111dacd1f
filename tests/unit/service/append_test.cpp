// Rows that are added to a problem that has begun.
#include <algorithm>

#include "tests/unit/says.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;
using protocol::ProblemState;

namespace {

// A file with one of the items; its manager counts such files.
protocol::Input rows(World& world, const std::string& text, const std::string& name = "table.csv") {
  const std::string digest = must(world.service().kernel().blobs().put(text));
  return {name, digest, static_cast<std::int64_t>(text.size()), {}};
}

ProblemId add_table(World& world, int items, const std::string& more = "") {
  protocol::AddProblem request;
  request.application = "numbers";
  request.parameters = "{\"count\": " + std::to_string(items) + more + "}";
  request.strategy = "ss";
  request.validation = "checks";
  request.inputs = {rows(world, "first")};
  return must(world.try_add_problem(request)).id;
}

Result<protocol::ProblemInfo> append(World& world, ProblemId problem, std::vector<protocol::Input> inputs) {
  return World::wait<protocol::ProblemInfo>(
      [&](auto done) { world.service().problems().append(problem, {std::move(inputs)}, std::move(done)); });
}

// As with_each_failure(); but the last call that fails may be one of what is done after the answer, until it
// is.
void append_despite_failures(World& world, const std::function<Status(World&)>& act) {
  for (int n = 1; n < 200; ++n) {
    INFO("call " << n << " of the store fails");
    world.settle();
    const std::string before = world.memory();
    world.store().fail_at(n);
    const Status status = act(world);
    world.store().heal();
    world.settle();
    const std::string after = world.memory();
    if (status.ok()) {
      REQUIRE(n > 2);
      return;
    }
    CHECK(status.error().kind == ErrorKind::unavailable);
    REQUIRE(after == before);
  }
  FAIL("it never succeeds");
}

void deliver_one(World& world, HostId host) {
  world.finish(world.grants(host).front());
}

}  // namespace

TEST_CASE("a running problem becomes longer: what is accepted and held stays, and new items follow") {
  World world;
  world.add_application();
  const TestHost host = world.add_host("first"), other = world.add_host("second");
  const ProblemId problem = add_table(world, 3);
  deliver_one(world, host.id);
  const auto held = world.grants(host.id).front();
  const auto more = rows(world, "second");
  append_despite_failures(world, [&](World& w) { return status_of(append(w, problem, {more})); });
  CHECK(world.show(problem).items == 4);
  CHECK(world.show(problem).accepted == 1);
  if (GENERATE(false, true)) world.restart();
  world.finish(held);
  RangeSet rest;
  for (int unit = 0; unit < 2; ++unit) {
    const auto grant = world.grants(other.id).front();
    CHECK(std::ranges::any_of(grant.inputs, [](const auto& input) { return input.name == "table.csv.1"; }));
    rest.add(grant.range);
    world.finish(grant);
  }
  CHECK(rest == RangeSet{Range{2, 4}});
  world.settle();
  CHECK(world.show(problem).state == ProblemState::finished);
  CHECK(replay_fault(world).empty());
}

TEST_CASE("a finished problem runs again for its new rows alone") {
  World world;
  world.add_application();
  const TestHost host = world.add_host("first");
  const ProblemId problem = add_table(world, 1);
  deliver_one(world, host.id);
  world.settle();
  REQUIRE(world.show(problem).state == ProblemState::finished);
  for (int file = 1; file < 3; ++file) {
    must(status_of(append(world, problem, {rows(world, "more " + std::to_string(file))})));
    CHECK(world.show(problem).state == ProblemState::running);
    CHECK(world.show(problem).items == 1 + file);
    const auto grant = world.grants(host.id).front();
    CHECK(grant.range == Range{file, file + 1});
    world.finish(grant);
    world.settle();
    CHECK(world.show(problem).state == ProblemState::finished);
  }
  CHECK(replay_fault(world).empty());
}

TEST_CASE("rows that cannot be added change nothing") {
  World world;
  world.add_application();
  const ProblemId problem = add_table(world, 3);
  const std::string before = world.memory();
  const auto refused = [&](const std::vector<protocol::Input>& inputs) {
    const auto answer = append(world, problem, inputs);
    world.settle();
    CHECK(world.memory() == before);
    return answer.ok() ? std::string("none") : answer.error().message;
  };
  CHECK(says(refused({}), "has no more items"));
  CHECK(says(refused({{"table.csv", std::string(64, 'a'), 1, {}}}), "upload the input table.csv first"));
  CHECK(append(world, ProblemId{9}, {}).error().kind == ErrorKind::not_found);
  const ProblemId ended = add_table(world, 1);
  must(status_of(world.change(ended, Problems::Action::cancel)));
  CHECK(says(append(world, ended, {rows(world, "x")}).error().message, "is cancelled already"));
}
