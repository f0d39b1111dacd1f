// Results come in: nothing is acknowledged that is not stored, nothing is counted twice, and what can never
// be taken is refused with the reason.
#include "shared/crypto/keys.h"
#include "shared/io/compression.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using protocol::CommitStatus;

namespace {

struct Started {
  World world;
  TestHost host;
  ProblemId problem;
  protocol::Grant grant;

  explicit Started(int items = 30, const std::string& more = "") {
    world.add_application();
    host = world.add_host();
    problem = world.add_problem(items, more);
    grant = world.grants(host.id).front();
  }
  Range first() const { return {grant.range.begin, grant.range.begin + 1}; }
};

}  // namespace

TEST_CASE("a finished prefix is accepted once, however often it is sent") {
  Started s;
  const auto request = World::results(s.grant.unit, s.first());
  const auto answer = must(s.world.commit(s.host.id, request));
  CHECK(answer.status == CommitStatus::accepted);
  CHECK(answer.items_accepted == 1);
  CHECK(answer.digest == request.digest);
  s.world.clock().advance(std::chrono::seconds{5});
  const auto again = must(s.world.commit(s.host.id, request));
  CHECK(again.status == CommitStatus::accepted);
  CHECK(again.at == answer.at);
  CHECK(s.world.show(s.problem).accepted == 1);
  CHECK(says(s.world.memory(), "accepted 1 "));
  s.world.restart();
  CHECK(must(s.world.commit(s.host.id, request)).at == answer.at);
  CHECK(s.world.show(s.problem).accepted == 1);
}

TEST_CASE("a commit: whatever call of the store fails, nothing is acknowledged and nothing taken") {
  Started s;
  with_each_failure(s.world, [&](World& w) -> Status {
    const auto answer = w.commit(s.host.id, World::results(s.grant.unit, s.first()));
    if (!answer.ok()) return answer.error();
    CHECK(answer->status == CommitStatus::accepted);
    return {};
  });
  CHECK(s.world.show(s.problem).accepted == 1);
  s.world.restart();
  CHECK(s.world.show(s.problem).accepted == 1);
}

TEST_CASE("the last commit of a problem: stored and combined, or neither, at any failure") {
  // Failures later than the commit itself hit the combining: see life_cycle_test.
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(1);
  const auto grant = world.grants(host.id).front();
  for (int n = 1;; ++n) {
    const std::string before = world.memory();
    world.store().fail_at(n);
    const auto answer = world.commit(host.id, World::results(grant.unit, grant.range, true));
    world.store().heal();
    if (answer.ok()) break;
    REQUIRE(world.store().failed());
    world.settle();
    REQUIRE(world.memory() == before);
  }
  world.tick();
  CHECK(world.show(problem).state == protocol::ProblemState::finished);
  CHECK(world.show(problem).results.size() == 1);
}

TEST_CASE("what the bytes are not is refused, and the host is to blame") {
  Started s;
  const auto refuse = [&](const protocol::CommitRequest& request, const std::string& why) {
    const auto answer = must(s.world.commit(s.host.id, request));
    CHECK(answer.status == CommitStatus::refused);
    CHECK(says(answer.reason, why));
    CHECK(s.world.show(s.problem).accepted == 0);
  };
  auto request = World::results(s.grant.unit, s.first());
  request.digest = std::string(64, 'a');
  refuse(request, "length and digest");
  request = World::results(s.grant.unit, s.first());
  request.bytes += 1;
  refuse(request, "length and digest");
  request = World::results(s.grant.unit, s.first());
  request.data = "not zlib";
  refuse(request, "cannot be read");
  request = World::results(s.grant.unit, {s.first().begin, s.first().end + 1});
  request.range = s.first();
  refuse(request, "item");
  refuse(World::results(s.grant.unit, s.first(), false, [](std::int64_t) { return "wrong"; }),
         "it says so itself");
  refuse(World::results(s.grant.unit, s.first(), false, [](std::int64_t) { return std::string(65, 'x'); }),
         "item");
  CHECK(says(s.world.memory(), "failures 6"));
}

TEST_CASE("what belongs to nobody is refused without blame") {
  Started s;
  const TestHost other = s.world.add_host("other");
  auto answer = must(s.world.commit(s.host.id, World::results(UnitId{99}, {0, 1})));
  CHECK(answer.status == CommitStatus::refused);
  CHECK(says(answer.reason, "never gave unit 99"));
  answer = must(s.world.commit(other.id, World::results(s.grant.unit, s.first())));
  CHECK(says(answer.reason, "never gave unit"));
  answer = must(s.world.commit(s.host.id, World::results(s.grant.unit, {25, 30})));
  CHECK(answer.status == CommitStatus::refused);
  (void)must(s.world.change(s.problem, service::Problems::Action::cancel));
  answer = must(s.world.commit(s.host.id, World::results(s.grant.unit, s.first())));
  CHECK(says(answer.reason, "needs no more results"));
  CHECK(says(s.world.memory(), "failures 0 disagreements 0 units"));
}

