// Which items of a stage another host computes again, and what is still unverified of whom.
//
// Every item that somebody else computed as well (an audit, a split, a copy) and that a verdict found right
// is verified. Under `adaptive`, of what a host delivers is audited:
//   A1  each item with probability `audit_share`, whoever delivers it;
//   A2  of a newcomer (fewer than `known_after` verified items with the application) one item of each
//       delivery at least, so that it is known soon or found out soon;
//   A3  before the stage is combined, of each host: something of its last delivery, which finds whoever began
//       to cheat and did not stop, and enough that it is no newcomer any more, or all that it delivered.
// A host that is found wrong loses the benefit of the doubt: all that it delivered and that is not verified
// is computed again. The project's own hosts are not audited, only compared where their work overlaps.
// Under `spot:P`, A1 with P and nothing else; under `quorum:N`, everything.
//
// Nobody outside can tell which items are drawn: the caller seeds `draw` from a secret and the delivery, so
// that a restart draws the same ones again.
//
// Cost: O(log n) a delivery or verdict and the ranges touched. Pure; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "server/policy/trust/reputation.h"
#include "server/policy/trust/validation.h"
#include "shared/base/random.h"
#include "shared/base/range_set.h"

namespace gleaner::policy {

// Items that another host is to compute, and whose result is to be compared with theirs.
struct Audit {
  Range range;
  HostId host;

  friend bool operator==(const Audit&, const Audit&) = default;
};

class Audits {
 public:
  Audits(ApplicationId application, const Validation& validation)
      : application_(application), validation_(validation) {}

  // False: nothing of the stage is ever computed again for its own sake.
  [[nodiscard]] bool wanted() const {
    return validation_.kind != Validation::Kind::none && validation_.kind != Validation::Kind::checks;
  }
  // The first result of `range` was accepted, from `host`. What is to be audited of it.
  [[nodiscard]] std::vector<Audit> accepted(HostId host, Range range, const Reputation& reputation,
                                            Random& draw, Timestamp now);
  // A verdict says what is right of `range`, and that is what is accepted now: it needs no audit any more.
  void verified(Range range);
  // The items are free again.
  void reopened(Range range);
  // What was accepted from a host that was found wrong and is not verified. It is for the caller to have it
  // computed again, and to say so: reopened().
  [[nodiscard]] std::vector<Range> doubtful(HostId host) const;
  // Is some of it being audited?
  [[nodiscard]] bool is_pending(Range range) const;
  // A3, when nothing else is left to compute.
  [[nodiscard]] std::vector<Audit> closing(const Reputation& reputation, Random& draw, Timestamp now);

 private:
  struct Deliveries {
    RangeSet unverified;  // accepted, and nobody else's result was compared
    RangeSet pending;     // of these, being audited
    Range last;
    bool last_audited = false;  // something of the last delivery is pending or verified
  };
  // Verified items of the host's that are known of or on their way.
  [[nodiscard]] double samples(HostId host, const Deliveries& of, const Reputation& reputation,
                               Timestamp now) const;
  static void ask(HostId host, Deliveries& of, Range items, std::vector<Audit>& audits);
  static std::int64_t pick(const RangeSet& items, Random& draw);
  enum class Why { verified, reopened };
  void remove(Range range, Why why);

  ApplicationId application_;
  Validation validation_;
  std::map<HostId, Deliveries> deliveries_;
  std::map<std::int64_t, std::pair<std::int64_t, HostId>> unverified_;  // begin -> (end, host)
};

}  // namespace gleaner::policy
