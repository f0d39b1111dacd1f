// What a front end has checked: taken like any other result, in one operation, but never as one of another
// problem or stage.
#include "shared/io/compression.h"
#include "shared/protocol/codec.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using protocol::CommitStatus;
using service::PreparedCommit;

namespace {

struct Delivering {
  World world;
  TestHost host;
  ProblemId problem;
  protocol::Grant grant;

  Delivering() {
    world.add_application();
    host = world.add_host();
    problem = world.add_problem(30);
    grant = world.grants(host.id).front();
  }
  // Of the unit's first item, as a front end hands it over.
  PreparedCommit checked(ProblemId of, int stage) const {
    PreparedCommit commit;
    commit.request = World::results(grant.unit, {grant.range.begin, grant.range.begin + 1});
    commit.bytes = must(io::decompress(*commit.request.data, commit.request.bytes));
    commit.request.data.reset();
    commit.problem = of;
    commit.stage = stage;
    return commit;
  }
  Result<service::Work::Answer> work(const PreparedCommit& commit) {
    protocol::WorkRequest request = world.work_request();
    request.commits = {commit.request};
    return World::wait<service::Work::Answer>(
        [&](auto done) { world.service().work().work_checked(host.id, request, {commit}, std::move(done)); });
  }
  protocol::Acknowledgement answer(const Result<service::Work::Answer>& answered) {
    return must(
        protocol::decode<protocol::Acknowledgement>(must(answered).reply.acknowledgements.at(0).payload));
  }
};

}  // namespace

TEST_CASE("a checked result is accepted, stored, and answered alike when it comes again") {
  Delivering s;
  const auto first = s.work(s.checked(s.problem, 0));
  const auto told = s.answer(first);
  CHECK(told.status == CommitStatus::accepted);
  REQUIRE(must(first).units.size() == must(first).reply.grants.size());
  CHECK(s.answer(s.work(s.checked(s.problem, 0))).at == told.at);
  // Where it then was checked does not matter: it is answered already.
  CHECK(s.answer(s.work(s.checked(ProblemId{77}, 3))).at == told.at);
  CHECK(s.world.show(s.problem).accepted == 1);
  s.world.restart();
  CHECK(s.world.show(s.problem).accepted == 1);
}

TEST_CASE("one that was checked for another problem or stage is to be checked again, and nothing is taken") {
  Delivering s;
  for (const auto& wrong : {s.checked(ProblemId{s.problem.value + 1}, 0), s.checked(s.problem, 1)}) {
    const auto answered = s.work(wrong);
    REQUIRE(!answered.ok());
    CHECK(answered.error().kind == ErrorKind::conflict);
  }
  CHECK(s.world.show(s.problem).accepted == 0);
}

TEST_CASE("what a front end found wrong is refused, and counts against the host") {
  Delivering s;
  PreparedCommit wrong = s.checked(s.problem, 0);
  wrong.bytes.clear();
  wrong.refusal = "the application finds it invalid: no";
  wrong.blame = true;
  const auto told = s.answer(s.work(wrong));
  CHECK(told.status == CommitStatus::refused);
  CHECK(told.reason == wrong.refusal);
  CHECK(s.world.show(s.problem).accepted == 0);
}

TEST_CASE(
    "a place says what is needed to check a unit's results, and only of units whose results are of use") {
  Delivering s;
  const auto place = [&](UnitId unit) {
    return World::wait<service::CheckingPlace>(
        [&](auto done) { s.world.service().commits().place(s.host.id, unit, std::move(done)); });
  };
  const auto found = must(place(s.grant.unit));
  CHECK(found.manager.problem == s.problem);
  CHECK(found.stage == 0);
  CHECK(found.item_bytes_max > 0);
  const auto statement =
      must(protocol::decode<protocol::ApplicationStatement>(found.application.application.payload));
  CHECK(statement.archive == found.manager.archive);
  const auto none = place(UnitId{999});
  REQUIRE(!none.ok());
  CHECK(none.error().kind == ErrorKind::not_found);
}
