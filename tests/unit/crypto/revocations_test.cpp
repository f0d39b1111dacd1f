#include "shared/crypto/revocations.h"

#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/says.h"

using namespace gleaner;
using namespace gleaner::crypto;
using protocol::SignedStatement;
using protocol::StatementType;

namespace {

const Timestamp now = from_microseconds(1'795'212'245'000'000);
constexpr Duration day = std::chrono::hours{24};

struct Project {
  PrivateKey root = PrivateKey::generate();
  PrivateKey work = PrivateKey::generate();
  PrivateKey signer = PrivateKey::generate();
  std::string id = to_hex(fingerprint(root.public_key()));

  Bytes pin() const { return fingerprint(root.public_key()); }
  SignedStatement certify(StatementType type, const PrivateKey& key) const {
    return sign_statement(
        type, protocol::encode(protocol::KeyCertificate{id, key.public_key(), "name", now - day, now + day}),
        root);
  }
  protocol::RevocationList list(std::int64_t number) const {
    protocol::RevocationList list;
    list.project = id;
    list.number = number;
    list.issued_at = now;
    return list;
  }
  SignedStatement sign(const protocol::RevocationList& list) const {
    return sign_statement(StatementType::revocations, protocol::encode(list), root);
  }
  Revocations revocations(const protocol::RevocationList& list) const {
    return Revocations::from(sign(list), pin()).value();
  }
  SignedStatement document(const PrivateKey& key, const std::optional<SignedStatement>& list,
                           std::vector<SignedStatement> former = {}) const {
    protocol::ProjectDocument document;
    document.project = id;
    document.name = "Test";
    document.root_key = root.public_key();
    document.work_certificate = certify(StatementType::work_key_certificate, key);
    document.issued_at = now;
    document.revocations = list;
    if (!former.empty()) document.former_work_certificates = std::move(former);
    return sign_statement(StatementType::project, protocol::encode(document), key);
  }
  SignedStatement application(const std::string& version) const {
    protocol::ApplicationStatement application{id, "raytrace", version, sha256_hex(version), 7, now};
    return sign_statement(StatementType::application, protocol::encode(application), signer);
  }
  SignedStatement grant(const PrivateKey& key) const {
    protocol::Grant grant;
    grant.unit = UnitId{5};
    grant.host = HostId{42};
    grant.problem = ProblemId{1};
    grant.problem_name = "p";
    grant.range = {0, 10};
    grant.application = application("1.0.0");
    grant.signer = certify(StatementType::signer_certificate, signer);
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

}  // namespace

TEST_CASE("versions are ordered as their authors mean them") {
  // Each lower than the next.
  const std::vector<std::string> rising = {"0.9",
                                           "1",
                                           "1.0-alpha",
                                           "1.0-alpha.1",
                                           "1.0-alpha.beta",
                                           "1.0-rc.2",
                                           "1.0-rc.10",
                                           "1.0",
                                           "1.0.0-rc1",
                                           "1.0.0",
                                           "1.0.0+2",
                                           "1.0.0+10",
                                           "1.0.1",
                                           "1.2.9",
                                           "1.2.10",
                                           "1.10.0",
                                           "1.10.0a",
                                           "2",
                                           "2026.01.2",
                                           "2026.1.3",
                                           "99999999999999999999.1",
                                           "100000000000000000000"};
  for (std::size_t a = 0; a < rising.size(); ++a)
    for (std::size_t b = 0; b < rising.size(); ++b) {
      INFO(rising[a] << " and " << rising[b]);
      CHECK(compare_versions(rising[a], rising[b]) == (a < b ? -1 : a > b ? 1 : 0));
    }
  CHECK(compare_versions("1.02", "1.2") == 0);
}

TEST_CASE("a list is good by the root key's signature, for its project") {
  const Project project, other;
  CHECK(Revocations().number() == 0);
  CHECK(Revocations().check_key(project.work.public_key(), "work key").ok());
  const auto statement = project.sign(project.list(3));
  CHECK(Revocations::from(statement, project.pin())->number() == 3);
  says(refusal(Revocations::from(statement, other.pin())), "not signed by this project's root key");
  says(refusal(Revocations::from(
           sign_statement(StatementType::revocations, protocol::encode(project.list(3)), project.work),
           project.pin())),
       "not signed by this project's root key");
  auto foreign = project.list(3);
  foreign.project = other.id;
  says(refusal(Revocations::from(project.sign(foreign), project.pin())), "belongs to project");
  auto changed = statement;
  changed.payload = protocol::encode(project.list(4));
  says(refusal(Revocations::from(changed, project.pin())), "valid signature");
  says(refusal(Revocations::from(project.certify(StatementType::signer_certificate, project.work),
                                 project.pin())),
       "in its place");
  says(refusal(
           Revocations::from(sign_statement(StatementType::revocations, "[]", project.root), project.pin())),
       "cannot be read");
}

TEST_CASE("what is on the list is refused, and nothing else") {
  const Project project;
  auto list = project.list(1);
  list.keys = {{project.signer.public_key(), "left the lab"}};
  list.tls_keys = {{sha256_hex("tls"), ""}};
  list.applications = {{sha256_hex("1.4.0"), "it crashes"}};
  list.minimum_versions = {{"raytrace", "1.2.0", ""}};
  const Revocations revocations = project.revocations(list);
  says(refusal(Result<bool>(revocations.check_key(project.signer.public_key(), "signer").error())),
       "left the lab");
  CHECK(revocations.check_key(project.work.public_key(), "work key").ok());
  CHECK_FALSE(revocations.check_tls_key(sha256_hex("tls")).ok());
  CHECK(revocations.check_tls_key(sha256_hex("another")).ok());
  const auto application = [&](const std::string& name, const std::string& version) {
    return revocations.check_application({project.id, name, version, sha256_hex(version), 7, now});
  };
  CHECK_FALSE(application("raytrace", "1.1.9").ok());
  CHECK(application("raytrace", "1.2.0").ok());
  CHECK(application("raytrace", "1.10.0").ok());
  CHECK_FALSE(application("raytrace", "1.4.0").ok());
  CHECK(application("mandelbrot", "1.1.9").ok());
  // Of a signer that is revoked everything ends.
  CHECK_FALSE(revocations.check_signed_application(project.application("1.10.0")).ok());
}

TEST_CASE("a project document never goes back behind a list that was seen") {
  const Project project;
  const auto check = [&](const std::optional<SignedStatement>& brought, const Revocations& seen) {
    return check_project(project.document(project.work, brought), project.pin(), now, seen);
  };
  const auto second = project.sign(project.list(2));
  const Revocations seen = project.revocations(project.list(2));
  CHECK(check(std::nullopt, {}).ok());
  CHECK(check(second, {})->revocations.number() == 2);
  CHECK(check(second, seen).ok());
  CHECK(check(project.sign(project.list(3)), seen)->revocations.number() == 3);
  says(refusal(check(project.sign(project.list(1)), seen)), "put the newest list back");
  says(refusal(check(std::nullopt, seen)), "brings no revocation list");
  // A list that is not the root's is no list.
  const Project other;
  says(refusal(check(other.sign(other.list(9)), {})), "not signed by this project's root key");
}

TEST_CASE("a revoked work key signs no document and no grant") {
  const Project project;
  const PrivateKey renewed = PrivateKey::generate();
  auto list = project.list(1);
  list.keys = {{project.work.public_key(), "stolen"}};
  const auto statement = project.sign(list);
  says(refusal(check_project(project.document(project.work, statement), project.pin(), now)), "stolen");
  // The list is taken from it all the same.
  CHECK(revocations_in(project.document(project.work, statement), project.pin())->number() == 1);

  // Before it was revoked, what it had granted went on under its successor.
  const auto former = project.certify(StatementType::work_key_certificate, project.work);
  const auto host = HostId{42};
  const auto gentle =
      check_project(project.document(renewed, std::nullopt, {former}), project.pin(), now).value();
  CHECK(check_grant(project.grant(renewed), gentle, host, now).ok());
  CHECK(check_grant(project.grant(project.work), gentle, host, now).ok());
  says(refusal(check_grant(project.grant(project.work), gentle, host, now + 2 * day)), "expired");
  says(refusal(check_grant(project.grant(project.signer), gentle, host, now)), "not signed by the key");
  const auto revoked =
      check_project(project.document(renewed, statement, {former}), project.pin(), now).value();
  CHECK(check_grant(project.grant(renewed), revoked, host, now).ok());
  says(refusal(check_grant(project.grant(project.work), revoked, host, now)), "stolen");
  // Without its certificate it is nobody's.
  const auto alone = check_project(project.document(renewed, std::nullopt), project.pin(), now).value();
  says(refusal(check_grant(project.grant(project.work), alone, host, now)), "not signed by the key");
  // A certificate that the root did not make vouches for nobody.
  const Project other;
  const auto forged =
      check_project(project.document(renewed, std::nullopt,
                                     {other.certify(StatementType::work_key_certificate, other.work)}),
                    project.pin(), now);
  says(refusal(check_grant(project.grant(other.work), forged.value(), host, now)), "not signed by the key");
}

TEST_CASE("a signer and an application that are revoked hold nowhere") {
  const Project project;
  const auto check = [&](const protocol::RevocationList& list) {
    return check_application(project.application("1.0.0"),
                             project.certify(StatementType::signer_certificate, project.signer),
                             project.root.public_key(), project.id, now, project.revocations(list));
  };
  auto list = project.list(1);
  CHECK(check(list).ok());
  list.applications = {{sha256_hex("1.0.0"), "it lies"}};
  says(refusal(check(list)), "it lies");
  list.applications.clear();
  list.minimum_versions = {{"raytrace", "1.0.1", ""}};
  says(refusal(check(list)), "every version below 1.0.1");
  list.minimum_versions.clear();
  list.keys = {{project.signer.public_key(), "gone"}};
  says(refusal(check(list)), "the signer");
}
