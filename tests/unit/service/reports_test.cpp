// What hosts say of the units they hold, and when that is written.
#include "server/service/work/reports.h"

#include <optional>
#include <set>

#include "shared/base/limits.h"
#include "tests/unit/service/log_lines.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;

namespace {

Result<protocol::HeartbeatReply> heartbeat(World& world, HostId host,
                                           const protocol::HeartbeatRequest& request) {
  return World::wait<protocol::HeartbeatReply>(
      [&](auto done) { world.service().work().heartbeat(host, request, std::move(done)); });
}

protocol::HeartbeatRequest saving(const protocol::Grant& grant, std::int64_t item, Bytes data,
                                  double share = 0.5) {
  protocol::HeartbeatRequest request;
  protocol::UnitReport report;
  report.unit = grant.unit;
  report.finished = item;
  request.units = {report};
  request.saved = {{grant.unit, item, share, std::move(data)}};
  return request;
}

std::optional<Bytes> saved(World& world, ProblemId problem, std::int64_t item) {
  return world.look<std::optional<Bytes>>([&](Transaction& tx) -> std::optional<Bytes> {
    const Bytes* found = tx.model.problems.at(problem).saved.find(item);
    return found == nullptr ? std::nullopt : std::optional<Bytes>(*found);
  });
}

Timestamp stored_contact(World& world, HostId host) {
  return world.look<Timestamp>([host](Transaction& tx) {
    for (const auto& row : must(tx.store.hosts()))
      if (row.id == host) return row.last_contact;
    return Timestamp{};
  });
}

}  // namespace

TEST_CASE("that a host was heard of is written once a minute, and known at once") {
  World world;
  const TestHost host = world.add_host();
  const Timestamp joined = stored_contact(world, host.id);
  const auto known = [&] {
    return world.look<Timestamp>(
        [&](Transaction& tx) { return tx.model.hosts.at(host.id).row.last_contact; });
  };
  world.clock().advance(std::chrono::seconds{59});
  (void)must(heartbeat(world, host.id, {}));
  CHECK(known() == world.clock().now());
  CHECK(stored_contact(world, host.id) == joined);
  world.clock().advance(std::chrono::seconds{1});
  (void)must(heartbeat(world, host.id, {}));
  CHECK(stored_contact(world, host.id) == world.clock().now());
  world.clock().jump_calendar(std::chrono::hours{-1});  // what is written lies in the future
  (void)must(heartbeat(world, host.id, {}));
  CHECK(stored_contact(world, host.id) == world.clock().now());
}

TEST_CASE("what a host saves is kept only of its own units, where the application has checkpoints") {
  const bool checkpoint = GENERATE(true, false);
  World world;
  world.add_application({"1.0.0", "exact", checkpoint});
  const TestHost host = world.add_host("host"), other = world.add_host("other");
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  const std::int64_t item = grant.range.begin;
  (void)must(heartbeat(world, other.id, saving(grant, item, "not its unit")));
  CHECK(!saved(world, problem, item));
  (void)must(heartbeat(world, host.id, saving(grant, item, "half of it")));
  if (!checkpoint) {
    CHECK(!saved(world, problem, item));
    return;
  }
  CHECK(saved(world, problem, item) == "half of it");
  (void)must(heartbeat(world, host.id, saving(grant, item, "three quarters", 0.75)));
  CHECK(saved(world, problem, item) == "three quarters");
  (void)must(heartbeat(world, host.id, saving(grant, grant.range.end + 5, "of no unit")));
  CHECK(!saved(world, problem, grant.range.end + 5));
}

TEST_CASE("what a host saves whose results were found wrong is not kept") {
  World world;
  world.add_application({"1.0.0", "exact", true});
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  (void)world.look<bool>([&](Transaction& tx) {
    tx.model.hosts.at(host.id).row.disagreements = 1;
    return true;
  });
  (void)must(heartbeat(world, host.id, saving(grant, grant.range.begin, "as wrong as the rest")));
  CHECK(!saved(world, problem, grant.range.begin));
}

