// Simulated hosts at a scripted server: what they say, and what they find wrong with its answers.
#include "tools/loadgen/working.h"

#include "shared/crypto/relay_chain.h"
#include "shared/protocol/codec.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::loadgen;

namespace {

// A server that answers what a test wants.
struct Scene {
  explicit Scene(const WorkOptions& options = {}, const std::string& key = {})
      : working(options, {{HostId{4}, "token", key}}, "here:1", trust(), ledger) {}

  crypto::ProjectTrust trust() const {
    crypto::ProjectTrust trusted;
    trusted.project = std::string(64, 'a');
    trusted.work_key = work_key.public_key();
    return trusted;
  }
  protocol::SignedStatement grant(std::int64_t unit, HostId host = HostId{4}) const {
    protocol::Grant grant;
    grant.unit = UnitId{unit};
    grant.host = host;
    grant.problem = ProblemId{1};
    grant.range = {unit, unit + 1};
    grant.parameters = "{}";
    grant.parameters_digest = grant.problem_name = std::string(64, '0');
    grant.application.type = protocol::StatementType::application;
    grant.signer.type = protocol::StatementType::signer_certificate;
    grant.application.key = grant.signer.key = Bytes(32, 'k');
    grant.application.signature = grant.signer.signature = Bytes(64, 's');
    return crypto::sign_statement(protocol::StatementType::grant, protocol::encode(grant), work_key);
  }
  protocol::SignedStatement acknowledgement(
      const protocol::CommitRequest& commit,
      protocol::CommitStatus status = protocol::CommitStatus::accepted) const {
    protocol::Acknowledgement answer;
    answer.unit = commit.unit;
    answer.host = HostId{4};
    answer.range = commit.range;
    answer.digest = commit.digest;
    answer.status = status;
    return crypto::sign_statement(protocol::StatementType::acknowledgement, protocol::encode(answer),
                                  work_key);
  }
  protocol::WorkRequest ask() {
    const std::string text = working.request(0).text;
    return protocol::decode<protocol::WorkRequest>(text.substr(text.find("\r\n\r\n") + 4)).value();
  }
  Next answer(protocol::WorkReply reply) {
    reply.grant_slots.assign(reply.grants.size(), 0);
    return working.answered(0, {200, 0, false, protocol::encode(reply), 0});
  }

  const crypto::PrivateKey work_key = crypto::PrivateKey::generate();
  Ledger ledger;
  Working working;
};

}  // namespace

TEST_CASE("what was given is delivered with the next request, and the ledger says what became of it") {
  Scene scene;
  CHECK(scene.ask().commits.empty());
  protocol::WorkReply reply;
  reply.grants = {scene.grant(7)};
  CHECK(scene.answer(reply).ever);
  const auto request = scene.ask();
  REQUIRE(request.commits.size() == 1);
  CHECK(request.commits[0].unit == UnitId{7});
  CHECK(request.slots.size() == 1);
  reply.acknowledgements = {scene.acknowledgement(request.commits[0])};
  reply.grants = {scene.grant(8)};
  CHECK(scene.answer(reply).ever);
  CHECK(scene.working.tally().cycles == 1);
  CHECK(scene.working.tally().contradictions == 0);
  CHECK(scene.ledger.count(Outcome::accepted) == 1);
}

TEST_CASE("a unit takes as long as its items") {
  WorkOptions options;
  options.compute = std::chrono::seconds{1};
  options.item = std::chrono::seconds{2};
  Scene scene(options);
  static_cast<void>(scene.ask());
  protocol::WorkReply reply;
  reply.grants = {scene.grant(7)};
  CHECK(scene.answer(reply).after == std::chrono::seconds{3});
}

TEST_CASE("a host names the context that it was told") {
  Scene scene;
  CHECK(scene.ask().contexts == std::vector<std::string>{});
  protocol::WorkReply reply;
  auto told = scene.grant(7);
  told.context = "text";
  reply.grants = {told, scene.grant(8)};
  CHECK(scene.answer(reply).ever);
  CHECK(scene.ask().contexts == std::vector<std::string>{crypto::sha256_hex("text")});
  reply.acknowledgements.clear();
  for (const auto& commit : scene.ask().commits)
    reply.acknowledgements.push_back(scene.acknowledgement(commit));
  reply.grants = {scene.grant(9)};
  CHECK(scene.answer(reply).ever);
  CHECK(scene.ask().contexts == std::vector<std::string>{crypto::sha256_hex("text")});
}

TEST_CASE("asked again without an answer, a host says the same") {
  Scene scene;
  protocol::WorkReply reply;
  reply.grants = {scene.grant(7)};
  CHECK(scene.working.request(0).text == scene.working.request(0).text);
  static_cast<void>(scene.answer(reply));
  CHECK(scene.working.request(0).text == scene.working.request(0).text);
  scene.working.close_books();
  CHECK(scene.ledger.count(Outcome::unanswered) == 1);
}

