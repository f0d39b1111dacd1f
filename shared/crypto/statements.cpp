#include "shared/crypto/statements.h"

#include "shared/base/figures.h"
#include "shared/crypto/hash_tree.h"
#include "shared/crypto/periods.h"
#include "shared/crypto/statement_parts.h"
#include "shared/protocol/codec.h"

namespace gleaner::crypto {
namespace {

using protocol::SignedStatement;
using protocol::StatementType;

// Nobody guesses so many.
constexpr std::size_t random_text_bytes = 32;

std::string signed_bytes(StatementType type, std::string_view payload) {
  return std::string("gleaner-1\n") + protocol::name_of(type) + "\n" + std::string(payload);
}

// No name of a type, so that a root can stand in for no statement.
std::string signed_root(std::string_view root) {
  return "gleaner-1\nreply\n" + std::string(root);
}

// What its signature is of.
Result<std::string> signed_text(const SignedStatement& statement, StatementType type) {
  if (statement.type != type)
    return refuse_statement(type, std::string("is missing: there is a ") + protocol::name_of(statement.type) +
                                      " statement in its place");
  std::string text = signed_bytes(type, statement.payload);
  if (!statement.proof) return text;
  const auto root = root_of(text, *statement.proof);
  if (!root.ok()) return refuse_statement(type, root.error().message);
  return signed_root(*root);
}

Status check_text(const SignedStatement& statement, const std::string& text) {
  if (verify(statement.key, text, statement.signature)) return {};
  return refuse_statement(statement.type,
                          "does not carry a valid signature: it was changed on its way, do not use it");
}

Status check_key(const SignedStatement& statement, StatementType type, std::string_view key) {
  if (equal_constant_time(statement.key, key)) return {};
  return refuse_statement(
      type, "is not signed by the key that must have signed it: it may be of another project, or forged");
}

// The list that a server brings must not let go what the root key took back before.
Status check_not_older(const Revocations& brought, const Revocations& seen) {
  if (brought.number() >= seen.number()) return {};
  const auto text = [](const Revocations& list) {
    return "number " + std::to_string(list.number()) + " of " + utc_text(list.list().issued_at);
  };
  return refuse_statement(
      StatementType::project,
      std::string("brings ") +
          (brought.number() == 0 ? "no revocation list" : "the revocation list " + text(brought)) +
          ", and this computer has seen " + text(seen) +
          ": the server's administrator must put the newest list back (keys/revocations.json); "
          "if it is there, do not trust this server");
}

}  // namespace

Error refuse_statement(StatementType type, const std::string& reason) {
  return {ErrorKind::untrusted, std::string("the ") + protocol::name_of(type) + " statement " + reason};
}

Status check_signed_by(const SignedStatement& statement, StatementType type, std::string_view key) {
  TRY(check_key(statement, type, key));
  return check_signature(statement, type);
}

Status check_validity(StatementType type, const std::string& name, Timestamp not_before, Timestamp not_after,
                      Timestamp now) {
  if (not_after < not_before) return refuse_statement(type, "ends before it begins");
  if (now + clock_skew_forgiven < not_before)
    return refuse_statement(type, "of key \"" + name + "\" is valid only from " + utc_text(not_before) +
                                      " on: check this computer's date and time");
  if (now - clock_skew_forgiven > not_after)
    return refuse_statement(
        type, "of key \"" + name + "\" expired at " + utc_text(not_after) +
                  ": the project's administrator must renew it (or this computer's date is wrong)");
  return {};
}

Status check_host(StatementType type, HostId said, HostId host) {
  if (said == host) return {};
  return refuse_statement(type, "is for host " + std::to_string(said.value) + ", and this is host " +
                                    std::to_string(host.value) + ": join again if the problem stays");
}

Status check_deadline(StatementType type, Timestamp deadline, Timestamp now) {
  if (now - clock_skew_forgiven <= deadline) return {};
  return refuse_statement(type, "expired at " + utc_text(deadline) +
                                    ": an old one was sent again, or this computer's date is wrong");
}

// Trust may have been established long ago: the work key must still be good today.
Result<Bytes> trusted_work_key(std::string_view key, const ProjectTrust& trust, Timestamp now) {
  const SignedStatement* former = key == trust.work_key ? nullptr : former_work_certificate(trust, key);
  TRY_ASSIGN(const auto certificate,
             check_key_certificate(former != nullptr ? *former : trust.document.work_certificate,
                                   StatementType::work_key_certificate, trust.root_key, trust.project, now));
  TRY(trust.revocations.check_key(certificate.key, "work key"));
  return certificate.key;
}

SignedStatement sign_statement(StatementType type, std::string payload, const PrivateKey& key) {
  SignedStatement statement;
  statement.type = type;
  statement.signature = key.sign(signed_bytes(type, payload));
  statement.key = key.public_key();
  statement.payload = std::move(payload);
  return statement;
}

std::vector<SignedStatement> sign_statements(std::vector<UnsignedStatement> statements,
                                             const PrivateKey& key) {
  std::vector<SignedStatement> all;
  if (statements.size() == 1)
    all.push_back(sign_statement(statements.front().type, std::move(statements.front().payload), key));
  if (statements.size() <= 1) return all;
  std::vector<std::string> texts;
  texts.reserve(statements.size());
  for (const auto& statement : statements) texts.push_back(signed_bytes(statement.type, statement.payload));
  HashTree tree = hash_tree(texts);
  const Bytes signature = key.sign(signed_root(tree.root));
  const Bytes public_key = key.public_key();
  for (std::size_t i = 0; i < statements.size(); ++i)
    all.push_back({statements[i].type, std::move(statements[i].payload), public_key, signature,
                   std::move(tree.proofs[i])});
  return all;
}

std::vector<std::vector<SignedStatement>> sign_for_many(std::vector<std::vector<UnsignedStatement>> receivers,
                                                        const PrivateKey& key) {
  std::vector<std::vector<SignedStatement>> all(receivers.size());
  std::vector<std::string> texts;
  for (const auto& statements : receivers) {
    for (const auto& statement : statements) {
      texts.push_back(signed_bytes(statement.type, statement.payload));
      texts.emplace_back();
    }
  }
  if (texts.empty()) return all;
  const Bytes random = random_secret(texts.size() / 2 * random_text_bytes);  // at once: each call costs
  for (std::size_t i = 0; i < texts.size() / 2; ++i)
    texts[2 * i + 1] = random.substr(i * random_text_bytes, random_text_bytes);
  HashTree tree = hash_tree(texts);
  const Bytes signature = key.sign(signed_root(tree.root));
  const Bytes public_key = key.public_key();
  auto proof = tree.proofs.begin();
  for (std::size_t i = 0; i < receivers.size(); ++i) {
    for (auto& statement : receivers[i]) {
      all[i].push_back(
          {statement.type, std::move(statement.payload), public_key, signature, std::move(*proof), {}});
      proof += 2;
    }
  }
  return all;
}

Result<SignedStatement> sign_statement(StatementType type, std::string payload, const RootKey& key) {
  SignedStatement statement;
  statement.type = type;
  TRY_ASSIGN(statement.signature, key.sign(signed_bytes(type, payload)));
  statement.key = key.public_key();
  statement.payload = std::move(payload);
  return statement;
}

Status check_signature(const SignedStatement& statement, StatementType type) {
  TRY_ASSIGN(const std::string text, signed_text(statement, type));
  return check_text(statement, text);
}

Result<protocol::KeyCertificate> check_key_certificate(const SignedStatement& statement, StatementType type,
                                                       std::string_view root_key, std::string_view project,
                                                       Timestamp now) {
  TRY(check_signed_by(statement, type, root_key));
  TRY_ASSIGN(auto certificate, decode_payload<protocol::KeyCertificate>(statement));
  if (certificate.project != project)
    return refuse_statement(type, "belongs to project " + certificate.project);
  TRY(check_validity(type, certificate.name, certificate.not_before, certificate.not_after, now));
  return certificate;
}

Result<ProjectTrust> check_project(const SignedStatement& statement, std::string_view root_fingerprint,
                                   Timestamp now, const Revocations& seen) {
  constexpr auto type = StatementType::project;
  TRY(check_signature(statement, type));  // by a key that is not trusted before the certificate below says so
  TRY_ASSIGN(auto document, decode_payload<protocol::ProjectDocument>(statement));
  const Bytes root = fingerprint(document.root_key);
  if (!equal_constant_time(root, root_fingerprint))
    return refuse_statement(
        type, "is of another project than the join code's: check the code and the server's address");
  if (document.project != to_hex(root))
    return refuse_statement(type, "contradicts itself about the project's id");
  TRY_ASSIGN(const auto certificate,
             check_key_certificate(document.work_certificate, StatementType::work_key_certificate,
                                   document.root_key, document.project, now));
  if (!equal_constant_time(certificate.key, statement.key))
    return refuse_statement(type, "is not signed by the work key that the project's root key certified");
  Revocations revocations;
  if (document.revocations) {
    TRY_ASSIGN(revocations, Revocations::from(*document.revocations, root_fingerprint));
  }
  TRY(check_not_older(revocations, seen));
  TRY(revocations.check_key(certificate.key, "work key"));
  return ProjectTrust{document.project, document.root_key, certificate.key, std::move(document),
                      std::move(revocations)};
}

const SignedStatement* former_work_certificate(const ProjectTrust& trust, std::string_view key) {
  if (!trust.document.former_work_certificates) return nullptr;
  for (const SignedStatement& former : *trust.document.former_work_certificates)
    if (const auto certificate = protocol::decode<protocol::KeyCertificate>(former.payload);
        certificate.ok() && certificate->key == key)
      return &former;
  return nullptr;
}

Result<protocol::Grant> read_grant(const SignedStatement& statement) {
  constexpr auto type = StatementType::grant;
  TRY_ASSIGN(auto grant, decode_payload<protocol::Grant>(statement));
  if (!grant.context) return grant;
  if (!statement.context)
    return refuse_statement(type, "names a context that this computer does not have: ask for work again");
  if (sha256_hex(*statement.context) != *grant.context)
    return refuse_statement(
        type, "came with another context than it names: it was changed on its way, do not use it");
  auto context = protocol::decode<protocol::GrantContext>(*statement.context);
  if (!context.ok())
    return refuse_statement(type, "has a context that cannot be read: " + context.error().message);
  if (context->problem != grant.problem)
    return refuse_statement(type, "names the context of another problem");
  grant.application = std::move(context->application);
  grant.signer = std::move(context->signer);
  grant.parameters_digest = sha256_hex(context->parameters);
  grant.parameters = std::move(context->parameters);
  return grant;
}

Result<protocol::Grant> check_project_grant(const SignedStatement& statement, const ProjectTrust& trust,
                                            Timestamp now) {
  constexpr auto type = StatementType::grant;
  TRY_ASSIGN(const Bytes work_key, trusted_work_key(statement.key, trust, now));
  TRY(check_signed_by(statement, type, work_key));
  TRY_ASSIGN(auto grant, read_grant(statement));
  if (grant.range.empty()) return refuse_statement(type, "is for no items");
  TRY(check_deadline(type, grant.deadline, now));
  return grant;
}

Result<protocol::Grant> check_grant(const SignedStatement& statement, const ProjectTrust& trust, HostId host,
                                    Timestamp now) {
  TRY_ASSIGN(auto grant, check_project_grant(statement, trust, now));
  TRY(check_host(StatementType::grant, grant.host, host));
  return grant;
}

Result<protocol::Acknowledgement> check_acknowledgement(const SignedStatement& statement,
                                                        const ProjectTrust& trust, HostId host) {
  constexpr auto type = StatementType::acknowledgement;
  TRY(check_signed_by(statement, type, trust.work_key));
  TRY_ASSIGN(auto acknowledgement, decode_payload<protocol::Acknowledgement>(statement));
  TRY(check_host(type, acknowledgement.host, host));
  return acknowledgement;
}

Status check_acknowledgements(const std::vector<SignedStatement>& statements, const ProjectTrust& trust) {
  constexpr auto type = StatementType::acknowledgement;
  std::string_view signature;  // that holds for `text`
  std::string text;
  for (const SignedStatement& statement : statements) {
    TRY(check_key(statement, type, trust.work_key));
    TRY_ASSIGN(std::string its_text, signed_text(statement, type));
    if (statement.signature != signature || its_text != text) {
      TRY(check_text(statement, its_text));
      signature = statement.signature;
      text = std::move(its_text);
    }
    TRY(decode_payload<protocol::Acknowledgement>(statement));
  }
  return {};
}

namespace {

// What addresses in an object store have in common.
template <typename Addresses>
Result<Addresses> check_addresses(StatementType type, const SignedStatement& statement,
                                  std::string_view work_key, HostId host, const std::string& digest,
                                  Timestamp now) {
  TRY(check_signed_by(statement, type, work_key));
  TRY_ASSIGN(auto addresses, decode_payload<Addresses>(statement));
  TRY(check_host(type, addresses.host, host));
  if (addresses.digest != digest) return refuse_statement(type, "is of another blob than was asked for");
  TRY(check_deadline(type, addresses.ends_at, now));
  return addresses;
}

}  // namespace

Result<protocol::BlobAddress> check_blob_address(const SignedStatement& statement, std::string_view work_key,
                                                 HostId host, const std::string& digest, Timestamp now) {
  return check_addresses<protocol::BlobAddress>(StatementType::blob_address, statement, work_key, host,
                                                digest, now);
}

Result<protocol::PutAddresses> check_put_addresses(const SignedStatement& statement,
                                                   std::string_view work_key, HostId host,
                                                   const std::string& digest, std::int64_t bytes,
                                                   Timestamp now) {
  constexpr auto type = StatementType::put_addresses;
  TRY_ASSIGN(auto addresses,
             check_addresses<protocol::PutAddresses>(type, statement, work_key, host, digest, now));
  if (addresses.bytes != bytes) return refuse_statement(type, "is of another length than was asked for");
  for (const auto& part : addresses.parts)
    if (part.bytes < 1 || part.offset > bytes - part.bytes)
      return refuse_statement(type, "has a part that is not one");
  return addresses;
}

Result<protocol::ApplicationStatement> check_application(const SignedStatement& application,
                                                         const SignedStatement& signer,
                                                         std::string_view root_key, std::string_view project,
                                                         Timestamp now, const Revocations& revocations) {
  constexpr auto type = StatementType::application;
  TRY_ASSIGN(const auto certificate,
             check_key_certificate(signer, StatementType::signer_certificate, root_key, project, now));
  TRY(check_signed_by(application, type, certificate.key));
  TRY_ASSIGN(auto statement, decode_payload<protocol::ApplicationStatement>(application));
  if (statement.project != project) return refuse_statement(type, "belongs to project " + statement.project);
  if (statement.signed_at + clock_skew_forgiven < certificate.not_before ||
      statement.signed_at - clock_skew_forgiven > certificate.not_after)
    return refuse_statement(type, "was signed at " + utc_text(statement.signed_at) +
                                      ", when its signer's certificate was not valid: sign it again");
  TRY(revocations.check_key(certificate.key, "signer"));
  TRY(revocations.check_application(statement));
  return statement;
}

}  // namespace gleaner::crypto
