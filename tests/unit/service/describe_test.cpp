// What people and scripts are told of problems and hosts: the same before and after a stage's end, and after
// a restart.
#include "server/service/operator/describe.h"

#include "server/service/operator/fleet_now.h"
#include "server/service/work/reports.h"
#include "shared/protocol/codec.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;
using protocol::ProblemState;

namespace {

// Of a problem, whatever state it is in.
struct Totals {
  std::int64_t items, accepted, units, splits, recovered, duplicates;
  double cost, cost_accepted, wasted_cost;
  bool operator==(const Totals&) const = default;
};

Totals totals(const protocol::ProblemInfo& info) {
  return {info.items,      info.accepted, info.units,         info.splits,     info.recovered,
          info.duplicates, info.cost,     info.cost_accepted, info.wasted_cost};
}

protocol::HostInfo host_info(World& world, HostId id) {
  return must(
      World::wait<protocol::HostInfo>([&](auto done) { world.service().hosts().show(id, std::move(done)); }));
}

template <typename Change>
void change_model(World& world, const Change& change) {
  (void)world.look<bool>([&](Transaction& tx) {
    change(tx);
    return true;
  });
}

}  // namespace

TEST_CASE("a problem that runs: what is free, held, accepted, by whom, for how long") {
  World world;
  world.add_application();
  const TestHost first = world.add_host("first"), second = world.add_host("second");
  const ProblemId problem = world.add_problem(30);
  auto info = world.show(problem);
  CHECK(info.free == 30);
  CHECK(info.elapsed_seconds == 0);  // nothing was handed out
  CHECK(info.hosts == 0);
  CHECK(info.shares.empty());
  CHECK(info.application == "numbers@1.0.0");
  const auto one = world.grants(first.id).front(), two = world.grants(second.id).front();
  world.clock().advance(std::chrono::seconds{20});
  world.finish(one);
  info = world.show(problem);
  CHECK(info.accepted == one.range.size());
  CHECK(info.handed_out == two.range.size());
  CHECK(info.free == 30 - one.range.size() - two.range.size());
  CHECK(info.open_units == 1);
  CHECK(info.units == 2);
  CHECK(info.hosts == 1);
  CHECK(info.elapsed_seconds == 20);
  REQUIRE(info.shares.size() == 2);
  CHECK(info.shares[0].name == "first");
  CHECK(info.shares[0].items == one.range.size());
  CHECK(info.shares[0].units == 1);
  CHECK(info.shares[0].last_contact_seconds == 20);
  CHECK(info.shares[1].name == "second");
  CHECK(info.shares[1].items == 0);
}

TEST_CASE("of many hosts those that did most are told, and how many there are") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(30, "", "ss,mode=paper");
  std::vector<HostId> hosts;
  for (int i = 0; i < 4; ++i) {
    hosts.push_back(world.add_host("host-" + std::to_string(i)).id);
    for (int unit = 0; unit < (i == 1 ? 2 : i == 3 ? 3 : 1); ++unit)
      world.finish(world.grants(hosts[static_cast<std::size_t>(i)]).front());
  }
  const auto told = [&](std::ptrdiff_t most) {
    return world.look<protocol::ProblemInfo>([&](service::Transaction& tx) {
      return must(service::describe_fully(tx, tx.model.problems.at(problem), most));
    });
  };
  const auto check = [&] {
    const auto some = told(2);
    CHECK(some.shares_total == 4);
    REQUIRE(some.shares.size() == 2);
    CHECK(some.shares[0].host == hosts[1]);
    CHECK(some.shares[1].host == hosts[3]);
    CHECK(some.shares[1].items == 3);
    CHECK(told(4).shares.size() == 4);
    CHECK(told(9).shares_total == 4);
  };
  check();
  (void)must(world.change(problem, Problems::Action::cancel));
  check();  // as the store has them
}

