#include "server/policy/certificates.h"

#include "shared/base/figures.h"

namespace gleaner::policy {

std::optional<std::string> certificate_words(const CertificateEnd& end, Timestamp now) {
  const std::string date = utc_text(end.at);
  if (end.at <= now) return end.what + " expired on " + date + ", so that " + end.then + ": " + end.renew;
  if (end.at - now < certificate_urgent)
    return end.what + " runs out within a week, on " + date + ", and then " + end.then + ": " + end.renew;
  if (end.at - now < certificate_warning)
    return end.what + " runs out on " + date + ", and then " + end.then + ": " + end.renew;
  return std::nullopt;
}

}  // namespace gleaner::policy
