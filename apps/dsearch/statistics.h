// How surprising a local score is (Karlin and Altschul 1990): of chance alone one expects
//   E = K m N exp(-lambda S)
// records with score S or more, m and N being the residues of query and database; bits are
// (lambda S - ln K) / ln 2. Lambda and K are those published for the matrix and gap costs, or fitted to the
// scores of this very search. Pure, and the same numbers everywhere (apps/kit/portable_math.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "apps/dsearch/hits.h"
#include "apps/dsearch/settings.h"

namespace gleaner::dsearch {

// The database by class of length (length_class()).
struct LengthClasses {
  std::array<std::int64_t, 33> records{};
  std::array<std::int64_t, 33> residues{};
};

struct Statistics {
  double lambda = 0;
  double k = 0;
  bool fitted = false;

  [[nodiscard]] double bits(std::int32_t score) const;
  [[nodiscard]] double expected(std::int32_t score, std::int64_t query, std::int64_t database) const;
};

// Gapped parameters as NCBI BLAST publishes them (Altschul et al. 1997, 2001); nothing for other costs.
[[nodiscard]] std::optional<Statistics> published(const std::string& matrix, int open, int extend);

// Maximum likelihood (Lawless 1982, for one extreme-value law whose place depends on the record's length),
// leaving out what is too good for chance and looking again until nothing changes. Nothing below 100 records,
// or if the scores follow no such law.
[[nodiscard]] std::optional<Statistics> fit(const Histogram& histogram, const LengthClasses& classes,
                                            std::int64_t query);

// By the settings; automatic: fitted from 1000 records on, else published, else none.
[[nodiscard]] std::optional<Statistics> statistics_of(const Settings& settings, const Histogram& histogram,
                                                      const LengthClasses& classes, std::int64_t query);

}  // namespace gleaner::dsearch
