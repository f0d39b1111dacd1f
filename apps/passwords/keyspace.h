// The candidates in order: by length, then as numbers whose first character counts fastest ("a", "b", …,
// "aa", "ba", …). Value type; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/range_set.h"
#include "shared/base/result.h"

namespace gleaner::passwords {

inline constexpr int length_max = 20;
inline constexpr std::int64_t keyspace_max = std::int64_t{1} << 62;

// "a-z0-9_" as tr(1) reads it: a hyphen between two characters means all from one to the other. Printable
// ASCII, sorted, each once.
[[nodiscard]] Result<std::string> expand_alphabet(std::string_view text);

class Keyspace {
 public:
  Keyspace() = default;
  // invalid if it has more than keyspace_max candidates. REQUIRES: 0 <= shortest <= longest <= length_max;
  // the alphabet as expand_alphabet() gives it.
  [[nodiscard]] static Result<Keyspace> create(std::string alphabet, int shortest, int longest);

  [[nodiscard]] std::int64_t size() const { return starts_.empty() ? 0 : starts_.back(); }
  // REQUIRES: 0 <= index < size().
  [[nodiscard]] std::string plaintext(std::int64_t index) const;
  // -1 if it is not a candidate.
  [[nodiscard]] std::int64_t index_of(std::string_view plaintext) const;

  [[nodiscard]] const std::string& alphabet() const { return alphabet_; }
  [[nodiscard]] int shortest() const { return shortest_; }
  [[nodiscard]] int longest() const { return shortest_ + static_cast<int>(starts_.size()) - 2; }
  // The candidates of one length.
  [[nodiscard]] Range of_length(int length) const;

 private:
  std::string alphabet_;
  int shortest_ = 0;
  std::vector<std::int64_t> starts_;  // of each length, and the end
};

}  // namespace gleaner::passwords
