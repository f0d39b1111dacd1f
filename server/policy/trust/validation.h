// How a problem's results are validated. Value types; pure.
//
//   none        nothing is computed twice for it
//   checks      the application's manager tells right from wrong by itself; nothing is computed twice for it
//   spot:P      each item is computed again with probability P (ringers drawn by the server; Golle and
//               Mironov 2001) by another host
//   quorum:N    each item counts when N hosts agree on it (BOINC's replication)
//   adaptive    as much as each host's record asks for (audits.h; after Sarmenta 2001, "credibility-based
//               fault tolerance", and Anderson and Reed 2009, adaptive replication)
//
// Whatever the policy, results that overlap because of splits and copies are compared: it costs nothing.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace gleaner::policy {

struct Validation {
  enum class Kind { none, checks, spot, quorum, adaptive };

  Kind kind = Kind::adaptive;
  double spot = 0;  // probability, above 0 and at most 1
  int quorum = 1;   // hosts that have to agree; 1 except for quorum:N

  friend bool operator==(const Validation&, const Validation&) = default;
};

inline constexpr int quorum_max = 5;

// "adaptive", "spot:0.05", "quorum:3" ... invalid: says what is possible.
[[nodiscard]] Result<Validation> parse_validation(std::string_view text);
[[nodiscard]] std::string text_of(const Validation& validation);

}  // namespace gleaner::policy
