// What each host's results have proved to be worth, with each application version: a Beta posterior of the
// probability that its next item is right, whose evidence fades. Only items that somebody else computed as
// well are evidence. Pure; not thread-safe.
//
//   reliability = (right + prior_right) / (right + wrong + prior_right + prior_wrong)
//
// `right` and `wrong` are halved every `half_life`. A wrong item also forgets what was right before (a host
// that built up trust and then cheats starts again from nothing) and keeps the host from the application,
// longer each time.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/range_set.h"

namespace gleaner::policy {

// Times in seconds. What each number is worth stands in TRUST.md.
struct TrustRules {
  double prior_right = 9, prior_wrong = 1;  // of strangers one in ten is taken for a liar
  double half_life = 30 * 86400.0;
  double known_after = 20;                              // verified items until a host is no newcomer
  double audit_share = 0.01;                            // of the items of those who are known
  double odds = 100;                                    // that an answer is right, asked of a verdict
  double coincidence = 0.01;                            // that two wrong answers are the same one
  double own = 0.9999;                                  // reliability of the project's own hosts
  double first_hold = 600, longest_hold = 7 * 86400.0;  // doubled each time a host is found wrong
};

// What is stored of a host with an application.
struct Standing {
  double right = 0, wrong = 0;  // as of `at`
  Timestamp at{};
  Timestamp held_until{};

  friend bool operator==(const Standing&, const Standing&) = default;
};

class Reputation {
 public:
  explicit Reputation(const TrustRules& rules = {}) : rules_(rules) {}

  [[nodiscard]] const TrustRules& rules() const { return rules_; }

  // The project's own hosts are believed until one is found wrong: then it is like any other.
  void set_own(HostId host, bool own);
  [[nodiscard]] bool is_own(HostId host) const { return own_.contains(host.value); }

  void restore(HostId host, ApplicationId application, const Standing& standing);
  void forget_host(HostId host);

  // `items` of the host's were computed by another host, too, and are right. The new standing, to be stored.
  const Standing& verified(HostId host, ApplicationId application, double items, Timestamp now);
  // Some were wrong.
  const Standing& found_wrong(HostId host, ApplicationId application, Timestamp now);

  [[nodiscard]] Standing standing(HostId host, ApplicationId application, Timestamp now) const;
  // So much of it was verified, or it is one of the project's own, that it is no newcomer any more.
  [[nodiscard]] bool is_known(HostId host, ApplicationId application, Timestamp now) const;
  // The same with any application.
  [[nodiscard]] bool is_known(HostId host, Timestamp now) const;
  [[nodiscard]] double reliability(HostId host, ApplicationId application, Timestamp now) const;
  // Seconds until it may compute for the application again; nothing: now.
  [[nodiscard]] std::optional<double> held(HostId host, ApplicationId application, Timestamp now) const;

 private:
  [[nodiscard]] Standing faded(const Standing& standing, Timestamp now) const;

  TrustRules rules_;
  RangeSet own_;  // their numbers: mostly one after the other
  std::map<std::pair<HostId, ApplicationId>, Standing> standings_;
};

}  // namespace gleaner::policy
