#include "shared/crypto/statements.h"

#include "shared/base/random.h"
#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/says.h"

using namespace gleaner;
using namespace gleaner::crypto;
using namespace std::chrono_literals;
using protocol::SignedStatement;
using protocol::StatementType;

namespace {

const Timestamp now = from_microseconds(1'795'212'245'000'000);
constexpr Duration day = std::chrono::hours{24};

// A project with all its keys, as init and the administrator would make it.
struct Project {
  PrivateKey root = PrivateKey::generate();
  PrivateKey work = PrivateKey::generate();
  PrivateKey signer = PrivateKey::generate();
  std::string id = to_hex(fingerprint(root.public_key()));

  SignedStatement certify(StatementType type, const PrivateKey& key, Timestamp from, Timestamp until) const {
    return sign_statement(
        type, protocol::encode(protocol::KeyCertificate{id, key.public_key(), "name", from, until}), root);
  }
  SignedStatement work_certificate() const {
    return certify(StatementType::work_key_certificate, work, now - day, now + day);
  }
  SignedStatement signer_certificate() const {
    return certify(StatementType::signer_certificate, signer, now - day, now + day);
  }
  protocol::ProjectDocument document() const {
    protocol::ProjectDocument document;
    document.project = id;
    document.name = "Test";
    document.root_key = root.public_key();
    document.work_certificate = work_certificate();
    document.signer_certificates = {signer_certificate()};
    document.issued_at = now;
    return document;
  }
  SignedStatement statement(const protocol::ProjectDocument& from) const {
    return sign_statement(StatementType::project, protocol::encode(from), work);
  }
  Bytes pin() const { return fingerprint(root.public_key()); }
  ProjectTrust trust() const { return check_project(statement(document()), pin(), now).value(); }

  SignedStatement application(Timestamp signed_at, const std::string& project) const {
    protocol::ApplicationStatement application{project, "raytrace", "1.0.0", sha256_hex("archive"),
                                               7,       signed_at};
    return sign_statement(StatementType::application, protocol::encode(application), signer);
  }
  SignedStatement grant(HostId host, const PrivateKey& key) const {
    protocol::Grant grant;
    grant.unit = UnitId{5};
    grant.host = host;
    grant.problem = ProblemId{1};
    grant.problem_name = "p";
    grant.range = {0, 10};
    grant.application = application(now, id);
    grant.signer = signer_certificate();
    grant.parameters = "{}";
    grant.parameters_digest = sha256_hex("{}");
    grant.issued_at = now;
    grant.deadline = now + day;
    return sign_statement(StatementType::grant, protocol::encode(grant), key);
  }
};

template <typename T>
std::string refusal(const Result<T>& result) {
  if (result.ok()) return "accepted";
  CHECK(result.error().kind == ErrorKind::untrusted);
  return result.error().message;
}

// Every byte of payload, key and signature, changed in a way chosen by the seed.
template <typename Check>
void check_tampering(const SignedStatement& statement, const Check& check) {
  const std::uint64_t seed = 17;
  INFO("seed " << seed);
  Random random(seed);
  REQUIRE(check(statement).ok());
  for (std::string SignedStatement::*part :
       {&SignedStatement::payload, &SignedStatement::key, &SignedStatement::signature}) {
    for (std::size_t i = 0; i < (statement.*part).size(); ++i) {
      SignedStatement changed = statement;
      (changed.*part)[i] = static_cast<char>((changed.*part)[i] ^ random.between(1, 255));
      const auto result = check(changed);
      if (result.ok() || result.error().kind != ErrorKind::untrusted) FAIL("byte " << i << " was accepted");
    }
    SignedStatement cut = statement;
    (cut.*part).pop_back();
    CHECK_FALSE(check(cut).ok());
    SignedStatement longer = statement;
    (longer.*part) += ' ';
    CHECK_FALSE(check(longer).ok());
  }
}

}  // namespace

TEST_CASE("the signed bytes are fixed for ever") {
  const PrivateKey key = PrivateKey::generate();
  const SignedStatement statement = sign_statement(StatementType::grant, "{}", key);
  CHECK(verify(key.public_key(), "gleaner-1\ngrant\n{}", statement.signature));
  CHECK(check_signature(statement, StatementType::grant).ok());
}

TEST_CASE("no statement stands in for another") {
  const PrivateKey key = PrivateKey::generate();
  SignedStatement statement = sign_statement(StatementType::grant, "{}", key);
  says(refusal(check_signature(statement, StatementType::acknowledgement)), "grant statement in its place");
  statement.type = StatementType::acknowledgement;
  says(refusal(check_signature(statement, StatementType::acknowledgement)), "valid signature");
}

TEST_CASE("a project document is checked from the join code on") {
  const Project project;
  const auto trust = check_project(project.statement(project.document()), project.pin(), now);
  REQUIRE(trust.ok());
  CHECK(trust->project == project.id);
  CHECK(trust->root_key == project.root.public_key());
  CHECK(trust->work_key == project.work.public_key());
  CHECK(trust->document.name == "Test");

  const Project other;
  says(refusal(check_project(project.statement(project.document()), other.pin(), now)), "join code");

  auto wrong_id = project.document();
  wrong_id.project = other.id;
  says(refusal(check_project(project.statement(wrong_id), project.pin(), now)), "contradicts itself");

  // Somebody else's work key, signed by somebody else's root or by nobody.
  auto foreign = project.document();
  foreign.work_certificate = other.work_certificate();
  says(refusal(check_project(other.statement(foreign), project.pin(), now)), "not signed by the key");

  // A good document, signed by a key that the root never certified.
  const auto impostor =
      sign_statement(StatementType::project, protocol::encode(project.document()), other.work);
  says(refusal(check_project(impostor, project.pin(), now)), "not signed by the work key");

  // A signer certificate does not make a work key.
  auto confused = project.document();
  confused.work_certificate =
      project.certify(StatementType::signer_certificate, project.work, now - day, now + day);
  says(refusal(check_project(project.statement(confused), project.pin(), now)), "in its place");

  SignedStatement unreadable = sign_statement(StatementType::project, "[]", project.work);
  says(refusal(check_project(unreadable, project.pin(), now)), "cannot be read");
}

TEST_CASE("periods of validity hold, with five minutes forgiven") {
  const Project project;
  const auto check = [&](Timestamp from, Timestamp until) {
    auto document = project.document();
    document.work_certificate =
        project.certify(StatementType::work_key_certificate, project.work, from, until);
    return check_project(project.statement(document), project.pin(), now);
  };
  CHECK(check(now, now).ok());
  CHECK(check(now + 4min, now + day).ok());
  CHECK(check(now - day, now - 4min).ok());
  says(refusal(check(now + 6min, now + day)), "check this computer's date");
  says(refusal(check(now - day, now - 6min)), "must renew it");
  says(refusal(check(now + 1min, now - 1min)), "ends before it begins");
}

TEST_CASE("key certificates belong to one root and one project") {
  const Project project, other;
  const auto certificate = project.signer_certificate();
  const auto check = [&](const Project& whose, const std::string& id) {
    return check_key_certificate(certificate, StatementType::signer_certificate, whose.root.public_key(), id,
                                 now);
  };
  CHECK(check(project, project.id)->key == project.signer.public_key());
  says(refusal(check(other, project.id)), "not signed by the key");
  says(refusal(check(project, other.id)), "belongs to project " + project.id);
}

TEST_CASE("a grant is for this host, by the work key, and not from long ago") {
  const Project project, other;
  const ProjectTrust trust = project.trust();
  const HostId host{42};
  const auto grant = check_grant(project.grant(host, project.work), trust, host, now);
  REQUIRE(grant.ok());
  CHECK(grant->unit == UnitId{5});
  says(refusal(check_grant(project.grant(HostId{41}, project.work), trust, host, now)), "is for host 41");
  says(refusal(check_grant(project.grant(host, other.work), trust, host, now)), "not signed by the key");
  says(refusal(check_grant(project.grant(host, project.signer), trust, host, now)), "not signed by the key");
  says(refusal(check_grant(project.grant(host, project.work), trust, host, now + day + 6min)), "expired");
  auto long_certified = project.document();
  long_certified.work_certificate =
      project.certify(StatementType::work_key_certificate, project.work, now - day, now + 30 * day);
  const ProjectTrust lasting = check_project(project.statement(long_certified), project.pin(), now).value();
  CHECK(check_grant(project.grant(host, project.work), lasting, host, now + day + 4min).ok());
  says(refusal(check_grant(project.grant(host, project.work), lasting, host, now + day + 6min)),
       "expired at");
}

TEST_CASE("an acknowledgement is for this host and by the work key") {
  const Project project, other;
  protocol::Acknowledgement acknowledgement;
  acknowledgement.unit = UnitId{5};
  acknowledgement.host = HostId{42};
  acknowledgement.range = {0, 3};
  acknowledgement.digest = sha256_hex("segment");
  acknowledgement.status = protocol::CommitStatus::accepted;
  acknowledgement.at = now;
  const auto text = protocol::encode(acknowledgement);
  const auto statement = sign_statement(StatementType::acknowledgement, text, project.work);
  CHECK(check_acknowledgement(statement, project.trust(), HostId{42})->digest == acknowledgement.digest);
  says(refusal(check_acknowledgement(statement, project.trust(), HostId{43})), "is for host 42");
  says(refusal(check_acknowledgement(statement, other.trust(), HostId{42})), "not signed by the key");
}

TEST_CASE("acknowledgements of one reply hold only if each of them does, though they share a signature") {
  const Project project, other;
  const auto sign = [](std::size_t count, const PrivateKey& key) {
    std::vector<UnsignedStatement> parts;
    for (std::size_t i = 0; i < count; ++i) {
      protocol::Acknowledgement one;
      one.unit = UnitId{static_cast<std::int64_t>(i) + 1};
      one.host = HostId{static_cast<std::int64_t>(i) + 42};
      one.range = {0, 3};
      one.digest = sha256_hex("segment");
      one.status = protocol::CommitStatus::accepted;
      one.at = now;
      parts.push_back({StatementType::acknowledgement, protocol::encode(one)});
    }
    return sign_statements(std::move(parts), key);
  };
  const auto check = [&](const std::vector<SignedStatement>& all) {
    return check_acknowledgements(all, project.trust());
  };
  CHECK(check({}).ok());
  const auto all = sign(5, project.work);
  CHECK(check(all).ok());
  auto two_replies = all;
  for (const auto& statement : sign(3, project.work)) two_replies.push_back(statement);
  two_replies.push_back(all[0]);
  CHECK(check(two_replies).ok());
  const auto refused = [&](auto change, const std::string& why) {
    auto forged = all;
    change(forged);
    says(refusal(check(forged)), why);
  };
  const std::string changed = "does not carry a valid signature";
  refused([](auto& forged) { forged[2].payload += " "; }, changed);
  refused([](auto& forged) { forged[2].proof = forged[1].proof; }, changed);
  refused([](auto& forged) { forged[0].signature[5] = static_cast<char>(forged[0].signature[5] ^ 1); },
          changed);
  refused([](auto& forged) { forged[4].signature[5] = static_cast<char>(forged[4].signature[5] ^ 1); },
          changed);
  refused(
      [](auto& forged) {
        for (auto& each : forged) each.signature = Bytes(64, 'x');
      },
      changed);
  refused([&](auto& forged) { forged[3] = sign(1, other.work).front(); }, "not signed by the key");
  refused([&](auto& forged) { forged[3].key = other.work.public_key(); }, "not signed by the key");
  refused([](auto& forged) { forged[1].type = StatementType::grant; }, "in its place");
  refused(
      [&](auto& forged) { forged[1] = sign_statement(StatementType::acknowledgement, "{", project.work); },
      "cannot be read");
}

TEST_CASE("an application is signed by a certified signer while its certificate was valid") {
  const Project project, other;
  const auto check = [&](const SignedStatement& application, const SignedStatement& signer,
                         Timestamp at = now) {
    return check_application(application, signer, project.root.public_key(), project.id, at);
  };
  const auto signer = project.signer_certificate();
  CHECK(check(project.application(now, project.id), signer)->name == "raytrace");
  says(refusal(check(project.application(now, other.id), signer)), "belongs to project");
  says(refusal(check(other.application(now, project.id), signer)), "not signed by the key");
  says(refusal(check(project.application(now, project.id), other.signer_certificate())),
       "not signed by the key");
  says(refusal(check(project.application(now, project.id), project.work_certificate())), "in its place");
  says(refusal(check(project.application(now - 2 * day, project.id), signer)), "sign it again");
  says(refusal(check(project.application(now + 2 * day, project.id), signer)), "sign it again");
  says(refusal(check(project.application(now, project.id), signer, now + 2 * day)), "expired");
}

TEST_CASE("every tampered byte is refused") {
  const Project project;
  const ProjectTrust trust = project.trust();
  check_tampering(project.statement(project.document()),
                  [&](const SignedStatement& s) { return check_project(s, project.pin(), now); });
  check_tampering(project.signer_certificate(), [&](const SignedStatement& s) {
    return check_key_certificate(s, StatementType::signer_certificate, trust.root_key, trust.project, now);
  });
  check_tampering(project.application(now, project.id), [&](const SignedStatement& s) {
    return check_application(s, project.signer_certificate(), trust.root_key, trust.project, now);
  });
  check_tampering(project.signer_certificate(), [&](const SignedStatement& s) {
    return check_application(project.application(now, project.id), s, trust.root_key, trust.project, now);
  });
  check_tampering(project.grant(HostId{42}, project.work),
                  [&](const SignedStatement& s) { return check_grant(s, trust, HostId{42}, now); });
}
