// Which results are believed: audits of strangers' deliveries, what verdicts cost a liar, what survives
// failures of the store and restarts.
#include "server/service/work/trust.h"
#include "server/policy/dispatch/replay.h"
#include "server/service/work/compare.h"
#include "server/service/work/reviews.h"

#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;

namespace {

struct Project {
  World world;
  ProblemId problem;

  explicit Project(int items, const std::string& validation = "", Hosts hosts = Hosts::strangers)
      : world(hosts) {
    world.add_application();
    protocol::AddProblem request;
    request.application = "numbers";
    request.parameters = "{\"count\": " + std::to_string(items) + "}";
    request.validation = validation;
    problem = must(world.try_add_problem(request)).id;
  }

  HostId host(const std::string& name, const std::string& network = "") {
    return world.add_host(name, network).id;
  }

  // The host takes one unit and delivers it whole.
  Range work(HostId host, const std::string& word = "item") {
    const auto grant = world.grants(host).front();
    deliver(grant, word);
    return grant.range;
  }
  void deliver(const protocol::Grant& grant, const std::string& word = "item") {
    const auto answer =
        must(world.commit(grant.host, World::results(grant.unit, grant.range, true, [&](std::int64_t item) {
                            return word + "-" + std::to_string(item);
                          })));
    CHECK(answer.status != protocol::CommitStatus::refused);
    world.settle();
  }
  bool gets_nothing(HostId host) { return must(world.work(host, world.work_request())).grants.empty(); }
  policy::Standing standing(HostId host) {
    return world.look<policy::Standing>([&](service::Transaction& tx) {
      const auto application = tx.model.problems.at(problem).row.application;
      return tx.model.project->reputation().standing(host, application, tx.now);
    });
  }
  // Items whose accepted result is the host's.
  std::int64_t accepted_from(HostId host) {
    return world.look<std::int64_t>([&](service::Transaction& tx) {
      std::int64_t items = 0;
      for (const auto& row : must(tx.store.accepted_segments(problem, 0)))
        if (row.segment.host == host) items += row.range.size();
      return items;
    });
  }
};

}  // namespace

TEST_CASE("what a stranger delivers is computed again by another one, and both are known for it") {
  Project p(40);
  const HostId alice = p.host("alice"), bob = p.host("bob");
  const Range first = p.work(alice);
  const auto audit = p.world.grants(bob).front();
  CHECK(first.contains(audit.range));
  CHECK(p.gets_nothing(alice) == false);  // the rest is free
  p.deliver(audit);
  CHECK(p.standing(alice).right == Approx(static_cast<double>(audit.range.size())));
  CHECK(p.standing(bob).right == p.standing(alice).right);
  p.world.restart();
  CHECK(p.standing(alice).right == Approx(static_cast<double>(audit.range.size())));
}

TEST_CASE("of a stranger who is alone the stage waits for a second host") {
  Project p(1);
  const HostId alice = p.host("alice");
  (void)p.work(alice);
  for (int second = 0; second < 3; ++second) p.world.tick();
  CHECK(p.world.show(p.problem).state == protocol::ProblemState::running);
  CHECK(p.world.show(p.problem).waits ==
        "another host must compute 1 item, too, and the one of the last hour has answered, or could prove "
        "nothing: a host of another network helps, or one of your own (`gleaner-admin code add NAME --own`)");
  const HostId bob = p.host("bob");
  (void)p.work(bob);
  CHECK(p.world.show(p.problem).state == protocol::ProblemState::finished);
  CHECK(p.world.show(p.problem).message.empty());
}

TEST_CASE("a dispute of all that are there says that it waits for somebody else, whatever the policy") {
  const std::string policy = GENERATE("adaptive", "spot:1", "none");
  CAPTURE(policy);
  Project p(1, policy);
  const HostId alice = p.host("alice"), bob = p.host("bob");
  (void)p.work(alice, "lie");
  if (policy == "none") {  // compared where copies overlap, and not for its own sake
    CHECK(p.world.show(p.problem).state == protocol::ProblemState::finished);
    return;
  }
  CHECK(p.world.show(p.problem).waits ==
        "another host must compute 1 item, too: 1 of the 2 hosts of the last hour can prove it");
  (void)p.work(bob);
  CHECK(p.world.show(p.problem).disagreements == 1);
  CHECK(p.world.show(p.problem).waits ==
        "another host must compute 1 item, too, and all 2 of the last hour have answered, or could prove "
        "nothing: a host of another network helps, or one of your own (`gleaner-admin code add NAME --own`)");
  (void)p.work(p.host("carol"));
  CHECK(p.world.show(p.problem).state == protocol::ProblemState::finished);
}