TEST_CASE("totals are the same before a stage ends, after it, and after a restart") {
  World world;
  world.add_application();
  const TestHost slow = world.add_host("slow"), fast = world.add_host("fast");
  const ProblemId problem = world.add_problem(30);
  const auto held = world.grants(slow.id).front();
  world.clock().advance(std::chrono::hours{25});  // it lost its unit, and delivers too late
  world.tick();
  while (true) {
    const auto reply = must(world.work(fast.id, world.work_request()));
    if (reply.grants.empty()) break;
    const auto grant = must(protocol::decode<protocol::Grant>(reply.grants.front().payload));
    const bool last = world.show(problem).accepted + grant.range.size() == 30;
    if (last) (void)must(world.change(problem, Problems::Action::pause));  // it is not combined yet
    world.finish(grant);
    if (last) break;
  }
  (void)must(world.commit(slow.id, World::results(held.unit, held.range, true)));
  world.settle();
  const Totals before = totals(world.show(problem));
  CHECK(before.accepted == 30);
  CHECK(before.units >= 2);
  CHECK(before.wasted_cost == static_cast<double>(held.range.size()));
  (void)must(world.change(problem, Problems::Action::resume));
  world.settle();
  auto info = world.show(problem);
  CHECK(info.state == ProblemState::finished);
  CHECK(info.eta_seconds == 0);
  CHECK(totals(info) == before);
  CHECK(info.shares.size() == 2);
  const double took = info.elapsed_seconds;
  world.clock().advance(std::chrono::hours{5});
  world.restart();
  info = world.show(problem);
  CHECK(totals(info) == before);
  CHECK(info.elapsed_seconds == took);  // up to its end, not up to now
}

TEST_CASE("a problem that ended before its end keeps what it had") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  (void)must(world.commit(host.id, World::results(grant.unit, {grant.range.begin, grant.range.begin + 1})));
  (void)must(world.change(problem, Problems::Action::cancel));
  CHECK(world.show(problem).accepted == 1);
  CHECK(world.show(problem).free == 0);
  CHECK(world.show(problem).cost == 30);
  world.restart();
  CHECK(world.show(problem).state == ProblemState::cancelled);
  CHECK(world.show(problem).accepted == 1);
}

TEST_CASE("a problem that waits only for a second opinion says so") {
  World world;
  world.add_application();
  const TestHost first = world.add_host("first"), second = world.add_host("second");
  protocol::AddProblem request;
  request.application = "numbers";
  request.parameters = R"({"count": 2})";
  request.validation = "quorum:2";
  const ProblemId problem = must(world.try_add_problem(request)).id;
  for (int i = 0; i < 4 && world.show(problem).accepted < 2; ++i)
    for (const auto& statement : must(world.work(first.id, world.work_request())).grants)
      world.finish(must(protocol::decode<protocol::Grant>(statement.payload)));
  world.settle();
  CHECK(world.show(problem).accepted == 2);
  CHECK(world.show(problem).state == ProblemState::running);
  CHECK(world.show(problem).message.empty());
  CHECK(world.show(problem).waits ==
        "another host must compute 2 items, too: 1 of the 2 hosts of the last hour can prove it");
  const auto checks = world.grants(second.id, 2);
  CHECK(world.show(problem).waits == "another host computes 2 items, too");
  for (const auto& check : checks)
    (void)must(world.commit(second.id, World::results(check.unit, check.range, true)));
  world.settle();
  for (int i = 0; i < 8 && world.show(problem).state == ProblemState::running; ++i) {
    for (const auto& statement : must(world.work(second.id, world.work_request())).grants) {
      const auto grant = must(protocol::decode<protocol::Grant>(statement.payload));
      (void)must(world.commit(second.id, World::results(grant.unit, grant.range, true)));
    }
    world.settle();
  }
  CHECK(world.show(problem).state == ProblemState::finished);
  CHECK(world.show(problem).waits.empty());
}