TEST_CASE("what contradicts what was sent is found") {
  Scene scene;
  protocol::WorkReply reply;
  reply.grants = {scene.grant(7)};
  static_cast<void>(scene.ask());
  static_cast<void>(scene.answer(reply));
  auto commit = scene.ask().commits.at(0);
  SECTION("an acknowledgement of another unit") {
    commit.unit = UnitId{9};
  }
  SECTION("of other bytes") {
    commit.digest = std::string(64, 'f');
  }
  SECTION("of another range") {
    commit.range = {7, 9};
  }
  reply.acknowledgements = {scene.acknowledgement(commit)};
  static_cast<void>(scene.answer(reply));
  CHECK(scene.working.tally().contradictions > 0);
  CHECK(!scene.working.first_fault().empty());
}

TEST_CASE("a result without an answer is a contradiction, and open in the ledger") {
  Scene scene;
  protocol::WorkReply reply;
  reply.grants = {scene.grant(7)};
  static_cast<void>(scene.ask());
  static_cast<void>(scene.answer(reply));
  static_cast<void>(scene.ask());
  reply.grants = {};
  static_cast<void>(scene.answer(reply));
  CHECK(scene.working.tally().contradictions == 1);
  CHECK(scene.ledger.count(Outcome::unanswered) == 1);
}

TEST_CASE("an acknowledgement by another key is not trusted, where it is checked") {
  WorkOptions options;
  options.verify_every = 1;
  Scene scene(options);
  protocol::WorkReply reply;
  reply.grants = {scene.grant(7)};  // whose application nobody signed
  static_cast<void>(scene.ask());
  static_cast<void>(scene.answer(reply));
  CHECK(scene.working.tally().untrusted == 1);
}

TEST_CASE("a spoiled result is refused, and one that is accepted is a contradiction") {
  WorkOptions options;
  options.errors = 1;
  options.results.seed = GENERATE(range(1, 20));
  Scene scene(options);
  protocol::WorkReply reply;
  reply.grants = {scene.grant(7)};
  static_cast<void>(scene.ask());
  static_cast<void>(scene.answer(reply));
  const auto request = scene.working.request(0);
  if (request.manner == Manner::hang_up) return;  // another mishap was drawn
  const auto commits = scene.ask().commits;
  if (commits.empty()) return;  // it vanished
  const bool spoiled = commits.at(0).digest != make_result(options.results, UnitId{7}, Range{7, 8}).digest;
  reply.acknowledgements = {scene.acknowledgement(commits.at(0))};
  static_cast<void>(scene.answer(reply));
  CHECK(scene.working.tally().spoiled == (spoiled ? 1 : 0));
  CHECK(scene.working.tally().contradictions == (spoiled ? 1 : 0));
}

TEST_CASE("a host that the server does not know stops, and another error is tried again") {
  Scene scene;
  static_cast<void>(scene.ask());
  CHECK(scene.working.answered(0, {409, 0, false, "", 0}).ever);
  static_cast<void>(scene.ask());
  CHECK(!scene.working.answered(0, {401, 0, false, "", 0}).ever);
  CHECK(scene.working.tally().dismissed == 1);
}

TEST_CASE("a host is silent after its rounds") {
  WorkOptions options;
  options.rounds = 2;
  Scene scene(options);
  protocol::WorkReply reply;
  reply.grants = {scene.grant(7)};
  static_cast<void>(scene.ask());
  CHECK(scene.answer(reply).ever);
  static_cast<void>(scene.ask());
  CHECK(!scene.answer(reply).ever);
}

TEST_CASE("a host under a relay signs what it delivers, and goes on once the relay holds it") {
  const auto own = crypto::PrivateKey::generate();
  Scene scene({}, own.to_pem());
  const auto lease = scene.grant(7, HostId{2});
  protocol::RelayGrant part;
  part.parent = crypto::sha256_hex(lease.payload);
  part.unit = UnitId{70};
  part.host = HostId{4};
  part.range = {7, 8};
  protocol::WorkReply reply;
  const auto relay = crypto::PrivateKey::generate();
  reply.grants = {
      crypto::sign_statement(protocol::StatementType::relay_grant, protocol::encode(part), relay)};
  static_cast<void>(scene.ask());
  SECTION("a part of what came with it") {
    const auto certificate = crypto::sign_statement(protocol::StatementType::relay_certificate, "{}", relay);
    reply.leases = {{{certificate, lease}}};
    static_cast<void>(scene.answer(reply));
    const auto request = scene.ask();
    REQUIRE(request.commits.size() == 1);
    const auto& commit = request.commits[0];
    REQUIRE(commit.delivery.has_value());
    const auto said = crypto::check_delivery(*commit.delivery, own.public_key(), scene.trust().project);
    REQUIRE(said.ok());
    CHECK(said->host == HostId{4});
    CHECK(said->unit == UnitId{70});
    CHECK(said->problem == ProblemId{1});
    CHECK(said->digest == commit.digest);

    protocol::WorkReply held;
    held.held = {{commit.unit, commit.range, commit.digest}};
    static_cast<void>(scene.answer(held));
    CHECK(scene.ask().commits.empty());
    CHECK(scene.working.tally().units == 0);
    protocol::WorkReply later;
    later.acknowledgements = {scene.acknowledgement(commit)};
    static_cast<void>(scene.answer(later));
    CHECK(scene.working.tally().units == 1);
    CHECK(scene.working.tally().contradictions == 0);
    CHECK(scene.ledger.count(Outcome::accepted) == 1);
  }
  SECTION("a part of nothing") {
    static_cast<void>(scene.answer(reply));
    CHECK(scene.working.tally().contradictions == 1);
  }
}
