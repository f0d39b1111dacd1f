// Failed kernels: what is set aside, held back and stopped, and how it is tried again, with a store that
// fails.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "server/service/core/stage_changes.h"
#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/says.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;
using protocol::ProblemState;

namespace {

Status fail(World& world, HostId host, const protocol::Grant& grant, std::int64_t item) {
  const protocol::FailureReport report{grant.unit, protocol::FailureKind::kernel_crashed, item, "signal 11"};
  return World::wait_done(
      [&](service::StatusDone done) { world.service().work().failure(host, report, std::move(done)); });
}

Result<protocol::ProblemInfo> upgrade(World& world, ProblemId problem, const std::string& application) {
  return World::wait<protocol::ProblemInfo>([&](auto done) {
    world.service().problems().change_application(problem, {application}, std::move(done));
  });
}

void deliver(World& world, HostId host, const protocol::Grant& grant) {
  (void)must(world.commit(host, World::results(grant.unit, grant.range)));
}

// As with_each_failure(); but the last call that fails may be one of what is done after the answer, until it
// is.
void retry_despite_failures(World& world, const std::function<Status(World&)>& act) {
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

// Everything is accepted but item 0 of three, which failed on two hosts that deliver others.
struct OneBadItem {
  World world;
  TestHost first, second;
  ProblemId problem;

  OneBadItem() {
    world.add_application();
    first = world.add_host("first");
    second = world.add_host("second");
    problem = world.add_problem(3, "", "ss");
    const auto bad = world.grants(first.id).front(), good = world.grants(second.id).front();
    deliver(world, second.id, good);
    must(fail(world, first.id, bad, bad.range.begin));
    for (int asked = 0; asked < 4; ++asked) {
      const auto reply = must(world.work(second.id, world.work_request()));
      if (reply.grants.empty()) break;
      const auto grant = must(protocol::decode<protocol::Grant>(reply.grants.front().payload));
      if (grant.range.begin == bad.range.begin) {
        must(fail(world, second.id, grant, grant.range.begin));
      } else {
        deliver(world, second.id, grant);
      }
    }
    world.tick();
  }
};

}  // namespace

TEST_CASE("an item that failed on two hosts is set aside, the others are accepted, and retry hands it out") {
  OneBadItem bad;
  World& world = bad.world;
  REQUIRE(world.show(bad.problem).state == ProblemState::failed);
  CHECK(world.show(bad.problem).accepted == 2);
  CHECK(says(world.show(bad.problem).message, "1 item failed"));
  world.restart();
  CHECK(world.show(bad.problem).accepted == 2);
  with_each_failure(world,
                    [&](World& w) { return status_of(w.change(bad.problem, Problems::Action::retry)); });
  CHECK(world.show(bad.problem).state == ProblemState::running);
  deliver(world, bad.first.id, world.grants(bad.first.id).front());
  world.settle();
  CHECK(world.show(bad.problem).state == ProblemState::finished);
  CHECK(world.change(bad.problem, Problems::Action::retry).error().kind == ErrorKind::conflict);
  CHECK(world.change(ProblemId{9}, Problems::Action::retry).error().kind == ErrorKind::not_found);
}

TEST_CASE("items whose results say that they failed are computed again, and nothing else") {
  World world;
  world.add_application();
  const TestHost host = world.add_host("first"), other = world.add_host("second");
  const bool finished = GENERATE(true, false);
  const ProblemId problem = world.add_problem(finished ? 3 : 4, "", "ss");
  const auto retry = [&](World& w) {
    return status_of(World::wait<protocol::ProblemInfo>(
        [&](auto done) { w.service().problems().retry_failed(problem, std::move(done)); }));
  };
  CHECK(retry(world).error().message == "problem " + world.show(problem).name + " has no failed items");
  for (int unit = 0; unit < 3; ++unit) {
    const auto grant = world.grants(host.id).front();
    const auto word = [](std::int64_t item) { return item == 1 ? "bad" : "good"; };
    const auto request = world.uploaded(World::results(grant.unit, grant.range, true, word));
    REQUIRE(must(world.commit(host.id, request)).status == protocol::CommitStatus::accepted);
  }
  world.settle();
  REQUIRE(world.show(problem).state == (finished ? ProblemState::finished : ProblemState::running));
  retry_despite_failures(world, retry);
  CHECK(world.show(problem).state == ProblemState::running);
  CHECK(world.show(problem).accepted == 2);
  const auto decided = must(World::wait<std::vector<protocol::DecisionInfo>>(
      [&](auto done) { world.service().problems().decisions(problem, 100, std::move(done)); }));
  const auto said =
      std::find_if(decided.begin(), decided.end(), [](const auto& d) { return d.kind == "reject"; });
  REQUIRE(said != decided.end());
  CHECK(said->range == Range{1, 2});
  CHECK(said->reason == "the administrator retries failed items");
  if (GENERATE(false, true)) world.restart();
  CHECK(world.show(problem).accepted == 2);
  RangeSet open;
  for (int unit = finished ? 0 : -1; unit < 1; ++unit) {
    const auto grant = world.grants(other.id).front();
    open.add(grant.range);
    deliver(world, other.id, grant);
  }
  CHECK(open.contains(1));
  CHECK(open.total() == (finished ? 1 : 2));
  world.settle();
  CHECK(world.show(problem).state == ProblemState::finished);
  CHECK(retry(world).error().kind == ErrorKind::conflict);
  CHECK(replay_fault(world).empty());
}

TEST_CASE("failed items are not retried where nobody knows them, and not of what is over for good") {
  World world;
  world.add_application();
  const TestHost host = world.add_host("first");
  const ProblemId problem = world.add_problem(1, ", \"mute\": 1", "ss");
  const auto retry = [&](ProblemId id) {
    return World::wait<protocol::ProblemInfo>(
               [&](auto done) { world.service().problems().retry_failed(id, std::move(done)); })
        .error();
  };
  CHECK(says(retry(problem).message, "nobody knows"));
  deliver(world, host.id, world.grants(host.id).front());
  world.settle();
  CHECK(retry(problem).kind == ErrorKind::conflict);
  CHECK(world.show(problem).state == ProblemState::finished);
  CHECK(retry(ProblemId{9}).kind == ErrorKind::not_found);
  const ProblemId ended = world.add_problem(1, "", "ss");
  must(status_of(world.change(ended, Problems::Action::cancel)));
  CHECK(says(retry(ended).message, "is cancelled already"));
}

TEST_CASE("a version that names the present one computes the rest, others are refused") {
  OneBadItem bad;
  World& world = bad.world;
  world.add_application({"2.0.0"});
  CHECK(upgrade(world, bad.problem, "numbers@2.0.0").error().kind == ErrorKind::conflict);
  CHECK(upgrade(world, bad.problem, "numbers@3.0.0").error().kind == ErrorKind::not_found);
  ManagerOptions mended{"1.0.1"};
  mended.compatible_with = "1.0.0";
  world.add_application(mended);
  with_each_failure(world, [&](World& w) { return status_of(upgrade(w, bad.problem, "numbers@1.0.1")); });
  CHECK(world.show(bad.problem).application == "numbers@1.0.1");
  CHECK(world.show(bad.problem).state == ProblemState::running);
  world.restart();
  const auto grant = world.grants(bad.second.id).front();
  must(fail(world, bad.second.id, grant, grant.range.begin));
  std::map<std::string, std::int64_t> failed;  // the same words, of each version
  for (const auto& group : world.show(bad.problem).errors) failed[group.application] += group.times;
  CHECK(failed.size() == 2);
  CHECK(failed["numbers@1.0.0"] > 0);
  CHECK(failed["numbers@1.0.1"] == 1);
  deliver(world, bad.second.id, world.grants(bad.second.id).front());
  world.settle();
  CHECK(world.show(bad.problem).state == ProblemState::finished);
  CHECK(upgrade(world, bad.problem, "numbers@1.0.1").error().kind == ErrorKind::conflict);
}

TEST_CASE(
    "a version that does not take the problem's parameters or inputs is refused, and nothing has changed") {
  OneBadItem bad;
  World& world = bad.world;
  ManagerOptions strict{"1.0.1"};
  strict.compatible_with = "1.0.0";
  strict.form =
      "[[parameter]]\nname = \"count\"\ntype = \"integer\"\nmeaning = \"how many\"\nlow = 4\n"
      "[[parameter]]\nname = \"base\"\ntype = \"text\"\nmeaning = \"of the words\"\nrequired = true\n"
      "[[input]]\nname = \"words.txt\"\nmeaning = \"a word a line\"\nrequired = true\n";
  world.add_application(strict);
  const std::string before = world.memory();
  const auto refused = upgrade(world, bad.problem, "numbers@1.0.1");
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::conflict);
  for (const auto* said : {"numbers@1.0.1 does not take what problem", "count: must be",
                           "base: must be given", "words.txt", "app show numbers@1.0.1"})
    CHECK(says(refused.error().message, said));
  CHECK(world.memory() == before);
  CHECK(world.show(bad.problem).application == "numbers@1.0.0");
  CHECK(world.show(bad.problem).state == ProblemState::failed);
}

