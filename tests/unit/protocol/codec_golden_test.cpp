// The wire must never change for version 1: these are the very bytes. A change here is a change of the
// protocol.
#include "shared/protocol/codec.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::protocol;

namespace {

template <typename Message>
void check_golden(const Message& message, const std::string& text) {
  CHECK(encode(message) == text);
  const auto back = decode<Message>(text);
  if (!back.ok()) FAIL(back.error().message);
  CHECK(encode(*back) == text);
}

const std::string zeros(64, '0');

}  // namespace

TEST_CASE("golden: signed statement") {
  const SignedStatement statement{StatementType::work_key_certificate,
                                  R"({"version":1})",
                                  std::string(32, 'k'),
                                  std::string(64, '\xff'),
                                  {}};
  check_golden(
      statement,
      R"({"version":1,"type":"work-key-certificate","payload":"eyJ2ZXJzaW9uIjoxfQ",)"
      R"("key":"a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s",)"
      R"("signature":"_____________________________________________________________________________________w"})");
}

TEST_CASE("golden: acknowledgement") {
  Acknowledgement message;
  message.unit = {7};
  message.host = {3};
  message.range = {100, 120};
  message.digest = zeros;
  message.status = CommitStatus::accepted;
  message.reason = "all new";
  message.items_accepted = 20;
  message.at = from_microseconds(1'763'676'000'123'456);
  check_golden(message,
               R"({"version":1,"unit":7,"host":3,"range":{"begin":100,"end":120},"digest":")" + zeros +
                   R"(","status":"accepted","reason":"all new","items_accepted":20,"at":1763676000123456})");
}

TEST_CASE("golden: revocation list") {
  RevocationList list;
  list.project = zeros;
  list.number = 1'795'212'245;
  list.issued_at = from_microseconds(1'763'676'000'123'456);
  list.keys = {{std::string(32, 'k'), "stolen"}};
  list.tls_keys = {{zeros, ""}};
  list.applications = {{zeros, "it lies"}};
  list.minimum_versions = {{"raytrace", "1.2.0", "holes"}};
  check_golden(list,
               R"({"version":1,"project":")" + zeros +
                   R"(","number":1795212245,"issued_at":1763676000123456,)"
                   R"("keys":[{"key":"a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s","reason":"stolen"}],)"
                   R"("tls_keys":[{"digest":")" +
                   zeros + R"(","reason":""}],"applications":[{"archive":")" + zeros +
                   R"(","reason":"it lies"}],"minimum_versions":[{"application":"raytrace",)"
                   R"("application_version":"1.2.0","reason":"holes"}]})");
  CHECK(std::string(name_of(StatementType::revocations)) == "revocations");
}

TEST_CASE("golden: what is signed in a tree of relays") {
  RelayCertificate certificate;
  certificate.project = certificate.tls_key = zeros;
  certificate.relay = {9};
  certificate.name = "lab";
  certificate.key = std::string(32, 'k');
  certificate.children = 200;
  certificate.not_after = from_microseconds(1'763'676'000'123'456);
  check_golden(
      certificate,
      R"({"version":1,"project":")" + zeros +
          R"(","relay":9,"name":"lab","key":"a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s","tls_key":")" +
          zeros + R"(","children":200,"not_before":0,"not_after":1763676000123456})");
  RelayGrant grant;
  grant.parent = zeros;
  grant.unit = {7};
  grant.host = {3};
  grant.range = {100, 120};
  grant.cost = 2.5;
  grant.begun = {0.5, "x"};
  grant.deadline = from_microseconds(1'763'676'000'123'456);
  grant.reason = "a fifth";
  check_golden(grant, R"({"version":1,"parent":")" + zeros +
                          R"(","unit":7,"host":3,"range":{"begin":100,"end":120},"cost":2.5,)"
                          R"("begun":{"share":0.5,"data":"eA"},"commit_seconds":60,"issued_at":0,)"
                          R"("deadline":1763676000123456,"reason":"a fifth"})");
  const Delivery delivery{zeros, HostId{3}, UnitId{7}, ProblemId{2}, 1, {100, 120}, zeros, 25};
  check_golden(delivery, R"({"version":1,"project":")" + zeros +
                             R"(","host":3,"unit":7,"problem":2,"stage":1,"range":{"begin":100,"end":120},)"
                             R"("digest":")" +
                             zeros + R"(","bytes":25})");
  const Failure failure{zeros,        HostId{3},   UnitId{7},
                        ProblemId{2}, 1,           FailureKind::kernel_crashed,
                        104,          "signal 11", from_microseconds(1'763'676'000'123'456)};
  check_golden(failure, R"({"version":1,"project":")" + zeros +
                            R"(","host":3,"unit":7,"problem":2,"stage":1,"kind":"kernel-crashed","item":104,)"
                            R"("message":"signal 11","at":1763676000123456})");
  CHECK(std::string(name_of(StatementType::failure)) == "failure");
  CHECK(std::string(name_of(StatementType::relay_certificate)) == "relay-certificate");
  CHECK(std::string(name_of(StatementType::relay_grant)) == "relay-grant");
  CHECK(std::string(name_of(StatementType::delivery)) == "delivery");
  CHECK(std::string(name_of(StatementType::enrolment)) == "enrolment");
}

