// What an administrator is told of a certificate that ends: weeks before, in the last week, and afterwards.
// Pure.
#pragma once

#include <optional>
#include <string>

#include "shared/base/clock.h"

namespace gleaner::policy {

inline constexpr Duration certificate_warning = std::chrono::hours{24 * 30};
inline constexpr Duration certificate_urgent = std::chrono::hours{24 * 7};

struct CertificateEnd {
  std::string what;   // "the work key's certificate"
  Timestamp at;       // its end
  std::string then;   // what happens from then on
  std::string renew;  // what to do
};

// Nothing: it holds for longer than anybody need hear of.
[[nodiscard]] std::optional<std::string> certificate_words(const CertificateEnd& end, Timestamp now);

}  // namespace gleaner::policy