TEST_CASE("open units are given back when another version takes over") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  (void)world.grants(host.id);
  REQUIRE(world.show(problem).open_units == 1);
  ManagerOptions mended{"1.0.1"};
  mended.compatible_with = "1.0.0";
  world.add_application(mended);
  with_each_failure(world, [&](World& w) { return status_of(upgrade(w, problem, "numbers@1.0.1")); });
  CHECK(world.show(problem).open_units == 0);
  CHECK(world.show(problem).free == 30);
}

TEST_CASE("an application that fails on most hosts is stopped with all its problems until it is retried") {
  World world;
  world.add_application();
  const TestHost one = world.add_host("one"), two = world.add_host("two");
  const ProblemId first = world.add_problem(30), second = world.add_problem(30);
  for (int time = 0; time < 6 && world.show(first).state == ProblemState::running; ++time) {
    const TestHost& host = time % 2 == 0 ? one : two;
    const auto reply = must(world.work(host.id, world.work_request()));
    if (reply.grants.empty()) {
      world.clock().advance(std::chrono::seconds{31});
      continue;
    }
    const auto grant = must(protocol::decode<protocol::Grant>(reply.grants.front().payload));
    must(fail(world, host.id, grant, grant.range.begin));
  }
  for (const ProblemId problem : {first, second}) {
    CHECK(world.show(problem).state == ProblemState::stopped);
    CHECK(says(world.show(problem).message, "stopped: numbers@1.0.0: it fails on 2 of 2 hosts"));
  }
  with_each_failure(world, [&](World& w) { return status_of(w.change(first, Problems::Action::retry)); });
  CHECK(world.show(first).state == ProblemState::running);
  CHECK(world.show(first).message.empty());
  CHECK(world.grants(one.id).size() == 1);
  CHECK(must(world.change(second, Problems::Action::resume)).message.empty());
  CHECK(world.show(second).state == ProblemState::running);
}

