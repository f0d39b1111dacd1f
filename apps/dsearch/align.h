// One alignment residue by residue, in plain whole numbers: the same on every machine. Memory is about
// 6 * query * sqrt(window) bytes: columns are kept at intervals, and the ways between them found again from
// the last interval to the first. Of equally good alignments it is the one whose end is first in the record,
// then in the query, whose beginning is last, and which prefers pairs to gaps from its end on. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/dsearch/engine.h"
#include "apps/dsearch/scheme.h"
#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::dsearch {

struct Step {
  enum class Kind : std::uint8_t { same = 0, different = 1, insertion = 2, deletion = 3 };  // stored
  Kind kind = Kind::same;  // an insertion is a residue of the query only, a deletion one of the record
  std::uint32_t count = 0;
  friend bool operator==(const Step&, const Step&) = default;
};

struct Alignment {
  std::int32_t score = 0;
  std::uint32_t query_begin = 0, query_end = 0;  // half-open
  std::uint32_t record_begin = 0, record_end = 0;
  std::vector<Step> steps;

  [[nodiscard]] std::int64_t count(Step::Kind kind) const;
  [[nodiscard]] std::int64_t columns() const;
  [[nodiscard]] std::string cigar() const;  // 12=1X3I…
  friend bool operator==(const Alignment&, const Alignment&) = default;
};

// Told which part is done (0 to 1); false: give up.
using GoingOn = std::function<bool(double part)>;

// `ends`: the score, and of a local alignment the ends, as the scorer gives them. Errors: invalid (no
// alignment has that score), unavailable (it was given up). REQUIRES: neither sequence is empty.
[[nodiscard]] Result<Alignment> align(Mode mode, const Scheme& scheme, std::string_view query,
                                      std::string_view record, const Ends& ends, const GoingOn& going_on);

// What the steps are worth; invalid if they are no alignment of these sequences in that mode. Costs the
// alignment's length.
[[nodiscard]] Result<std::int32_t> rescore(Mode mode, const Scheme& scheme, std::string_view query,
                                           std::string_view record, const Alignment& alignment);

// An item of the second stage: its number (8), score (4), begins and ends (4 each), steps (4), then each step
// as count * 16 + kind (4).
[[nodiscard]] Bytes encode(std::int64_t item, const Alignment& alignment);
[[nodiscard]] Result<Alignment> decode_alignment(std::int64_t item, std::string_view bytes);

}  // namespace gleaner::dsearch
