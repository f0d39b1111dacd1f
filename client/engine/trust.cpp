#include "client/engine/trust.h"

#include "shared/base/limits.h"
#include "shared/crypto/keys.h"
#include "shared/crypto/periods.h"
#include "shared/crypto/relay_chain.h"
#include "shared/protocol/codec.h"

namespace gleaner::engine {
namespace {

template <class Certificate>
bool begins_later(const protocol::SignedStatement& statement, Timestamp now) {
  const auto certificate = protocol::decode<Certificate>(statement.payload);
  return certificate.ok() && now + crypto::clock_skew_forgiven < certificate->not_before;
}

// Names become file names in the problem's directory.
bool is_file_name(const std::string& name) {
  if (name.empty() || name == "." || name == ".." || name.size() > limits::file_name_length_max) return false;
  for (const char c : name)
    if (c == '/' || c == '\0') return false;
  return true;
}

Status check_contents(const protocol::Grant& grant) {
  const auto refuse = [](const std::string& what) { return Error{ErrorKind::untrusted, what}; };
  if (!grant.unit.valid() || !grant.problem.valid()) return refuse("the grant names no unit or no problem");
  if (grant.range.begin < 0 || grant.range.empty() || grant.range.end > limits::items_max)
    return refuse("the grant's range of items is empty or out of bounds");
  if (crypto::sha256_hex(grant.parameters) != grant.parameters_digest)
    return refuse("the parameters do not have the digest that the grant names");
  for (const protocol::Input& input : grant.inputs)
    if (!is_file_name(input.name)) return refuse("an input's name is not a plain file name");
  return {};
}

}  // namespace

Status Trust::accept_project(const protocol::SignedStatement& statement, Timestamp now) {
  project_.reset();
  if (auto told = crypto::revocations_in(statement, root_fingerprint_);
      told.ok() && told->number() > revocations_.number())
    revocations_ = std::move(*told);
  TRY_ASSIGN(crypto::ProjectTrust project,
             crypto::check_project(statement, root_fingerprint_, now, revocations_));
  project_ = std::move(project);
  return {};
}

bool Trust::hear_of_revocations(std::int64_t number) {
  if (number < revocations_.number()) project_.reset();
  return number > revocations_.number();
}

const crypto::ProjectTrust& Trust::project() const {
  CHECK_TRUE(project_.has_value());
  return *project_;
}

bool Trust::knows_work_key(std::string_view key) const {
  const crypto::ProjectTrust& known = project();
  return key == known.work_key || crypto::former_work_certificate(known, key) != nullptr;
}

bool Trust::work_certificate_expired(Timestamp now) const {
  const auto certificate =
      protocol::decode<protocol::KeyCertificate>(project().document.work_certificate.payload);
  return certificate.ok() && certificate->not_after < now;
}

bool Trust::clock_is_early(const Granted& granted, Timestamp now) const {
  if (begins_later<protocol::KeyCertificate>(project().document.work_certificate, now)) return true;
  if (granted.lease)
    for (const protocol::SignedStatement& one : granted.lease->statements)
      if (one.type == protocol::StatementType::relay_certificate &&
          begins_later<protocol::RelayCertificate>(one, now))
        return true;
  const auto grant = read_granted(granted);
  return grant.ok() && begins_later<protocol::KeyCertificate>(grant->signer, now);
}

Result<TrustedGrant> Trust::check_grant(const Granted& granted, Timestamp now) const {
  if (!project_) return Error{ErrorKind::unavailable, "the project's document has not been fetched yet"};
  TrustedGrant trusted;
  const auto& [statement, lease] = granted;
  if (statement.type == protocol::StatementType::relay_grant) {
    TRY_ASSIGN(trusted.grant, crypto::check_relayed_grant(statement, lease.value_or(protocol::LeaseChain{}),
                                                          *project_, host_, now));
  } else {
    TRY_ASSIGN(trusted.grant, crypto::check_grant(statement, *project_, host_, now));
  }
  TRY(check_contents(trusted.grant));
  TRY_ASSIGN(trusted.application,
             crypto::check_application(trusted.grant.application, trusted.grant.signer, project_->root_key,
                                       project_->project, now, revocations_));
  trusted.work_key = project_->work_key;
  return trusted;
}

Status Trust::check_not_revoked(const Granted& granted, const protocol::Grant& grant) const {
  TRY(revocations_.check_key(granted.of_project().key, "work key"));
  if (granted.lease) TRY(crypto::check_not_revoked(*granted.lease, revocations_));
  return revocations_.check_signed_application(grant.application);
}

Result<protocol::Acknowledgement> Trust::check_acknowledgement(
    const protocol::SignedStatement& statement) const {
  if (!project_) return Error{ErrorKind::unavailable, "the project's document has not been fetched yet"};
  return crypto::check_acknowledgement(statement, *project_, host_);
}

}  // namespace gleaner::engine