TEST_CASE("what hosts lack stops no application, and is told once, whatever differs from host to host") {
  World world;
  world.add_application();
  std::vector<TestHost> hosts;
  for (int i = 0; i < 4; ++i) hosts.push_back(world.add_host("host-" + std::to_string(i)));
  const auto healthy = world.add_host("healthy");
  const ProblemId problem = world.add_problem(20, "", "ss");
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const auto reply = must(world.work(hosts[i].id, world.work_request()));
      if (reply.grants.empty()) continue;
      const auto grant = must(protocol::decode<protocol::Grant>(reply.grants.front().payload));
      const protocol::FailureReport report{grant.unit, protocol::FailureKind::not_executable, 0,
                                           "gleaner-sandbox: cannot join /sys/fs/cgroup/" +
                                               std::to_string(i) + "/gleaner-12" + std::to_string(i) +
                                               "45-kernels: No such file or directory"};
      must(World::wait_done([&](service::StatusDone done) {
        world.service().work().failure(hosts[i].id, report, std::move(done));
      }));
    }
    world.clock().advance(std::chrono::minutes{10});
  }
  const auto info = world.show(problem);
  CHECK(info.state == ProblemState::running);
  REQUIRE(info.errors.size() == 1);
  CHECK(info.errors.front().hosts == 4);
  CHECK(info.errors.front().times > 4);
  CHECK_FALSE(world.grants(healthy.id).empty());
}

TEST_CASE("failures of strangers that have delivered nothing take no item away and stop nothing") {
  World world(Hosts::strangers);
  world.add_application();
  const ProblemId problem = world.add_problem(20, "", "ss");
  for (int number = 0; number < 60; ++number) {
    const TestHost host = world.add_host("vandal-" + std::to_string(number));
    const auto grant = world.grants(host.id).front();
    must(fail(world, host.id, grant, grant.range.begin));
  }
  world.tick();
  CHECK(world.show(problem).state == ProblemState::running);
  CHECK(world.show(problem).free == 20);
  const TestHost honest = world.add_host("honest");
  deliver(world, honest.id, world.grants(honest.id).front());
  CHECK(world.show(problem).accepted == 1);
}

TEST_CASE("of a problem's failures the last hundred are kept in memory, also after a restart") {
  World world(Hosts::strangers);
  world.add_application();
  const ProblemId problem = world.add_problem(200, "", "ss");
  const auto kept = [&] {
    return world.look<std::pair<std::size_t, std::int64_t>>([&](Transaction& tx) {
      const auto& failures = tx.model.problems.at(problem).recent_failures;
      return std::pair{failures.size(), failures.back().unit.value};
    });
  };
  std::int64_t last = 0;
  for (int number = 0; number < 103; ++number) {
    const TestHost host = world.add_host("vandal-" + std::to_string(number));
    const auto grant = world.grants(host.id).front();
    must(fail(world, host.id, grant, grant.range.begin));
    last = grant.unit.value;
  }
  CHECK(kept() == std::pair{std::size_t{100}, last});
  const auto shown = world.show(problem).set_aside;
  CHECK(shown.size() == 20);
  world.restart();
  CHECK(kept() == std::pair{std::size_t{100}, last});
  CHECK(world.show(problem).set_aside.size() == 20);
}

