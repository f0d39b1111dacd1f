// How residues and gaps count. A gap of k residues costs open + (k - 1) extend: its first residue costs
// `open`, as parasail and EMBOSS have it (BLAST's 11/1 is 12 and 1 here). Immutable; thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/dsearch/alphabet.h"
#include "shared/base/result.h"

namespace gleaner::dsearch {

// Local (Smith-Waterman), global (Needleman-Wunsch), or global with free gaps at all four ends.
enum class Mode : std::uint8_t { local = 1, global = 2, semi_global = 3 };

inline constexpr int cost_max = 100;  // of a gap's residue; fits 8-bit lanes with room to spare

class Scheme {
 public:
  // A matrix of matrix_names(); match and mismatch are for "dna" only.
  [[nodiscard]] static Result<Scheme> create(const std::string& matrix, int match, int mismatch, int open,
                                             int extend);
  [[nodiscard]] Alphabet alphabet() const { return alphabet_; }
  [[nodiscard]] int score(int a, int b) const { return scores_[index(a, b)]; }
  // 32 bytes a row; codes beyond the alphabet's have the score padding_score against everything.
  [[nodiscard]] const std::int8_t* row(int code) const { return &scores_[index(code, 0)]; }
  [[nodiscard]] int highest() const { return highest_; }
  [[nodiscard]] int open() const { return open_; }
  [[nodiscard]] int extend() const { return extend_; }
  [[nodiscard]] int gap(std::int64_t length) const {
    return length == 0 ? 0 : open_ + static_cast<int>(length - 1) * extend_;
  }

 private:
  static std::size_t index(int a, int b) {
    return static_cast<std::size_t>(a) * codes_max + static_cast<std::size_t>(b);
  }
  Alphabet alphabet_ = Alphabet::protein;
  std::array<std::int8_t, codes_max * codes_max> scores_{};
  int highest_ = 0;
  int open_ = 12;
  int extend_ = 1;
};

inline constexpr int padding_code = codes_max - 1;
inline constexpr int padding_score = -128;

// What is known of a matrix. Gap costs are those that it is mostly used with.
struct MatrixName {
  std::string name;
  Alphabet alphabet;
  int open;
  int extend;
};
[[nodiscard]] const std::vector<MatrixName>& matrix_names();

}  // namespace gleaner::dsearch