TEST_CASE("a refusal that blames the host is stored whole or not at all") {
  Started s;
  with_each_failure(s.world, [&](World& w) -> Status {
    const auto answer = w.commit(
        s.host.id, World::results(s.grant.unit, s.first(), false, [](std::int64_t) { return "wrong"; }));
    if (!answer.ok()) return answer.error();
    CHECK(answer->status == CommitStatus::refused);
    return {};
  });
  CHECK(says(s.world.memory(), "failures 1"));
}

TEST_CASE("a large segment is uploaded first") {
  Started s;
  auto request = World::results(s.grant.unit, s.first());
  const Bytes raw = must(io::decompress(*request.data, 1000));
  request.data.reset();
  const auto early = s.world.commit(s.host.id, request);
  REQUIRE(!early.ok());
  CHECK(early.error().kind == ErrorKind::conflict);
  CHECK(says(early.error().message, "upload the segment"));
  must(s.world.service().kernel().blobs().put(raw));
  CHECK(must(s.world.commit(s.host.id, request)).status == CommitStatus::accepted);
}

TEST_CASE("what another host delivered first is a duplicate, and compared") {
  Started s(1);
  const TestHost other = s.world.add_host("other");
  s.world.clock().advance(std::chrono::hours{25});
  s.world.tick();  // the lease is over
  const auto second = s.world.grants(other.id).front();
  CHECK(second.range == s.grant.range);
  CHECK(must(s.world.commit(s.host.id, World::results(s.grant.unit, s.grant.range, true))).status ==
        CommitStatus::accepted);  // late, but first
  const auto answer = must(s.world.commit(other.id, World::results(second.unit, second.range, true)));
  CHECK(answer.status != CommitStatus::accepted);
}

TEST_CASE("when the manager needs no more, the rest is given up") {
  Started s(1000, ", \"enough\": 1");
  const auto answer = must(s.world.commit(s.host.id, World::results(s.grant.unit, s.grant.range, true)));
  CHECK(answer.status == CommitStatus::accepted);
  s.world.settle();
  CHECK(s.world.show(s.problem).state == protocol::ProblemState::finished);
}

TEST_CASE("the end by enough is stored whole or not at all") {
  Started s(1000, ", \"enough\": 1");
  for (int n = 1;; ++n) {
    const std::string before = s.world.memory();
    s.world.store().fail_at(n);
    const auto answer = s.world.commit(s.host.id, World::results(s.grant.unit, s.grant.range, true));
    s.world.store().heal();
    if (answer.ok()) break;
    s.world.settle();
    REQUIRE(s.world.memory() == before);
  }
  s.world.tick();
  CHECK(s.world.show(s.problem).state == protocol::ProblemState::finished);
}

TEST_CASE("a disk that is nearly full takes no results, and they may come again") {
  World world([](service::Configuration& c) { c.disk_reserve_megabytes = 1 << 20; });  // a tebibyte
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  const auto answer = world.commit(host.id, World::results(grant.unit, grant.range, true));
  REQUIRE(!answer.ok());
  CHECK(answer.error().kind == ErrorKind::unavailable);
  CHECK(says(answer.error().message, "keep the result"));
  CHECK(world.show(problem).accepted == 0);
}

TEST_CASE("an uploaded segment that was damaged here is to be uploaded again, and nobody is to blame") {
  Started s;
  auto request = World::results(s.grant.unit, s.first());
  const Bytes raw = must(io::decompress(*request.data, 1000));
  request.data.reset();
  auto& blobs = s.world.service().kernel().blobs();
  must(blobs.put(raw));
  Bytes changed = raw;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  must(io::real_files().write(blobs.path(request.digest), changed, io::Mode::normal));
  const auto refused = s.world.commit(s.host.id, request);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::conflict);
  CHECK(says(refused.error().message, "was damaged here: upload it again"));
  CHECK(s.world.look<std::int64_t>(
            [&](service::Transaction& tx) { return tx.model.hosts.at(s.host.id).row.health.failures; }) == 0);
  must(blobs.put(raw));
  CHECK(must(s.world.commit(s.host.id, request)).status == CommitStatus::accepted);
}

TEST_CASE("a result whose problem ended while it was checked is refused without blame") {
  Started s;
  service::PreparedCommit checked;
  checked.request = World::results(s.grant.unit, s.first());
  checked.problem = s.problem;
  const auto apply = [&] {
    return s.world.look<protocol::Acknowledgement>([&](service::Transaction& tx) {
      std::vector<protocol::Acknowledgement> answers;
      must(service::apply_commits(tx, s.host.id, {checked}, answers));
      return answers.at(0);
    });
  };
  checked.stage = 1;
  CHECK(says(apply().reason, "needs no more results of this stage"));
  checked.stage = 0;
  (void)must(s.world.change(s.problem, service::Problems::Action::cancel));
  const auto answer = apply();
  CHECK(answer.status == CommitStatus::refused);
  CHECK(says(answer.reason, "needs no more results of this stage"));
  CHECK(answer.items_accepted == 0);
  (void)s.world.memory();
}