TEST_CASE("a failure that is reported of an item outside the unit is held against its first item") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  must(fail(world, host.id, grant, grant.range.end + 100));
  CHECK(world.show(problem).free == 30);
  CHECK(world.show(problem).open_units == 0);
  (void)world.memory();
}

TEST_CASE("a host that fails with several applications gets nothing for a while") {
  World world;
  world.add_application();
  world.add_application({"2.0.0"});
  const auto add = [&](const std::string& application) {
    protocol::AddProblem request;
    request.application = application;
    request.parameters = R"({"count": 1000})";
    request.validation = "checks";
    request.strategy = "ss";
    return must(world.try_add_problem(request)).id;
  };
  const ProblemId first = add("numbers@1.0.0"), second = add("numbers@2.0.0");
  // Three hosts show that both work.
  for (const std::string name : {"one", "two", "three"}) {
    const TestHost host = world.add_host(name);
    for (const ProblemId other : {first, second}) {
      (void)must(world.change(other, Problems::Action::pause));
      deliver(world, host.id, world.grants(host.id).front());
      (void)must(world.change(other, Problems::Action::resume));
    }
  }
  const TestHost broken = world.add_host("broken");
  std::string reason;
  for (int i = 0; i < 12 && reason.find("several") == std::string::npos; ++i) {
    const auto reply = must(world.work(broken.id, world.work_request()));
    if (reply.grants.empty()) {
      world.clock().advance(std::chrono::seconds{31});
    } else {
      const auto grant = must(protocol::decode<protocol::Grant>(reply.grants.front().payload));
      must(fail(world, broken.id, grant, grant.range.begin));
    }
    reason = world.look<std::string>([&](Transaction& tx) {
      const auto& health = tx.model.hosts.at(broken.id).row.health;
      return health.blocked_until > tx.now ? "several: " + health.reason : std::string();
    });
  }
  CHECK(says(reason, "several: "));
  const auto held_back = must(world.work(broken.id, world.work_request()));
  CHECK(held_back.grants.empty());
  CHECK(says(held_back.reason, "held back after failures"));
  CHECK(world.show(first).state == ProblemState::running);
  CHECK(world.show(second).state == ProblemState::running);
  (void)world.memory();  // it is stored, too
}

TEST_CASE("while a stage is planned or combined no other version takes over") {
  OneBadItem bad;
  World& world = bad.world;
  ManagerOptions mended{"1.0.1"};
  mended.compatible_with = "1.0.0";
  world.add_application(mended);
  const auto jobs = [&](const std::set<ProblemId>& ids) {
    (void)world.look<bool>([&](Transaction& tx) {
      tx.model.underway.jobs = ids;
      return true;
    });
  };
  jobs({bad.problem});
  const auto refused = upgrade(world, bad.problem, "numbers@1.0.1");
  jobs({});
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::conflict);
  CHECK(says(refused.error().message, "try again in a moment"));
  CHECK(upgrade(world, bad.problem, "numbers@1.0.1").ok());
}

TEST_CASE("set-aside items of a problem that goes on are tried again without the rest being touched") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30, "", "ss");
  deliver(world, host.id, world.grants(host.id).front());
  const auto bad = world.grants(host.id).front();
  (void)world.look<bool>([&](Transaction& tx) {  // as if it had failed on two hosts
    Problem& p = tx.model.problems.at(problem);
    policy::Changes changes;
    p.stage->apply(
        policy::GiveBackEvent{host.id, bad.unit, policy::GiveBack::set_aside, bad.range.begin, "it failed"},
        tx.now, changes);
    must(store_stage(tx, p, changes));
    return true;
  });
  CHECK(says(world.show(problem).message, "1 item quarantined"));
  REQUIRE(!world.show(problem).set_aside.empty());
  (void)world.memory();
  with_each_failure(world, [&](World& w) { return status_of(w.change(problem, Problems::Action::retry)); });
  const auto info = world.show(problem);
  CHECK(info.message.empty());
  CHECK(info.set_aside.empty());
  CHECK(info.accepted == 1);
  CHECK(info.free == 29);
}
