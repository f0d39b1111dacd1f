// Whether hosts would take what is granted now: the work key's certificate, and that of whoever signed the
// application, must hold. What they would refuse is not granted. Operations of the writer.
#pragma once

#include "server/service/core/transaction.h"

namespace gleaner::service {

// untrusted: the certificate has expired; what to do. A relay grants on what its parent granted.
[[nodiscard]] Status check_work_certificate(const Settings& settings, Timestamp now);
// untrusted: the application's signer's certificate has expired.
[[nodiscard]] Status check_signer(const Application& application, Timestamp now);
// Why no problem of the application can begin or go on now: one of the above, or it is revoked.
[[nodiscard]] Status check_startable(const Transaction& tx, const Application& application);
// A grant that is made now holds until then at the latest, as far as certificates go.
[[nodiscard]] Timestamp certified_until(const Transaction& tx, const Application& application);
// What an administrator is to do about signers of problems that are not over.
void add_signer_warnings(const Transaction& tx, std::vector<std::string>& warnings);
// The words for the work key's certificate; nothing: it holds for long.
[[nodiscard]] std::optional<std::string> work_certificate_words(Timestamp end, Timestamp now);

}  // namespace gleaner::service