TEST_CASE(
    "where every host answers otherwise the item is set aside once all have, and nobody waits for more") {
  Project p(1);
  std::vector<HostId> hosts;
  for (int i = 0; i < 6; ++i) hosts.push_back(p.host("host-" + std::to_string(i)));
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    CHECK(p.world.show(p.problem).state == protocol::ProblemState::running);
    (void)p.work(hosts[i], "answer-" + std::to_string(i));
  }
  p.world.tick();
  CHECK(p.world.show(p.problem).state == protocol::ProblemState::failed);
}

TEST_CASE("two newcomers of one network do not outvote an honest host, whatever the policy") {
  const std::string policy = GENERATE("adaptive", "spot:1", "quorum:2");
  CAPTURE(policy);
  Project p(1, policy);
  const std::string house = "203.0.113.7";
  const HostId first = p.host("first", house), second = p.host("second", house);
  (void)p.work(first, "lie");
  CHECK(p.gets_nothing(second));
  CHECK(
      says(p.world.show(p.problem).waits, policy == "quorum:2" ? "owners and networks" : "newcomers of one"));
  const HostId honest = p.host("honest");
  (void)p.work(honest);
  CHECK(p.world.show(p.problem).disagreements == 1);
  CHECK(p.gets_nothing(second));
  CHECK(p.world.show(p.problem).state == protocol::ProblemState::running);
  (void)p.work(p.host("neighbour"));
  CHECK(p.world.show(p.problem).state == protocol::ProblemState::finished);
  CHECK(p.standing(first).wrong == Approx(1));
  CHECK(p.standing(honest).wrong == 0);
  CHECK(p.accepted_from(honest) == 1);
}

TEST_CASE("what newcomers of one network say of each other verifies nothing") {
  Project p(40);
  const std::string house = "203.0.113.7";
  const HostId first = p.host("first", house);
  const Range lied = p.work(first, "lie");
  const HostId second = p.host("second", house);  // it joins when the question is open
  const auto audit = p.world.grants(second).front();
  CHECK(lied.contains(audit.range));
  p.deliver(audit, "lie");
  CHECK(p.standing(first).right == 0);
  CHECK(p.standing(second).right == 0);
  p.world.restart();
  CHECK(p.standing(first).right == 0);
  const HostId honest = p.host("honest");
  const auto again = p.world.grants(honest).front();
  CHECK(again.range == audit.range);
  p.deliver(again);
  (void)p.work(p.host("neighbour"));
  CHECK(p.standing(first).wrong == Approx(1));
  CHECK(p.standing(second).wrong == Approx(1));
  CHECK(p.standing(honest).wrong == 0);
}

TEST_CASE("the project's own hosts wait for nobody") {
  Project p(1, "", Hosts::own);
  const HostId own = p.host("own");
  (void)p.host("other");
  (void)p.work(own);
  CHECK(p.world.show(p.problem).state == protocol::ProblemState::finished);
}

TEST_CASE("a liar loses all that nobody verified, and gets nothing more") {
  Project p(200);
  const HostId liar = p.host("liar"), bob = p.host("bob"), carol = p.host("carol");
  std::int64_t lied = 0;
  for (int unit = 0; unit < 3; ++unit) lied += p.work(liar, "lie").size();
  const auto open = p.world.grants(liar).front();
  CHECK(p.accepted_from(liar) == lied);
  for (int audit = 0; audit < 10 && p.standing(liar).wrong == 0; ++audit)
    p.deliver(p.world.grants(audit % 2 == 0 ? bob : carol).front());
  CHECK(p.standing(liar).wrong == Approx(1));
  CHECK(p.accepted_from(liar) == 0);
  for (const auto& share : p.world.show(p.problem).shares)
    CHECK(share.wasted_cost == Approx(share.host == liar ? static_cast<double>(lied) : 0));
  CHECK(p.gets_nothing(liar));
  CHECK(p.world.look<bool>([&](service::Transaction& tx) { return tx.model.hosts.at(liar).units.empty(); }));
  // What it delivers late of the unit that was taken from it is audited like all that it delivers.
  p.deliver(open, "lie");
  CHECK(p.accepted_from(liar) == open.range.size());
  CHECK(p.world.show(p.problem).state == protocol::ProblemState::running);
  p.world.restart();
  CHECK(p.standing(liar).wrong == Approx(1));
  CHECK(p.gets_nothing(liar));
  (void)p.world.memory();
}