TEST_CASE("of many failures the last twenty are shown, and of set-aside items why") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(50);
  change_model(world, [problem](Transaction& tx) {
    Problem& shown = tx.model.problems.at(problem);
    for (int i = 0; i < 25; ++i) {
      storage::FailureRow failure{
          UnitId{i + 1}, HostId{3}, problem, 0, protocol::FailureKind::kernel_crashed, i, "", tx.now};
      failure.message = "signal " + std::to_string(i);
      shown.recent_failures.push_back(failure);
    }
    shown.stage_row.set_aside = {{4, 5}, {40, 41}};
  });
  const auto told = world.show(problem).set_aside;
  REQUIRE(told.size() == 2 + 20);
  CHECK(told[0].range == Range{4, 5});
  CHECK(told[0].message == "set aside; last: signal 4");
  CHECK(told[1].message == "set aside");
  CHECK(told[2].range == Range{5, 6});
  CHECK(told[2].unit == UnitId{6});
  CHECK(told.back().range == Range{24, 25});
  CHECK(says(told.back().message, "on host 3: signal 24"));
}

TEST_CASE("a host that is held back says from what and why, until it is over") {
  World world;
  world.add_application();
  const TestHost host = world.add_host("ill");
  CHECK(host_info(world, host.id).state_reason.empty());
  change_model(world, [host](Transaction& tx) {
    auto& health = tx.model.hosts.at(host.id).row.health;
    health.blocked_until = tx.now + std::chrono::seconds{60};
    health.reason = "its disk is full";
  });
  CHECK(host_info(world, host.id).state_reason == "held back after failures: its disk is full");
  world.clock().advance(std::chrono::seconds{61});
  CHECK(host_info(world, host.id).state_reason.empty());
  // Two failures in a row hold it back from the application only.
  (void)world.add_problem(30);
  for (const auto kind : {protocol::FailureKind::kernel_crashed, protocol::FailureKind::kernel_crashed}) {
    const auto grant = world.grants(host.id).front();
    must(World::wait_done([&](StatusDone done) {
      world.service().work().failure(host.id, {grant.unit, kind, grant.range.begin, "bad digest"},
                                     std::move(done));
    }));
  }
  CHECK(says(host_info(world, host.id).state_reason, "held back from numbers@1.0.0: "));
  CHECK(host_info(world, host.id).failures == 2);
}

TEST_CASE("a host is described as it joined, and an unknown one is not") {
  World world;
  auto request = world.enrol_request("described");
  request.cores = 12;
  request.memory_bytes = std::int64_t{1} << 35;
  request.client_version = "3.2.1";
  const auto joined = must(world.enrol(request));
  const auto info = host_info(world, joined.host);
  CHECK(info.name == "described");
  CHECK(info.platform == "x86_64-linux");
  CHECK(info.cores == 12);
  CHECK(info.trust < 0);  // there is no application yet that it could be believed of
  CHECK(info.memory_bytes == std::int64_t{1} << 35);
  CHECK(info.client_version == "3.2.1");
  CHECK(info.mflops == 1000);
  CHECK(!info.speeds);  // it measured none
  CHECK(info.code == "default");
  CHECK(info.open_units == 0);
  CHECK(info.enrolled_at == world.clock().now());
  const auto unknown = World::wait<protocol::HostInfo>(
      [&](auto done) { world.service().hosts().show(HostId{99}, std::move(done)); });
  REQUIRE(!unknown.ok());
  CHECK(unknown.error().kind == ErrorKind::not_found);
  CHECK(says(unknown.error().message, "no host 99 here"));
}

TEST_CASE("the list of problems counts the hosts of each") {
  World world;
  world.add_application();
  const TestHost one = world.add_host("one"), two = world.add_host("two");
  const ProblemId busy = world.add_problem(1000), idle = world.add_problem(1000);
  (void)must(world.change(idle, Problems::Action::pause));
  (void)world.grants(one.id, 2);
  (void)world.grants(two.id);
  const auto all = world.look<std::vector<protocol::ProblemInfo>>(
      [](Transaction& tx) { return describe_problems(tx.model, tx.now); });
  REQUIRE(all.size() == 2);
  CHECK(all[0].id == busy);
  CHECK(all[0].hosts == 2);
  CHECK(all[1].hosts == 0);
  CHECK(world.show(busy).hosts == 2);
  CHECK(world.show(idle).hosts == 0);
}

