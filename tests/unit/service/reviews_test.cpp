// Two hosts deliver the same items: they are compared, and who is right is decided once, also across failures
// and restarts.
#include "server/service/work/reviews.h"

#include <thread>

#include "tests/unit/service/log_lines.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;

namespace {

std::string said_by(const std::string& who, std::int64_t item) {
  return who + "-" + std::to_string(item);
}

// Ten items, of which the first was delivered by one host and is delivered by another while the rest is open.
struct Disputed {
  World world;
  TestHost first, second, third;
  ProblemId problem;
  protocol::Grant late, present;

  explicit Disputed(const std::string& comparison = "exact") {
    world.add_application({"1.0.0", comparison, false});
    first = world.add_host("first");
    second = world.add_host("second");
    third = world.add_host("third");
    problem = world.add_problem(10);
    late = world.grants(first.id).front();
    world.clock().advance(std::chrono::hours{25});
    world.tick();
    present = world.grants(second.id).front();
    REQUIRE(present.range.begin == late.range.begin);
  }
  [[nodiscard]] Range item() const { return {late.range.begin, late.range.begin + 1}; }
  [[nodiscard]] Result<protocol::Acknowledgement> deliver(const protocol::Grant& grant,
                                                          const std::string& word) {
    return world.commit(grant.host, World::results(grant.unit, item(), false,
                                                   [&](std::int64_t i) { return said_by(word, i); }));
  }
  std::vector<storage::VerdictRow> verdicts() {
    return world.look<std::vector<storage::VerdictRow>>(
        [this](service::Transaction& tx) { return must(tx.store.verdicts(problem)); });
  }
  std::int64_t disagreements_of(HostId host) {
    return world.look<std::int64_t>(
        [host](service::Transaction& tx) { return tx.model.hosts.at(host).row.disagreements; });
  }
};

}  // namespace

TEST_CASE("an item that two hosts see alike is settled") {
  Disputed d;
  CHECK(must(d.deliver(d.late, "same")).status == protocol::CommitStatus::accepted);
  CHECK(must(d.deliver(d.present, "same")).status == protocol::CommitStatus::duplicate);
  d.world.settle();
  const auto verdicts = d.verdicts();
  REQUIRE(verdicts.size() == 1);
  CHECK(verdicts[0].agree);
  CHECK(verdicts[0].range == d.item());
  CHECK(d.world.show(d.problem).disagreements == 0);
}

TEST_CASE("an item that two hosts see differently goes to a third, and who is alone was wrong") {
  Disputed d;
  (void)must(d.deliver(d.late, "lie"));
  (void)must(d.deliver(d.present, "truth"));
  d.world.settle();
  REQUIRE(d.verdicts().size() == 1);
  CHECK(!d.verdicts()[0].agree);
  CHECK(d.world.show(d.problem).disagreements == 1);
  (void)d.world.memory();
  // The third host is asked for exactly that item.
  bool decided = false;
  for (int round = 0; round < 20 && !decided; ++round) {
    const auto grant = d.world.grants(d.third.id).front();
    const auto answer =
        must(d.world.commit(d.third.id, World::results(grant.unit, grant.range, true,
                                                       [&](std::int64_t i) { return said_by("truth", i); })));
    CHECK(answer.status != protocol::CommitStatus::refused);
    d.world.settle();
    decided = grant.range.contains(d.item().begin);
  }
  REQUIRE(decided);
  CHECK(d.disagreements_of(d.first.id) == 1);
  CHECK(d.disagreements_of(d.second.id) == 0);
  CHECK(d.verdicts().back().wrong_host == d.first.id);
  (void)d.world.memory();
}

TEST_CASE("what a verdict finds wrong is wasted work, of whoever delivered it, also after a restart") {
  Disputed d;
  const auto wasted = [&](const TestHost& host) {
    for (const auto& share : d.world.show(d.problem).shares)
      if (share.host == host.id) return share.wasted_cost;
    return -1.0;
  };
  bool liar_came_first = true;
  SECTION("it had been accepted") {}
  SECTION("it came second") {
    liar_came_first = false;
  }
  (void)must(d.deliver(d.late, liar_came_first ? "lie" : "truth"));
  (void)must(d.deliver(d.present, liar_came_first ? "truth" : "lie"));
  d.world.settle();
  CHECK(wasted(d.first) == 0);
  CHECK(wasted(d.second) == 1);  // it came twice, and nobody had asked for it
  for (bool decided = false; !decided;) {
    const auto grant = d.world.grants(d.third.id).front();
    (void)must(d.world.commit(d.third.id, World::results(grant.unit, grant.range, true, [&](std::int64_t i) {
                                return said_by("truth", i);
                              })));
    d.world.settle();
    decided = grant.range.contains(d.item().begin);
  }
  const auto check = [&] {
    const auto info = d.world.show(d.problem);
    CHECK(wasted(d.first) == (liar_came_first ? 1 : 0));
    CHECK(wasted(d.second) == (liar_came_first ? 0 : 1));
    CHECK(wasted(d.third) == 0);
    CHECK(info.wasted_cost == 1);
    CHECK(info.wasted == Approx(1 / (1 + info.cost_accepted)));
  };
  check();
  (void)d.world.memory();
  d.world.restart();
  check();
}