TEST_CASE("golden: heartbeat and its reply") {
  UnitReport report;
  report.unit = {7};
  report.finished = 113;
  report.state = RunState::paused;
  report.reason = "the owner is back: \"wait\"";
  report.rate = 0.25;
  report.running_seconds = 61.5;
  check_golden(
      HeartbeatRequest{{report}, {}},
      R"({"version":1,"units":[{"unit":7,"finished":113,"state":"paused",)"
      R"("reason":"the owner is back: \"wait\"","rate":0.25,"item_seconds":0,"item_share":0,"running_seconds":61.5}]})");
  check_golden(
      HeartbeatReply{{{UnitId{7}, UnitAction::go_on, 118, ""}, {UnitId{8}, UnitAction::cancel, 0, "done"}},
                     15},
      R"({"version":1,"units":[{"unit":7,"action":"go-on","end":118,"reason":""},)"
      R"({"unit":8,"action":"cancel","end":0,"reason":"done"}],"interval_seconds":15})");
  HeartbeatReply revoked;
  revoked.revocations = 7;
  check_golden(revoked, R"({"version":1,"units":[],"interval_seconds":60,"revocations":7})");
  HeartbeatRequest told;
  told.outputs = std::vector<UnitOutput>{{UnitId{7}, "step 1\nstep 2"}};
  check_golden(told, R"({"version":1,"units":[],"outputs":[{"unit":7,"text":"step 1\nstep 2"}]})");
  HeartbeatReply asks;
  asks.outputs = std::vector{UnitId{7}};
  check_golden(asks, R"({"version":1,"units":[],"interval_seconds":60,"outputs":[7]})");
}

TEST_CASE("golden: work request") {
  WorkRequest request;
  CommitRequest commit;
  commit.unit = {7};
  commit.range = {100, 120};
  commit.digest = zeros;
  commit.bytes = 5;
  commit.data = Bytes("\x01\x02\xfe", 3);
  commit.compute_seconds = 1.5;
  commit.last = true;
  request.commits = {commit};
  request.slots = {{2, false}};
  request.platforms = {"x86_64-linux"};
  request.memory_bytes = 1 << 30;
  request.cores = 4;
  request.proposal = {1234.5, 1, 2, 17.5, 12};
  check_golden(
      request,
      R"({"version":1,"commits":[{"unit":7,"range":{"begin":100,"end":120},"digest":")" + zeros +
          R"(","bytes":5,"data":"AQL-","compute_seconds":1.5,"last":true}],"units":[],)"
          R"("slots":[{"slot":2,"urgent":false}],"platforms":["x86_64-linux"],"memory_bytes":1073741824,)"
          R"("cores":4,"proposal":{"performance":1234.5,"queue_unloaded":1,"queue_current":2,"items":17.5,"watts":12},"proofs":false,"capabilities":[]})");
}

TEST_CASE("golden: a list") {
  DecisionInfo decision;
  decision.host = {3};
  decision.unit = {7};
  decision.kind = "split";
  decision.range = {10, 20};
  decision.reason = "\xE2\x89\xA4 2 %";
  check_golden(
      std::vector<DecisionInfo>{decision},
      R"({"version":1,"items":[{"at":0,"host":3,"unit":7,"kind":"split","range":{"begin":10,"end":20},)"
      "\"reason\":\"\xE2\x89\xA4 2 %\"}]}");
  check_golden(std::vector<DecisionInfo>{}, R"({"version":1,"items":[]})");
}

TEST_CASE("golden: a problem written by hand needs only what has no default") {
  const auto problem = decode<AddProblem>(
      R"({"version":1,"application":"mandelbrot","name":"m","parameters":"{\"width\":3}"})");
  if (!problem.ok()) FAIL(problem.error().message);
  CHECK(problem->strategy.empty());  // as the server's settings say
  CHECK(problem->straggler.empty());
  CHECK(problem->weight == 1);
  CHECK(problem->parameters == R"({"width":3})");
}

TEST_CASE("golden: failures and statement types have these names") {
  CHECK(std::string(name_of(FailureKind::kernel_crashed)) == "kernel-crashed");
  CHECK(std::string(name_of(FailureKind::download_failed)) == "download-failed");
  CHECK(std::string(name_of(StatementType::grant)) == "grant");
  CHECK(std::string(name_of(StatementType::signer_certificate)) == "signer-certificate");
  CHECK(std::string(name_of(ProblemState::cancelled)) == "cancelled");
  CHECK(std::string(name_of(HostState::revoked)) == "revoked");
}