TEST_CASE("saved items take so much memory and no more, which is said once") {
  const LogLines log;
  World world;
  world.add_application({"1.0.0", "exact", true});
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  const std::int64_t item = grant.range.begin;
  (void)must(heartbeat(world, host.id, saving(grant, item, "the first")));
  const auto fill = [&](bool full) {
    (void)world.look<bool>([&](Transaction& tx) {
      SavedItems& items = tx.model.problems.at(problem).saved;
      if (full)
        items.put(1'000'000, Bytes(limits::saved_per_problem_bytes_max - 10, 'x'));
      else
        items.forget({1'000'000, 1'000'001});
      return true;
    });
  };
  fill(true);
  for (int i = 0; i < 2; ++i)
    (void)must(heartbeat(world, host.id, saving(grant, item, "longer than ten", 0.6)));
  CHECK(saved(world, problem, item) == "the first");
  CHECK(log.count("no more are kept") == 1);
  fill(false);
  (void)must(heartbeat(world, host.id, saving(grant, item, "a small one", 0.7)));
  CHECK(saved(world, problem, item) == "a small one");
}

TEST_CASE("progress is told of the problems that the host computes, of so many and no more") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  for (int i = 0; i < limits::progress_per_reply_max + 1; ++i) (void)world.add_problem(30);
  (void)world.add_problem(30);  // has no unit of this host
  const auto held = world.grants(host.id, limits::progress_per_reply_max + 1);
  std::set<ProblemId> problems;
  for (const auto& grant : held) problems.insert(grant.problem);
  REQUIRE(problems.size() == limits::progress_per_reply_max + 1);
  const auto progress = world.look<std::vector<protocol::ProblemProgress>>(
      [&](Transaction& tx) { return progress_for(tx, tx.model.hosts.at(host.id)); });
  REQUIRE(progress.size() == limits::progress_per_reply_max);
  for (const auto& one : progress) {
    CHECK(problems.contains(one.problem));
    CHECK(one.items == 30);
    CHECK(one.accepted == 0);
  }
}

TEST_CASE("a host that leaves gives back its units of all problems, whole or not at all") {
  World world;
  world.add_application();
  const TestHost host = world.add_host("leaving"), other = world.add_host("staying");
  const ProblemId first = world.add_problem(30), second = world.add_problem(30);
  (void)world.grants(host.id, 2);
  CHECK(world.show(first).open_units + world.show(second).open_units == 2);
  with_each_failure(world, [&](World& w) {
    const Status left =
        World::wait_done([&](StatusDone done) { w.service().enrolment().leave(host.id, std::move(done)); });
    // Its token counts until it has left.
    CHECK(w.service().enrolment().authenticate_host(host.token).ok() == !left.ok());
    return left;
  });
  CHECK(world.show(first).free == 30);
  CHECK(world.show(second).free == 30);
  CHECK(says(world.memory(), "'left by itself'"));
  const auto gone = world.work(host.id, world.work_request());
  REQUIRE(!gone.ok());
  CHECK(gone.error().kind == ErrorKind::forbidden);
  CHECK(!world.grants(other.id).empty());
}

TEST_CASE("units that a host's request does not list are given back, those it commits are not") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(1000);
  const auto measured = world.grants(host.id).front();  // what an item takes is known then
  world.clock().advance(std::chrono::seconds{1});
  world.finish(measured);
  const auto held = world.grants(host.id, 2);
  REQUIRE(held.size() == 2);
  REQUIRE(held[0].range.size() > 1);
  auto request = world.work_request(0);
  request.commits = {World::results(held[0].unit, {held[0].range.begin, held[0].range.begin + 1})};
  (void)must(world.work(host.id, request));
  const auto open = world.look<UnitSet>([&](Transaction& tx) { return tx.model.hosts.at(host.id).units; });
  CHECK(open == UnitSet{held[0].unit});
  CHECK(world.show(problem).handed_out == held[0].range.size() - 1);
}