TEST_CASE("the application may say that different bytes are the same") {
  Disputed d("manager");
  (void)must(d.deliver(d.late, "close"));
  (void)must(d.deliver(d.present, "very close"));
  d.world.settle();
  REQUIRE(d.verdicts().size() == 1);
  CHECK(d.verdicts()[0].agree);
}

TEST_CASE("a commit that overlaps: no comparison starts for what was not stored") {
  Disputed d;
  (void)must(d.deliver(d.late, "lie"));
  for (int n = 1;; ++n) {
    const std::string before = d.world.memory();
    d.world.store().fail_at(n);
    const auto answer = d.deliver(d.present, "truth");
    d.world.store().heal();
    if (answer.ok()) break;
    d.world.settle();
    REQUIRE(d.world.memory() == before);
    REQUIRE(d.verdicts().empty());
  }
  d.world.settle();
  CHECK(d.verdicts().size() == 1);
}

TEST_CASE("a comparison whose end cannot be stored is stored later") {
  for (int n = 1; n < 12; ++n) {
    INFO("call " << n << " while it is settled fails");
    Disputed d;
    (void)must(d.deliver(d.late, "lie"));
    service::effect::Review job;
    job.problem = d.problem;
    job.range = d.item();
    service::ReviewFinding finding;
    finding.range = d.item();
    finding.verdict.kind = policy::VerdictKind::need_another;
    finding.verdict.differ = true;
    finding.opinions = {{d.first.id, SegmentId{1}}, {d.second.id, SegmentId{1}}};
    finding.verdict.classes = {0, 1};
    const std::string before = d.world.memory();
    const auto commits = d.world.store().commits();
    d.world.store().fail_at(n);
    d.world.service().kernel().writer().submit_surely([=](service::Transaction& tx) {
      return service::settle_review(tx, job, std::vector<service::ReviewFinding>{finding});
    });
    while (!d.world.store().failed() && d.world.store().commits() == commits)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    const bool failed = d.world.store().failed();
    d.world.store().heal();
    if (failed) CHECK(d.world.memory() == before);
    d.world.tick();
    CHECK(d.verdicts().size() == 1);
    CHECK(d.world.show(d.problem).disagreements == 1);
    (void)d.world.memory();
    if (!failed) break;
  }
}

TEST_CASE("a comparison that a restart interrupted is made again") {
  Disputed d;
  (void)must(d.deliver(d.late, "lie"));
  (void)must(d.deliver(d.present, "truth"));
  d.world.settle();
  d.world.restart();  // a dispute is open: it is still one
  d.world.settle();
  CHECK(d.world.show(d.problem).disagreements == 1);  // and is counted once
  const auto open = d.verdicts();
  CHECK(open.size() == 1);
  CHECK(!open.back().agree);
  (void)d.world.memory();
}

TEST_CASE("an item that one host began and another ended is the first one's opinion") {
  World world;
  world.add_application({"1.0.0", "exact", true});
  const TestHost first = world.add_host("first"), second = world.add_host("second");
  const ProblemId problem = world.add_problem(2, "", "ss");
  const auto begun = world.grants(first.id).front();
  protocol::UnitReport report;
  report.unit = begun.unit;
  report.finished = begun.range.begin;
  protocol::HeartbeatRequest request;
  request.units = {report};
  request.saved = {{begun.unit, begun.range.begin, 0.5, "half an item"}};
  (void)must(World::wait<protocol::HeartbeatReply>(
      [&](auto done) { world.service().work().heartbeat(first.id, request, std::move(done)); }));
  must(World::wait_done(
      [&](service::StatusDone done) { world.service().enrolment().leave(first.id, std::move(done)); }));
  auto ended = world.grants(second.id).front();
  if (!ended.begun) ended = world.grants(second.id).front();
  REQUIRE(ended.begun);
  (void)must(world.commit(second.id, World::results(ended.unit, ended.range)));
  const auto job = world.look<service::effect::Review>([&](service::Transaction& tx) {
    must(service::start_review(tx, tx.model.problems.at(problem), {ended.range}));
    tx.model.underway.reviews.clear();  // nobody makes it
    for (auto& effect : tx.effects.take())
      if (auto* review = std::get_if<service::effect::Review>(&effect)) return *review;
    return service::effect::Review{};
  });
  REQUIRE(job.segments.size() == 1);
  CHECK(job.segments[0].host == second.id);
  CHECK(job.begun_by.at({job.segments[0].id, ended.range.begin}) == first.id);
  CHECK(job.witnesses.size() == 2);
  CHECK(job.witnesses.at(first.id).host == first.id);
}

