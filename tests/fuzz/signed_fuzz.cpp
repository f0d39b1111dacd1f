// Signed statements: the first byte says which, the second how it is signed (rightly, by another key, or with
// a bit flipped), the rest is the payload. Nothing but the right key's own signature opens it, and what opens
// is for this project and this host. 'x': a chain of TLS certificates; 'p': a private key; 'l': a part of a
// relay's lease.
#include "shared/crypto/keys.h"
#include "shared/crypto/relay_chain.h"
#include "shared/crypto/statements.h"
#include "shared/crypto/tls_identity.h"
#include "shared/protocol/codec.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using protocol::StatementType;

namespace {

// Keys whose secrets are known, so that runs repeat: PKCS#8 around 32 equal bytes (RFC 8410).
crypto::PrivateKey key_of(const char* base64) {
  const auto key = crypto::PrivateKey::from_pem(std::string("-----BEGIN PRIVATE KEY-----\n") + base64 +
                                                "\n-----END PRIVATE KEY-----\n");
  CHECK_TRUE(key.ok());
  return *key;
}

struct Keys {
  crypto::PrivateKey root = key_of("MC4CAQAwBQYDK2VwBCIEIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB");
  crypto::PrivateKey work = key_of("MC4CAQAwBQYDK2VwBCIEIAICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIC");
  crypto::PrivateKey other = key_of("MC4CAQAwBQYDK2VwBCIEIAMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMD");
};

void check_certificates(std::string_view bytes, const Keys& keys, Timestamp now) {
  std::vector<std::string> chain;
  for (std::size_t at = 0; at < bytes.size() && chain.size() < 4;) {
    const std::size_t length =
        std::min<std::size_t>(static_cast<unsigned char>(bytes[at]) * 4, bytes.size() - at - 1);
    chain.emplace_back(bytes.substr(at + 1, length));
    at += 1 + length;
  }
  // Without the root's signature there is none that holds.
  CHECK_TRUE(!crypto::check_chain(chain, crypto::fingerprint(keys.root.public_key()), now).ok());
}

protocol::SignedStatement made(StatementType type, std::string payload, const crypto::PrivateKey& right,
                               const crypto::PrivateKey& wrong, int how) {
  if (how == 1) return crypto::sign_statement(type, std::move(payload), wrong);
  auto statement = crypto::sign_statement(type, std::move(payload), right);
  if (how == 2) statement.signature[17] ^= 4;
  if (how == 3) statement.payload += ' ';
  if (how == 4) {  // another's statement in the right key's name
    statement = crypto::sign_statement(type, statement.payload, wrong);
    statement.key = right.public_key();
  }
  return statement;
}

// The payload is what a relay grants on of its ten items; what opens is inside what it was given.
void check_lease(const std::string& payload, const Keys& keys, const crypto::ProjectTrust& trust, int how,
                 Timestamp now) {
  protocol::RelayCertificate relay;
  relay.project = trust.project;
  relay.relay = HostId{9};
  relay.name = "lab";
  relay.key = keys.other.public_key();
  relay.tls_key = std::string(64, 'a');
  relay.children = 1;
  relay.not_before = now - std::chrono::hours{1};
  relay.not_after = now + std::chrono::hours{1};
  protocol::Grant grant;
  grant.host = relay.relay;
  grant.range = {0, 10};
  grant.parameters_digest = std::string(64, 'a');
  grant.application.key = grant.signer.key = Bytes(32, 'k');
  grant.application.signature = grant.signer.signature = Bytes(64, 's');
  grant.deadline = now + std::chrono::hours{1};
  protocol::LeaseChain chain;
  chain.statements = {
      crypto::sign_statement(StatementType::relay_certificate, protocol::encode(relay), keys.work),
      crypto::sign_statement(StatementType::grant, protocol::encode(grant), keys.work)};
  std::string whole = payload;
  if (auto part = protocol::decode<protocol::RelayGrant>(payload); part.ok()) {
    part->parent = crypto::sha256_hex(chain.statements[1].payload);  // so that more is reached
    whole = protocol::encode(*part);
  }
  const auto statement = made(StatementType::relay_grant, whole, keys.other, keys.work, how);
  const auto opened = crypto::check_relayed_grant(statement, chain, trust, HostId{1}, now);
  if (!opened.ok()) return;
  CHECK_TRUE(how == 0 && opened->host == HostId{1} && opened->deadline <= grant.deadline);
  CHECK_TRUE(opened->range.begin >= 0 && opened->range.end <= 10 && !opened->range.empty());
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Keys keys;
  if (size < 2) return 0;
  const Timestamp now = from_microseconds(1'767'225'600'000'000);
  const std::string_view rest = fuzz::text_of(data + 2, size - 2);
  if (data[0] == 'x') {
    check_certificates(rest, keys, now);
    return 0;
  }
  if (data[0] == 'p') {
    if (const auto key = crypto::PrivateKey::from_pem(rest); key.ok())
      CHECK_TRUE(crypto::PrivateKey::from_pem(key->to_pem())->public_key() == key->public_key());
    return 0;
  }
  const int how = data[1] % 5;
  const std::string payload(rest);
  const Bytes root = keys.root.public_key();
  const std::string project = to_hex(crypto::fingerprint(root));
  const auto certificate = [&] {
    protocol::KeyCertificate work;
    work.project = project;
    work.key = keys.work.public_key();
    work.name = "work";
    work.not_before = now - std::chrono::hours{1};
    work.not_after = now + std::chrono::hours{1};
    return crypto::sign_statement(StatementType::work_key_certificate, protocol::encode(work), keys.root);
  };
  crypto::ProjectTrust trust{project, root, keys.work.public_key(), {}, {}};
  trust.document.work_certificate = certificate();
  if (data[0] == 'l') {
    check_lease(payload, keys, trust, how, now);
    return 0;
  }
  switch (data[0] % 4) {
    case 0: {
      auto statement = made(StatementType::grant, payload, keys.work, keys.other, how);
      if (data[0] >= 128) {  // the payload is its own context, whose digest no payload can name
        statement.context = payload;
        const auto grant = crypto::read_grant(statement);
        CHECK_TRUE(!grant.ok() || !grant->context);
      }
      const auto grant = crypto::check_grant(statement, trust, HostId{1}, now);
      if (grant.ok())
        CHECK_TRUE(how == 0 && grant->host == HostId{1} && grant->deadline >= now - std::chrono::minutes{5});
      break;
    }
    case 1: {
      const auto address = made(StatementType::blob_address, payload, keys.work, keys.other, how);
      const std::string digest(64, 'a');
      const auto found = crypto::check_blob_address(address, trust.work_key, HostId{1}, digest, now);
      if (found.ok()) CHECK_TRUE(how == 0 && found->host == HostId{1} && found->digest == digest);
      const auto places =
          crypto::check_put_addresses(made(StatementType::put_addresses, payload, keys.work, keys.other, how),
                                      trust.work_key, HostId{1}, digest, 100, now);
      if (places.ok()) {
        CHECK_TRUE(how == 0 && places->host == HostId{1} && places->digest == digest && places->bytes == 100);
        for (const auto& part : places->parts)
          CHECK_TRUE(part.offset >= 0 && part.bytes > 0 && part.offset + part.bytes <= 100);
      }
      const auto statement = made(StatementType::acknowledgement, payload, keys.work, keys.other, how);
      const auto acknowledgement = crypto::check_acknowledgement(statement, trust, HostId{1});
      if (acknowledgement.ok()) CHECK_TRUE(how == 0 && acknowledgement->host == HostId{1});
      break;
    }
    case 2: {
      const auto statement = made(StatementType::work_key_certificate, payload, keys.root, keys.other, how);
      const auto opened =
          crypto::check_key_certificate(statement, StatementType::work_key_certificate, root, project, now);
      if (opened.ok()) CHECK_TRUE(how == 0 && opened->project == project);
      break;
    }
    default: {
      auto document = protocol::decode<protocol::ProjectDocument>(payload);
      if (!document.ok()) return 0;
      if (data[0] < 128) {  // so that more than the first check is reached
        document->project = project;
        document->root_key = root;
        document->work_certificate = certificate();
      }
      const auto statement =
          made(StatementType::project, protocol::encode(*document), keys.work, keys.other, how);
      const auto opened = crypto::check_project(statement, crypto::fingerprint(root), now);
      if (opened.ok()) CHECK_TRUE(how == 0 && opened->root_key == root && opened->work_key == trust.work_key);
    }
  }
  return 0;
}
