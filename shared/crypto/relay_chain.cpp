#include "shared/crypto/relay_chain.h"

#include "shared/base/limits.h"
#include "shared/crypto/statement_parts.h"

namespace gleaner::crypto {
namespace {

using protocol::Grant;
using protocol::LeaseChain;
using protocol::RelayCertificate;
using protocol::RelayGrant;
using protocol::SignedStatement;
using protocol::StatementType;

Error broken(const std::string& reason) {
  return {ErrorKind::untrusted, "the chain of the relay's grant " + reason};
}

// Certificates and what they lease on, in pairs; nothing that no signature covers.
Status check_form(const SignedStatement& statement, const LeaseChain& chain) {
  const auto& all = chain.statements;
  if (all.empty()) return broken("is missing: there is no way from it to the project");
  if (all.size() % 2 != 0) return broken("lacks a certificate, or the grant that it is for");
  if (all.size() > static_cast<std::size_t>(limits::lease_statements_max))
    return broken("leads through more than " + std::to_string(limits::relay_depth_max) + " relays");
  if (statement.context) return broken("has a context in another place than with the project's grant");
  for (std::size_t i = 0; i + 1 < all.size(); ++i)
    if (all[i].context) return broken("has a context in another place than with the project's grant");
  return {};
}

// What is below the certificate `index`: signed by its key.
const SignedStatement& below(const SignedStatement& statement, const LeaseChain& chain, std::size_t index) {
  return index == 0 ? statement : chain.statements[index - 1];
}

// `grant`: what `above` gives, as all above it allow.
Result<Grant> narrowed(Grant grant, const SignedStatement& above, const SignedStatement& part) {
  constexpr auto type = StatementType::relay_grant;
  if (part.type != type) return broken("has another statement in the place of a relay's grant");
  TRY_ASSIGN(RelayGrant own, decode_payload<RelayGrant>(part));
  if (own.parent != sha256_hex(above.payload)) return refuse_statement(type, "is a part of another lease");
  if (own.range.empty()) return refuse_statement(type, "is for no items");
  if (own.range.begin < grant.range.begin || own.range.end > grant.range.end)
    return refuse_statement(type, "is for items that the relay was not given");
  if (own.deadline > grant.deadline)
    return refuse_statement(type, "lasts longer than the lease that it is a part of");
  grant.unit = own.unit;
  grant.host = own.host;
  grant.range = own.range;
  grant.cost = own.cost;
  grant.begun = std::move(own.begun);
  grant.commit_seconds = own.commit_seconds;
  grant.issued_at = own.issued_at;
  grant.deadline = own.deadline;
  grant.reason = std::move(own.reason);
  grant.direct.reset();
  return grant;
}

Status check_receiver(HostId said, const RelayCertificate& relay) {
  if (said == relay.relay) return {};
  return refuse_statement(StatementType::relay_certificate,
                          "is of relay " + std::to_string(relay.relay.value) +
                              ", which grants on what relay " + std::to_string(said.value) + " was given");
}

// By a host's key, of this project.
template <typename Message>
Result<Message> check_said(const SignedStatement& statement, StatementType type, std::string_view host_key,
                           const std::string& project) {
  TRY(check_signed_by(statement, type, host_key));
  TRY_ASSIGN(auto said, decode_payload<Message>(statement));
  if (said.project != project) return refuse_statement(type, "belongs to project " + said.project);
  return said;
}

}  // namespace

Result<RelayCertificate> check_relay_certificate(const SignedStatement& statement, const ProjectTrust& trust,
                                                 Timestamp now) {
  constexpr auto type = StatementType::relay_certificate;
  TRY_ASSIGN(const Bytes work_key, trusted_work_key(statement.key, trust, now));
  TRY(check_signed_by(statement, type, work_key));
  TRY_ASSIGN(auto certificate, decode_payload<RelayCertificate>(statement));
  if (certificate.project != trust.project)
    return refuse_statement(type, "belongs to project " + certificate.project);
  if (!certificate.relay.valid()) return refuse_statement(type, "names no relay");
  TRY(check_validity(type, certificate.name, certificate.not_before, certificate.not_after, now));
  TRY(trust.revocations.check_key(certificate.key, "relay's key"));
  TRY(trust.revocations.check_tls_key(certificate.tls_key));
  return certificate;
}

Result<Grant> read_relayed_grant(const SignedStatement& statement, const LeaseChain& chain) {
  TRY(check_form(statement, chain));
  const auto& all = chain.statements;
  TRY_ASSIGN(Grant grant, read_grant(all.back()));
  for (std::size_t i = all.size(); i > 0; i -= 2) {
    TRY_ASSIGN(grant, narrowed(std::move(grant), all[i - 1], below(statement, chain, i - 2)));
  }
  return grant;
}

// From the project down: what is looked at has been vouched for by what was looked at before.
Result<Grant> check_relayed_grant(const SignedStatement& statement, const LeaseChain& chain,
                                  const ProjectTrust& trust, HostId host, Timestamp now) {
  constexpr auto type = StatementType::relay_grant;
  TRY(check_form(statement, chain));
  const auto& all = chain.statements;
  TRY_ASSIGN(RelayCertificate relay, check_relay_certificate(all[all.size() - 2], trust, now));
  TRY_ASSIGN(Grant grant, check_project_grant(all.back(), trust, now));
  TRY(check_receiver(grant.host, relay));
  for (std::size_t i = all.size(); i > 0; i -= 2) {
    const SignedStatement& part = below(statement, chain, i - 2);
    TRY(check_signed_by(part, type, relay.key));
    TRY_ASSIGN(grant, narrowed(std::move(grant), all[i - 1], part));
    TRY(check_deadline(type, grant.deadline, now));
    if (i == 2) break;
    TRY_ASSIGN(relay, check_relay_certificate(all[i - 4], trust, now));
    TRY(check_receiver(grant.host, relay));
  }
  TRY(check_host(type, grant.host, host));
  return grant;
}

Status check_not_revoked(const LeaseChain& chain, const Revocations& revocations) {
  for (const SignedStatement& one : chain.statements) {
    if (one.type != StatementType::relay_certificate) continue;
    TRY(revocations.check_key(one.key, "work key"));
    TRY_ASSIGN(const auto certificate, decode_payload<RelayCertificate>(one));
    TRY(revocations.check_key(certificate.key, "relay's key"));
    TRY(revocations.check_tls_key(certificate.tls_key));
  }
  return {};
}

Result<protocol::Delivery> check_delivery(const SignedStatement& statement, std::string_view host_key,
                                          const std::string& project) {
  return check_said<protocol::Delivery>(statement, StatementType::delivery, host_key, project);
}

Result<protocol::Failure> check_failure(const SignedStatement& statement, std::string_view host_key,
                                        const std::string& project) {
  return check_said<protocol::Failure>(statement, StatementType::failure, host_key, project);
}

}  // namespace gleaner::crypto
