#include "shared/crypto/relay_chain.h"

#include "shared/base/limits.h"
#include "shared/base/random.h"
#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/says.h"

using namespace gleaner;
using namespace gleaner::crypto;
using namespace std::chrono_literals;
using protocol::LeaseChain;
using protocol::RelayCertificate;
using protocol::RelayGrant;
using protocol::SignedStatement;
using protocol::StatementType;

namespace {

const Timestamp now = from_microseconds(1'795'212'245'000'000);
constexpr Duration day = std::chrono::hours{24};
const HostId child{500};

// A project, and a way down to the child through as many relays as a test wants, each of which leases a half
// on.
struct Tree {
  PrivateKey root = PrivateKey::generate();
  PrivateKey work = PrivateKey::generate();
  PrivateKey signer = PrivateKey::generate();
  std::string id = to_hex(fingerprint(root.public_key()));
  std::vector<PrivateKey> relays;
  protocol::Grant project_grant;
  std::vector<RelayCertificate> certificates;  // from the project down
  std::vector<RelayGrant> parts;               // from the project down; the last is the child's
  protocol::RevocationList revoked;
  std::vector<SignedStatement> former;

  explicit Tree(int depth) {
    for (int i = 0; i < depth; ++i) {
      relays.push_back(PrivateKey::generate());
      RelayCertificate certificate;
      certificate.project = id;
      certificate.relay = HostId{100 + i};
      certificate.name = "relay-" + std::to_string(i);
      certificate.key = relays.back().public_key();
      certificate.tls_key = sha256_hex(certificate.name);
      certificate.children = 100;
      certificate.not_before = now - day;
      certificate.not_after = now + 30 * day;
      certificates.push_back(certificate);
    }
    project_grant.unit = UnitId{5};
    project_grant.host = HostId{100};
    project_grant.problem = ProblemId{1};
    project_grant.problem_name = "p";
    project_grant.stage = 2;
    project_grant.range = {0, 1024};
    project_grant.application.key = project_grant.signer.key = Bytes(32, 'k');
    project_grant.application.signature = project_grant.signer.signature = Bytes(64, 's');
    project_grant.parameters = R"({"length":5})";
    project_grant.parameters_digest = sha256_hex(project_grant.parameters);
    project_grant.inputs = {{"words", sha256_hex("words"), 7, std::nullopt}};
    project_grant.cost = 1024;
    project_grant.issued_at = now;
    project_grant.deadline = now + day;
    project_grant.direct = true;
    Range range = project_grant.range;
    for (int i = 0; i < depth; ++i) {
      range = {range.begin + range.size() / 2, range.end};
      RelayGrant part;
      part.unit = UnitId{10 + i};
      part.host = i + 1 < depth ? HostId{101 + i} : child;
      part.range = range;
      part.cost = static_cast<double>(range.size());
      part.commit_seconds = 30;
      part.issued_at = now;
      part.deadline = now + day - (i + 1) * 1h;
      part.reason = "half of it";
      parts.push_back(part);
    }
  }

  ProjectTrust trust() const {
    protocol::KeyCertificate certificate{id, work.public_key(), "work", now - day, now + 60 * day};
    protocol::ProjectDocument document;
    document.project = id;
    document.name = "Test";
    document.root_key = root.public_key();
    document.work_certificate =
        sign_statement(StatementType::work_key_certificate, protocol::encode(certificate), root);
    document.issued_at = now;
    if (!former.empty()) document.former_work_certificates = former;
    if (!revoked.keys.empty() || !revoked.tls_keys.empty()) {
      protocol::RevocationList list = revoked;
      list.project = id;
      list.issued_at = now;
      document.revocations = sign_statement(StatementType::revocations, protocol::encode(list), root);
    }
    const auto statement = sign_statement(StatementType::project, protocol::encode(document), work);
    return check_project(statement, fingerprint(root.public_key()), now).value();
  }
  SignedStatement certify(std::size_t index, const PrivateKey& by) const {
    return sign_statement(StatementType::relay_certificate, protocol::encode(certificates[index]), by);
  }
  SignedStatement certify(std::size_t index) const { return certify(index, work); }
};

struct Leased {
  SignedStatement statement;
  LeaseChain chain;
};

// `named`: the digests of the parents are right, whatever a test made of them.
Leased lease(Tree tree, bool named = true) {
  Leased leased;
  leased.statement = sign_statement(StatementType::grant, protocol::encode(tree.project_grant), tree.work);
  for (std::size_t i = 0; i < tree.parts.size(); ++i) {
    auto& above = leased.chain.statements;
    above.insert(above.begin(), leased.statement);
    above.insert(above.begin(), tree.certify(i));
    if (named) tree.parts[i].parent = sha256_hex(leased.statement.payload);
    leased.statement =
        sign_statement(StatementType::relay_grant, protocol::encode(tree.parts[i]), tree.relays[i]);
  }
  return leased;
}

Result<protocol::Grant> check(const Leased& leased, const Tree& tree, Timestamp at = now) {
  return check_relayed_grant(leased.statement, leased.chain, tree.trust(), child, at);
}

std::string refusal(const Result<protocol::Grant>& result) {
  if (result.ok()) return "accepted";
  CHECK(result.error().kind == ErrorKind::untrusted);
  return result.error().message;
}

template <typename Change>
std::string after(Tree tree, const Change& change) {
  change(tree);
  return refusal(check(lease(tree), tree));
}

template <typename Change>
std::string changed(const Tree& tree, const Change& change) {
  Leased leased = lease(tree);
  change(leased);
  return refusal(check(leased, tree));
}

TEST_CASE("a chain of relays gives the project's grant with the range of its end") {
  const int depth = GENERATE(1, 2, limits::relay_depth_max);
  INFO(depth);
  const Tree tree(depth);
  const Leased leased = lease(tree);
  REQUIRE(leased.chain.statements.size() == static_cast<std::size_t>(2 * depth));
  const auto grant = check(leased, tree);
  INFO((grant.ok() ? "" : grant.error().message));
  REQUIRE(grant.ok());
  const RelayGrant& own = tree.parts.back();
  CHECK(grant->problem == tree.project_grant.problem);
  CHECK(grant->stage == 2);
  CHECK(grant->parameters == tree.project_grant.parameters);
  CHECK(grant->inputs.size() == 1);
  CHECK(grant->unit == own.unit);
  CHECK(grant->host == child);
  CHECK(grant->range == own.range);
  CHECK(grant->cost == own.cost);
  CHECK(grant->commit_seconds == 30);
  CHECK(grant->deadline == own.deadline);
  CHECK(grant->reason == own.reason);
  CHECK_FALSE(grant->direct);
  CHECK_FALSE(grant->begun);
  const auto read = read_relayed_grant(leased.statement, leased.chain);
  REQUIRE(read.ok());
  CHECK(protocol::encode(*read) == protocol::encode(*grant));
}

TEST_CASE("a relay's grant says from which state its first item goes on, not the project's") {
  Tree tree(1);
  tree.project_grant.begun = {0.5, "of the first item of the lease"};
  CHECK_FALSE(check(lease(tree), tree)->begun);
  tree.parts[0].begun = {0.25, "of the child's first item"};
  CHECK(check(lease(tree), tree)->begun->data == "of the child's first item");
}

TEST_CASE("the project's grant may name its context, and only it has one") {
  const Tree tree(2);
  protocol::Grant grant = tree.project_grant;
  const Bytes text = protocol::encode(
      protocol::GrantContext{grant.problem, grant.application, grant.signer, grant.parameters});
  grant.context = sha256_hex(text);
  Tree brief = tree;
  brief.project_grant = grant;
  Leased leased = lease(brief);
  says(refusal(check(leased, brief)), "names a context that this computer does not have");
  leased.chain.statements.back().context = text;
  REQUIRE(check(leased, brief).ok());
  CHECK(check(leased, brief)->parameters == tree.project_grant.parameters);
  for (std::size_t i = 0; i + 1 < leased.chain.statements.size(); ++i) {
    Leased elsewhere = leased;
    elsewhere.chain.statements[i].context = text;
    says(refusal(check(elsewhere, brief)), "context in another place");
  }
  leased.statement.context = text;
  says(refusal(check(leased, brief)), "context in another place");
}

TEST_CASE("every link of a chain that may be wrong is refused and named") {
  const Tree tree(2);
  const Tree stranger(2);
  // Who signed.
  says(after(tree, [](Tree& t) { t.relays[1] = PrivateKey::generate(); }), "not signed by the key");
  says(after(tree, [](Tree& t) { t.relays[0] = t.relays[1]; }), "not signed by the key");
  says(changed(tree, [&](Leased& l) { l.chain.statements[0] = tree.certify(1, tree.relays[0]); }),
       "not signed by the key");
  says(changed(tree, [&](Leased& l) { l.chain.statements[0] = tree.certify(1, tree.root); }),
       "not signed by the key");
  says(changed(tree, [&](Leased& l) { l.chain.statements[2] = stranger.certify(0); }),
       "not signed by the key");
  says(refusal(check(lease(stranger), tree)), "not signed by the key");
  says(changed(tree, [&](Leased& l) { l.statement = l.chain.statements[1]; }), "not signed by the key");
  // Certificates.
  says(after(tree, [&](Tree& t) { t.certificates[1].project = stranger.id; }), "belongs to project");
  says(after(tree, [](Tree& t) { t.certificates[1].not_after = now - 6min; }), "expired");
  says(after(tree, [](Tree& t) { t.certificates[0].not_after = now - 6min; }), "expired");
  says(after(tree, [](Tree& t) { t.certificates[0].not_before = now + 6min; }), "valid only from");
  says(after(tree, [](Tree& t) { t.certificates[0].not_after = now - 2 * day; }), "ends before it begins");
  for (const std::size_t which : {0U, 1U}) {
    says(after(tree,
               [&](Tree& t) {
                 t.revoked.keys = {{t.relays[which].public_key(), "stolen"}};
               }),
         "the relay's key");
    says(after(tree,
               [&](Tree& t) {
                 t.revoked.tls_keys = {{t.certificates[which].tls_key, "stolen"}};
               }),
         "TLS key");
  }
  says(after(tree, [](Tree& t) { t.certificates[0].relay = HostId{99}; }), "is of relay 99");
  says(after(tree, [](Tree& t) { t.certificates[1].relay = HostId{99}; }), "is of relay 99");
  says(after(tree, [](Tree& t) { t.certificates[1].relay = HostId{}; }), "names no relay");
  // What is granted.
  says(after(tree, [](Tree& t) { t.project_grant.host = child; }), "what relay 500 was given");
  says(after(tree, [](Tree& t) { t.parts[0].host = child; }), "what relay 500 was given");
  says(after(tree, [](Tree& t) { t.parts[1].host = HostId{501}; }), "is for host 501");
  says(after(tree, [](Tree& t) { t.parts[1].range.begin = 511; }), "items that the relay was not given");
  says(after(tree, [](Tree& t) { ++t.parts[1].range.end; }), "items that the relay was not given");
  says(after(tree, [](Tree& t) { t.parts[0].range = {0, 1025}; }), "items that the relay was not given");
  says(after(tree, [](Tree& t) { t.parts[1].range = {900, 900}; }), "is for no items");
  says(after(tree, [](Tree& t) { t.parts[1].deadline = t.parts[0].deadline + 1us; }), "lasts longer");
  says(after(tree, [](Tree& t) { t.parts[0].deadline = t.project_grant.deadline + 1us; }), "lasts longer");
  says(after(tree, [](Tree& t) { t.parts[1].deadline = now - 6min; }), "expired at");
  says(refusal(check(lease(tree), tree, now + day - 2h + 6min)), "expired at");
  Tree unnamed = tree;
  for (RelayGrant& part : unnamed.parts) part.parent = sha256_hex("another lease");
  says(refusal(check(lease(unnamed, false), unnamed)), "part of another lease");
  // Kinds.
  says(changed(tree, [](Leased& l) { l.statement.type = StatementType::grant; }), "in its place");
  says(changed(tree,
               [&](Leased& l) {
                 l.statement = sign_statement(StatementType::relay_grant, R"({"version":1})", tree.relays[1]);
               }),
       "cannot be read");
}

TEST_CASE("a chain is whole, in order and not too deep") {
  const Tree tree(3);
  says(changed(tree, [](Leased& l) { l.chain.statements.clear(); }), "is missing");
  // Any part of it away.
  for (std::size_t first = 0; first < 6; ++first)
    for (std::size_t count = 1; first + count <= 6; ++count) {
      INFO(first << "+" << count);
      CHECK(changed(tree, [&](Leased& l) {
              const auto at = l.chain.statements.begin() + static_cast<std::ptrdiff_t>(first);
              l.chain.statements.erase(at, at + static_cast<std::ptrdiff_t>(count));
            }) != "accepted");
    }
  for (std::size_t a = 0; a < 6; ++a)
    for (std::size_t b = a + 1; b < 6; ++b) {
      INFO(a << " and " << b);
      CHECK(changed(tree, [&](Leased& l) { std::swap(l.chain.statements[a], l.chain.statements[b]); }) !=
            "accepted");
    }
  says(changed(tree,
               [](Leased& l) {
                 auto& all = l.chain.statements;
                 all.insert(all.end(), all.end() - 2, all.end());
               }),
       "not signed by the key");
  const Tree deep(limits::relay_depth_max + 1);
  says(refusal(check(lease(deep), deep)), "more than 8 relays");
}

TEST_CASE("a relay that is not one of this lease gets nothing out of what others were given") {
  // A second relay of the same project, with a certificate that holds, takes the first one's lease.
  Tree tree(1);
  Leased leased = lease(tree);
  const PrivateKey thief = PrivateKey::generate();
  RelayCertificate certificate = tree.certificates[0];
  certificate.relay = HostId{200};
  certificate.key = thief.public_key();
  leased.chain.statements[0] =
      sign_statement(StatementType::relay_certificate, protocol::encode(certificate), tree.work);
  RelayGrant part = tree.parts[0];
  part.parent = sha256_hex(leased.chain.statements[1].payload);
  leased.statement = sign_statement(StatementType::relay_grant, protocol::encode(part), thief);
  says(refusal(check(leased, tree)), "is of relay 200");
}

TEST_CASE("what a former work key signed holds until that is revoked") {
  Tree tree(1);
  const Leased leased = lease(tree);
  const PrivateKey before = tree.work;
  const protocol::KeyCertificate certificate{tree.id, before.public_key(), "work", now - day, now + 60 * day};
  tree.former = {
      sign_statement(StatementType::work_key_certificate, protocol::encode(certificate), tree.root)};
  tree.work = PrivateKey::generate();
  CHECK(check(leased, tree).ok());
  CHECK(check_relay_certificate(leased.chain.statements[0], tree.trust(), now).ok());
  tree.revoked.keys = {{before.public_key(), "stolen"}};
  says(refusal(check(leased, tree)), "the work key");
  tree.revoked.keys.clear();
  tree.former.clear();
  says(refusal(check(leased, tree)), "not signed by the key");
}

TEST_CASE("any single change anywhere in a good chain is refused") {
  const std::uint64_t seed = 19;
  INFO("seed " << seed);
  Random random(seed);
  const Tree tree(2);
  const ProjectTrust trust = tree.trust();
  const Leased good = lease(tree);
  const auto refused = [&](const Leased& leased) {
    const auto grant = check_relayed_grant(leased.statement, leased.chain, trust, child, now);
    return !grant.ok() && grant.error().kind == ErrorKind::untrusted;
  };
  REQUIRE_FALSE(refused(good));
  for (std::size_t which = 0; which <= good.chain.statements.size(); ++which) {
    const auto one = [&](Leased& leased) -> SignedStatement& {
      return which == 0 ? leased.statement : leased.chain.statements[which - 1];
    };
    for (std::string SignedStatement::*part :
         {&SignedStatement::payload, &SignedStatement::key, &SignedStatement::signature}) {
      Leased leased = good;
      const std::size_t size = (one(leased).*part).size();
      for (std::size_t i = 0; i < size; ++i) {
        const char was = (one(leased).*part)[i];
        (one(leased).*part)[i] = static_cast<char>(was ^ random.between(1, 255));
        if (!refused(leased)) FAIL("statement " << which << ", byte " << i << " may be changed");
        (one(leased).*part)[i] = was;
      }
      (one(leased).*part).pop_back();
      CHECK(refused(leased));
      leased = good;
      (one(leased).*part) += ' ';
      CHECK(refused(leased));
    }
    for (int type = 1; type <= 13; ++type) {
      Leased leased = good;
      if (static_cast<StatementType>(type) == one(leased).type) continue;
      one(leased).type = static_cast<StatementType>(type);
      CHECK(refused(leased));
    }
    Leased leased = good;
    one(leased).proof = Bytes(33, 'L');
    CHECK(refused(leased));
  }
}

}  // namespace
