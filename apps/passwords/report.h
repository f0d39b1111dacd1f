// What the audit says, from what was found so far: report.txt, found.tsv and found.svg. Pure functions of the
// accounts, the settings and the hits; the same bytes for any order and division of the work.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/passwords/accounts.h"
#include "apps/passwords/search.h"
#include "apps/passwords/settings.h"

namespace gleaner::passwords {

struct Progress {
  std::int64_t tested = 0;
  std::map<std::string, Hit> first;  // by digest: its hit of the lowest position
};

[[nodiscard]] std::string text_report(const Settings& settings, const std::vector<Account>& accounts,
                                      const Progress& progress);
// An account a line: name, digest, found or not, guesses it took, bits; the plaintext only if `reveal` is
// set.
[[nodiscard]] std::string table_report(const Settings& settings, const std::vector<Account>& accounts,
                                       const Progress& progress);
// The part of the accounts that is found against the guesses, on a logarithmic axis.
[[nodiscard]] std::string curve_report(const Settings& settings, const std::vector<Account>& accounts,
                                       const Progress& progress);

}  // namespace gleaner::passwords