TEST_CASE("a problem that nobody computes says what it waits for, and no end") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(30);
  const auto waits = [&] {
    const auto info = world.show(problem);
    CHECK(info.eta_seconds < 0);
    return info.waits;
  };
  CHECK(waits().find("no host has joined yet") == 0);
  const TestHost host = world.add_host("one");
  CHECK(waits() == "hosts are online, and none has asked for work of it yet");
  change_model(world, [&](Transaction& tx) {
    tx.model.hosts.at(host.id).row.state_reason = "outside of the hours in the preferences";
  });
  CHECK(waits() == "1 of 1 host online: outside of the hours in the preferences");
  world.clock().advance(std::chrono::hours{3});
  CHECK(waits() == "none of 1 host has reported for 3 h");
}

TEST_CASE("a problem whose hosts compute others says so") {
  World world;
  world.add_application();
  const TestHost host = world.add_host("one");
  const ProblemId first = world.add_problem(30);
  (void)world.grants(host.id);
  const ProblemId second = world.add_problem(30);
  CHECK(world.show(first).waits.empty());
  CHECK(world.show(second).waits == "the one host online computes other problems");
}

TEST_CASE("slots that hold a unit are busy, and those that wait are not") {
  World world;
  world.add_application();
  const TestHost one = world.add_host("one"), two = world.add_host("two");
  const auto busy = [&] {
    return world.look<std::int64_t>([](Transaction& tx) { return slots_now(tx.model, tx.now).busy; });
  };
  CHECK(busy() == 0);
  (void)world.add_problem(30);
  (void)world.add_problem(30);
  const auto grant = world.grants(one.id, 2).front();
  CHECK(busy() == 2);
  (void)world.grants(two.id);
  CHECK(busy() == 3);
  world.finish(grant);
  CHECK(busy() == 2);
}

TEST_CASE("how much is done and when it will be: of the whole problem, the same in the list and to hosts") {
  World world;
  world.add_application();
  const TestHost host = world.add_host("one");
  const ProblemId problem = world.add_problem(30);
  CHECK(world.show(problem).done == 0);
  const auto grant = world.grants(host.id).front();
  world.clock().advance(std::chrono::seconds{20});
  world.finish(grant);
  change_model(world, [&](Transaction& tx) {
    tx.model.problems.at(problem).stage_row.done_before = 0.5;
    tx.model.problems.at(problem).stage_row.cost_ahead = 30;
  });
  (void)world.grants(host.id);
  const auto info = world.show(problem);
  const double part = static_cast<double>(info.accepted) / 60;
  CHECK(info.accepted > 0);
  CHECK(info.done == Approx(0.5 + 0.5 * part));
  CHECK(info.eta_seconds > 0);
  CHECK(info.eta_low_seconds < info.eta_seconds);
  CHECK(info.eta_high_seconds > info.eta_seconds);
  const auto list = must(World::wait<std::vector<protocol::ProblemInfo>>(
      [&](auto done) { world.service().problems().list(std::move(done)); }));
  CHECK(list.front().done == info.done);
  CHECK(list.front().hosts == 1);
  const auto told = world.look<std::vector<protocol::ProblemProgress>>(
      [&](Transaction& tx) { return progress_for(tx, tx.model.hosts.at(host.id)); });
  CHECK(told.front().done == info.done);
}

TEST_CASE("a problem that was ended keeps its part done, and one that goes on forgets its pause") {
  World world;
  world.add_application();
  const TestHost host = world.add_host("one");
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  world.clock().advance(std::chrono::seconds{20});
  world.finish(grant);
  const auto change = [&](service::Problems::Action action) {
    return must(World::wait<protocol::ProblemInfo>(
        [&](auto done) { world.service().problems().change(problem, action, std::move(done)); }));
  };
  const auto pace_known = [&] {
    return world.look<bool>(
        [&](Transaction& tx) { return tx.model.problems.at(problem).pace.over(60, tx.now).deliveries > 0; });
  };
  CHECK(pace_known());
  (void)change(service::Problems::Action::pause);
  (void)change(service::Problems::Action::resume);
  CHECK_FALSE(pace_known());
  const double done = world.show(problem).done;
  CHECK(done > 0);
  CHECK(change(service::Problems::Action::cancel).done == Approx(done));
  world.restart();
  CHECK(world.show(problem).done == Approx(done));
}