TEST_CASE("a verdict for results that are gone by then holds up nothing, and is not believed") {
  Project p(200);
  const HostId liar = p.host("liar"), bob = p.host("bob"), carol = p.host("carol");
  (void)p.work(liar, "lie");
  const Range late = p.work(liar, "lie");
  (void)p.work(bob);
  const auto opinion = [](HostId host, SegmentId segment) {
    policy::Opinion given;
    given.host = host;
    given.segment = segment;
    return given;
  };
  const auto segment_of = [&](HostId host, Range range) {
    return p.world.look<SegmentId>([&](service::Transaction& tx) {
      for (const auto& segment : must(tx.store.segments_over(p.problem, 0, range)))
        if (segment.host == host) return segment.id;
      return SegmentId{};
    });
  };
  // Compared at the same time: in one place the liar is found wrong, in the other it had an accomplice.
  service::ReviewFinding caught, believed;
  caught.range = {0, 1};
  caught.opinions = {opinion(liar, {}), opinion(bob, {})};
  caught.verdict.kind = policy::VerdictKind::decided;
  caught.verdict.independent = true;
  caught.verdict.right = {1};
  caught.verdict.wrong = {0};
  believed = caught;
  believed.range = {late.begin, late.begin + 1};
  believed.opinions = {opinion(liar, segment_of(liar, late)), opinion(carol, {})};
  believed.verdict.right = {0};
  believed.verdict.wrong = {1};
  must(p.world.operate([problem = p.problem, caught, believed](service::Transaction& tx) -> Status {
    const policy::ComparedEvent event{problem, caught.range, caught.opinions, caught.verdict};
    TRY(service::store_decided(tx, tx.model.project->apply(event, tx.now)));
    service::effect::Review job;
    job.problem = problem;
    job.range = believed.range;
    ++tx.model.underway.reviews[problem];
    return service::settle_review(tx, job, std::vector{believed});
  }));
  p.world.settle();
  CHECK(p.accepted_from(liar) == 1);  // the item of the verdict that is made up
  CHECK(p.standing(carol).wrong == 0);
  (void)p.world.memory();
  CHECK_FALSE(p.gets_nothing(bob));  // its items are open again
}

TEST_CASE("an audit that a restart interrupted is asked for again") {
  Project p(40);
  const HostId alice = p.host("alice"), bob = p.host("bob");
  const Range first = p.work(alice);
  p.world.restart();
  const auto audit = p.world.grants(bob).front();
  CHECK(first.contains(audit.range));
  p.deliver(audit);
  CHECK(p.standing(alice).right == Approx(static_cast<double>(audit.range.size())));
}

TEST_CASE("an audit that was open at a restart ends, although the same would not be drawn again") {
  Project p(1);
  const HostId alice = p.host("alice"), bob = p.host("bob");
  (void)p.work(alice);
  const auto audit = p.world.grants(bob).front();
  must(p.world.operate([alice, problem = p.problem](service::Transaction& tx) {
    policy::Standing known;
    known.right = 100;
    known.at = tx.now;
    return tx.store.put_standing(alice, tx.model.problems.at(problem).row.application, known);
  }));
  p.world.restart();
  p.deliver(audit);
  CHECK(p.world.show(p.problem).state == protocol::ProblemState::finished);
}

TEST_CASE("a quorum counts hosts that agree") {
  Project p(1, "quorum:3");
  const HostId alice = p.host("alice"), bob = p.host("bob"), carol = p.host("carol");
  (void)p.work(alice);
  CHECK(p.gets_nothing(alice));
  (void)p.work(bob);
  CHECK(p.world.show(p.problem).state == protocol::ProblemState::running);
  CHECK(p.world.show(p.problem).disagreements == 0);
  (void)p.work(carol);
  CHECK(p.world.show(p.problem).state == protocol::ProblemState::finished);
}

TEST_CASE(
    "hosts of one network make no quorum, are not asked in vain, and the problem says what it waits for") {
  Project p(1, "quorum:2");
  const HostId first = p.host("first", "203.0.113.7"), second = p.host("second", "203.0.113.7"),
               third = p.host("third", "203.0.113.7");
  const Range all = p.work(first);
  for (const HostId host : {first, second, third}) CHECK(p.gets_nothing(host));
  const auto info = p.world.show(p.problem);
  CHECK(info.state == protocol::ProblemState::running);
  CHECK(info.message.empty());
  CHECK(info.waits ==
        "another host must compute 1 item, too: quorum:2 asks for 2 hosts of different owners and networks "
        "that agree, and those of the last hour are of 1");
  p.world.restart();
  CHECK(p.gets_nothing(second));
  CHECK(says(p.world.show(p.problem).waits, "different owners and networks"));
  const HostId other = p.host("other", "203.0.113.8");
  CHECK(p.work(other) == all);
  CHECK(p.world.show(p.problem).state == protocol::ProblemState::finished);
}

TEST_CASE("of one network twice and of another once: two that agree decide against the network") {
  Project p(1, "quorum:2");
  const HostId liar = p.host("liar", "203.0.113.7");
  (void)p.work(liar, "lie");
  (void)p.host("accomplice", "203.0.113.7");
  (void)p.work(p.host("one", "203.0.113.8"));
  (void)p.work(p.host("two", "203.0.113.9"));
  CHECK(p.world.show(p.problem).state == protocol::ProblemState::finished);
  CHECK(p.standing(liar).wrong > 0);
}

