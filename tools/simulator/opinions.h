// What the hosts of a simulated grid delivered, where some deliver wrong results: opinions on the same items
// are judged as the live server judges them (policy/trust/verdict.h). A wrong result agrees with no other.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "server/policy/trust/verdict.h"
#include "shared/base/range_set.h"

namespace gleaner::simulator {

class Opinions {
 public:
  struct Finding {
    Range range;
    std::vector<policy::Opinion> opinions;
    policy::Verdict verdict;
  };
  using Witness = std::function<policy::Opinion(HostId host)>;

  // `answer`: 0 is right, anything else a wrong one of its own. Ranges that nobody had delivered before are
  // accepted.
  void deliver(Range range, HostId host, std::int64_t answer);
  // What is to be said of the first part of `range` on which there are several opinions and which was not
  // decided before; nothing: there is none.
  [[nodiscard]] std::optional<Finding> review(Range range, const policy::VerdictTerms& terms,
                                              const Witness& witness);
  // The items are free again.
  void forget(Range range);
  // Items whose accepted result is wrong.
  [[nodiscard]] std::int64_t wrong_items() const;

 private:
  struct Piece {
    std::int64_t end = 0;
    std::int64_t accepted = 0;  // answer
    bool settled = false;
    std::vector<std::pair<HostId, std::int64_t>> given;
  };
  void cut_at(std::int64_t item);
  void cut(Range range);
  std::map<std::int64_t, Piece> pieces_;  // by their beginning
};

}  // namespace gleaner::simulator