TEST_CASE("a comparison that failed for a reason of this machine is tried again, and the problem says so") {
  Disputed d;
  (void)must(d.deliver(d.late, "same"));
  (void)must(d.deliver(d.present, "same"));
  d.world.settle();
  const std::size_t before = d.verdicts().size();
  service::effect::Review job;
  job.problem = d.problem;
  job.range = d.item();
  (void)d.world.look<bool>([&](service::Transaction& tx) {
    must(service::settle_review(tx, job, Error{ErrorKind::io, "a segment cannot be read"}));
    return true;
  });
  CHECK(says(d.world.show(d.problem).waits, "items 0-1 could not be compared: a segment cannot be read"));
  d.world.tick();
  d.world.settle();
  CHECK(d.verdicts().size() == before);  // not at once
  d.world.clock().advance(std::chrono::seconds{limits::job_wait_seconds_min});
  d.world.tick();
  d.world.settle();
  CHECK(d.verdicts().size() == before + 1);
  CHECK(d.verdicts().back().agree);
  CHECK(d.world.show(d.problem).waits.find("compared") == std::string::npos);
  (void)d.world.memory();
}

TEST_CASE(
    "what nobody delivered is not compared, and a comparison that failed does not hold its problem up") {
  const LogLines log;
  Disputed d;
  const auto under_way = [&] {
    return d.world.look<std::size_t>(
        [](service::Transaction& tx) { return tx.model.underway.reviews.size(); });
  };
  (void)d.world.look<bool>([&](service::Transaction& tx) {
    auto& problem = tx.model.problems.at(d.problem);
    must(service::start_review(tx, problem, {}));
    must(service::start_review(tx, problem, {d.item()}));
    return true;
  });
  CHECK(under_way() == 0);
  service::effect::Review job;
  job.problem = d.problem;
  job.range = d.item();
  (void)d.world.look<bool>([&](service::Transaction& tx) {
    tx.model.underway.reviews[d.problem] = 2;
    must(service::settle_review(tx, job, Error{ErrorKind::invalid, "a segment cannot be read"}));
    return true;
  });
  CHECK(under_way() == 1);  // the other one goes on
  CHECK(log.has("could not be compared: a segment cannot be read"));
  (void)d.world.look<bool>([&](service::Transaction& tx) {
    must(service::settle_review(tx, job, std::vector<service::ReviewFinding>{}));
    return true;
  });
  CHECK(under_way() == 0);
  CHECK(d.verdicts().empty());
  (void)d.world.memory();
}

TEST_CASE("a comparison that failed is told") {
  const LogLines log;
  Disputed d;
  service::effect::Review job;
  job.problem = d.problem;
  job.range = d.item();
  service::ReviewFinding finding;
  finding.failure = "close.py exited with status 127";
  (void)d.world.look<bool>([&](service::Transaction& tx) {
    must(service::settle_review(tx, job, std::vector<service::ReviewFinding>{finding, finding}));
    return true;
  });
  CHECK(says(d.world.show(d.problem).message, "counts as a difference: close.py exited with status 127"));
  CHECK(log.has("close.py exited with status 127"));
  (void)d.world.memory();
}

TEST_CASE("an item on which no two hosts agree is set aside") {
  Disputed d;
  (void)must(d.deliver(d.late, "one"));
  d.world.settle();
  service::effect::Review job;
  job.problem = d.problem;
  job.range = d.item();
  service::ReviewFinding finding;
  finding.range = d.item();
  finding.verdict.kind = policy::VerdictKind::undecided;
  finding.opinions = {{d.first.id, SegmentId{1}}};
  with_each_failure(d.world, [&](World& w) {
    return w.operate([job, finding](service::Transaction& tx) {
      return service::settle_review(tx, job, std::vector<service::ReviewFinding>{finding});
    });
  });
  REQUIRE(d.verdicts().size() == 1);
  CHECK(says(d.verdicts()[0].note, "no two hosts agree"));
  REQUIRE(!d.world.show(d.problem).set_aside.empty());
  CHECK(d.world.show(d.problem).set_aside[0].range == d.item());
  CHECK(d.world.show(d.problem).accepted == 0);
  d.world.restart();
  CHECK(d.world.show(d.problem).accepted == 0);  // nor is it combined, or shown as accepted
  CHECK(must(d.deliver(d.present, "late")).status == protocol::CommitStatus::duplicate);
  d.world.settle();
  CHECK(d.world.show(d.problem).accepted == 0);  // one more opinion decides nothing
  CHECK(d.world.show(d.problem).set_aside[0].range == d.item());
  (void)must(d.world.change(d.problem, service::Problems::Action::retry));
  CHECK(d.world.show(d.problem).free == 10);
  (void)d.world.memory();
}