TEST_CASE("the decision log replays to the same verdicts, and parts where one is another") {
  Project p(1, "quorum:2");
  const HostId liar = p.host("liar");
  (void)p.work(liar, "lie");
  (void)p.work(p.host("one"));
  (void)p.work(p.host("two"));
  CHECK(p.world.show(p.problem).state == protocol::ProblemState::finished);
  p.world.tick();
  const Bytes text = must(io::real_files().read(p.world.project().decisions(), 1 << 20));
  const auto parts = [](std::string_view log) {
    policy::ProjectReplay replay;
    while (!log.empty() && !replay.parting()) {
      must(replay.feed(log.substr(0, log.find('\n')), "log"));
      log.remove_prefix(std::min(log.find('\n') + 1, log.size()));
    }
    return replay.parting().has_value();
  };
  CHECK_FALSE(parts(text));
  const auto another = text.find("\"answer\":\"need another: right [], wrong [], some differ");
  const auto decided = text.find("\"answer\":\"decided: right [1, 2], wrong [0], some differ");
  REQUIRE((another != Bytes::npos && decided != Bytes::npos && another < decided));
  Bytes other = text;
  other.replace(other.find("wrong [0]"), 9, "wrong [1]");
  CHECK(parts(other));
}

TEST_CASE("spot checks are made by the project's own hosts where there are some, if these come") {
  Project p(1, "spot:1");
  const HostId alice = p.host("alice"), bob = p.host("bob"), own = p.host("own");
  const bool have_own = GENERATE(true, false), comes = GENERATE(true, false);
  if (have_own)
    (void)p.world.look<bool>([&](service::Transaction& tx) {
      service::Host& host = tx.model.hosts.at(own);
      host.row.own = true;
      service::tell_project(tx.model, host.row);
      return true;
    });
  (void)p.work(alice);
  if (have_own) {
    CHECK(p.gets_nothing(bob));
    CHECK(p.world.show(p.problem).waits ==
          "a host of the project's own must compute 1 item, too; if none does, others may in 60 min");
    p.world.clock().advance(std::chrono::minutes{59});
    CHECK(p.gets_nothing(bob));
    p.world.clock().advance(std::chrono::minutes{1});
  }
  (void)p.work(have_own && comes ? own : bob);
  CHECK(p.world.show(p.problem).state == protocol::ProblemState::finished);
}

TEST_CASE("what a liar delivered is computed again, even if the verdict that finds it completes the stage") {
  for (int tries = 0;; ++tries) {
    REQUIRE(tries < 50);  // one in two or so
    Project p(3, "spot:0.3");
    const HostId liar = p.host("liar"), bob = p.host("bob"), carol = p.host("carol");
    while (p.accepted_from(liar) < 3) (void)p.work(liar, "lie");
    const auto audited = p.world.look<std::int64_t>([&](service::Transaction& tx) {
      const auto* stage = tx.model.problems.at(p.problem).stage;  // null: nothing is audited, and it is over
      return stage == nullptr ? 0 : stage->view().ledger().disputed().total();
    });
    if (audited != 1) continue;
    (void)p.work(bob);
    (void)p.work(carol);
    CHECK(p.standing(liar).wrong == 1);
    CHECK(p.world.show(p.problem).state == protocol::ProblemState::running);
    CHECK(p.accepted_from(liar) == 0);
    return;
  }
}

TEST_CASE("none and checks compute nothing twice") {
  for (const char* validation : {"none", "checks"}) {
    Project p(1, validation);
    (void)p.work(p.host("alice"));
    CHECK(p.world.show(p.problem).state == protocol::ProblemState::finished);
    CHECK(p.world.show(p.problem).validation == validation);
  }
}

TEST_CASE("a policy that is none is refused") {
  Project p(1);
  protocol::AddProblem request;
  request.application = "numbers";
  request.parameters = "{\"count\": 1}";
  request.validation = "quorum:99";
  const auto refused = p.world.try_add_problem(request);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind == ErrorKind::invalid);
  CHECK(says(refused.error().message, "adaptive"));
}

TEST_CASE("a delivery that is audited: whatever call of the store fails, nothing is half-done") {
  Project p(40);
  const HostId alice = p.host("alice"), bob = p.host("bob");
  const auto grant = p.world.grants(alice).front();
  with_each_failure(p.world, [&](World& world) {
    return status_of(world.commit(alice, World::results(grant.unit, grant.range, true)));
  });
  CHECK(grant.range.contains(p.world.grants(bob).front().range));
}
