// What became of every result that was sent, for comparison with the server's store: a text file with a line
// "gleaner-ledger 1 PROJECT" and then, for each result,
//
//   accepted | duplicate | refused | unanswered  UNIT HOST BEGIN END DIGEST
//
// in the order in which the answers came. `unanswered`: it was sent, but no acknowledgement ever came; the
// store may have it or not. Results that were sent again after they were acknowledged are not repeated. One
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "shared/base/ids.h"
#include "shared/base/range_set.h"
#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::loadgen {

enum class Outcome : int { accepted = 0, duplicate = 1, refused = 2, unanswered = 3 };

class Ledger {
 public:
  // Counts only.
  Ledger() = default;
  // Begins a file anew. Errors: io.
  [[nodiscard]] static Result<Ledger> create(const io::Path& path, const std::string& project);

  void add(Outcome outcome, UnitId unit, HostId host, Range range, std::string_view digest);
  [[nodiscard]] std::int64_t count(Outcome outcome) const {
    return counts_[static_cast<std::size_t>(outcome)];
  }
  // All lines are in the file. Errors: io.
  [[nodiscard]] Status close();

 private:
  io::Path path_;
  std::ofstream file_;
  std::array<std::int64_t, 4> counts_{};
};

}  // namespace gleaner::loadgen
