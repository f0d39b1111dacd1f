#include "server/service/core/certified.h"

#include <algorithm>
#include <set>

#include "server/policy/certificates.h"
#include "server/service/core/revocations.h"

namespace gleaner::service {
namespace {

policy::CertificateEnd work_end(Timestamp end) {
  return {"the work key's certificate", end, "hosts get no work",
          "certify it again with `gleaner-admin keys work` and the offline root key, and restart the server"};
}

policy::CertificateEnd signer_end(const Application& application) {
  return {"the certificate of " + application.signer_name + ", who signed " + application.row.name + "@" +
              application.row.version + ",",
          application.signer_expires, "hosts get no work of that",
          "certify the signer again with `gleaner-admin keys signer`, and add the application signed anew "
          "under another version"};
}

Status check_end(const policy::CertificateEnd& end, Timestamp now) {
  if (end.at > now) return {};
  return Error{ErrorKind::untrusted, policy::certificate_words(end, now).value_or(end.what + " expired")};
}

}  // namespace

Status check_work_certificate(const Settings& settings, Timestamp now) {
  return check_end(work_end(settings.work_certificate_expires), now);
}

Status check_signer(const Application& application, Timestamp now) {
  return check_end(signer_end(application), now);
}

Status check_startable(const Transaction& tx, const Application& application) {
  TRY(check_not_revoked(tx.model, application));
  TRY(check_work_certificate(tx.settings, tx.now));
  return check_signer(application, tx.now);
}

Timestamp certified_until(const Transaction& tx, const Application& application) {
  return std::min(tx.settings.work_certificate_expires, application.signer_expires);
}

void add_signer_warnings(const Transaction& tx, std::vector<std::string>& warnings) {
  if (tx.settings.relay.valid()) return;  // the project's to see to
  std::set<ApplicationId> seen;
  for (const auto& [id, problem] : tx.model.problems) {
    if (over(problem.row.state) || !seen.insert(problem.row.application).second) continue;
    const Application& application = tx.model.applications.at(problem.row.application);
    if (auto words = policy::certificate_words(signer_end(application), tx.now); words)
      warnings.push_back(std::move(*words));
  }
}

std::optional<std::string> work_certificate_words(Timestamp end, Timestamp now) {
  return policy::certificate_words(work_end(end), now);
}

}  // namespace gleaner::service
