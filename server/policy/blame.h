// Whom a failed kernel is held against: the item, the application version, the host with that application
// (a missing library, too little memory), or the host with everything. One failure never tells; what else
// failed and succeeded does. Pure; not thread-safe.
//
// Each suspect is either sound or broken, and a broken one fails almost always. Its odds are the prior odds
// times one likelihood ratio a witness (naive Bayes), and a witness that another suspect explains as well
// counts for as much as that leaves open ("explaining away", Pearl 1988, section 2.3): with weight w its
// ratio L becomes 1 + w (L - 1) where it speaks against the suspect. The weights and the odds are computed in
// turn a few times, which settles at once where the causes are distinct.
//
//   item          witnesses: hosts that failed on it, as far as neither they nor the application are broken.
//                 Set aside at two hosts or more, one of which delivers others where any host does (a lone
//                 host: after some failures of its own).
//   host with an  witnesses: items that failed in a row, and are not broken themselves; what it delivered
//   application   before speaks for it. Held back from this application, longer each time.
//   application   witnesses: hosts that fail with it; those that deliver, and a little those that compute it
//                 without a word, speak for it. Stopped.
//   host          witnesses: applications that it fails with and others do not; one that it delivers for
//                 speaks for it. Held back from all.
//
// Anybody can enrol hosts that do nothing but fail. So what a host says against items and applications weighs
// what it has delivered (`credence`); against itself it counts in full. Where strangers alone fail, each is
// held back, and nothing is set aside or stopped.
//
// Cost of a failure: proportional to what is remembered of the problem's failed items (bounded below) and of
// the hosts that fail with the application now.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/ids.h"

namespace gleaner::policy {

// Probabilities and ratios, with their reasons. Times in seconds.
struct BlameRules {
  double item_prior = 0.01;            // of a thousand items some crash their kernel
  double pair_prior = 0.02;            // of fifty computers one lacks what an application needs
  double host_prior = 0.02;            // and as many are broken altogether
  double application_prior = 0.01;     // of one that has delivered before
  double new_application_prior = 0.2;  // of one that has not: it was never seen to work anywhere
  double failure_ratio = 50;           // a broken suspect fails 50 times as often as a sound one
  double success_ratio = 0.02;   // and succeeds a fiftieth as often: as many for as against decide nothing
  double silence_ratio = 0.2;    // most broken applications fail at once, so silence speaks for one
  double convicted = 0.9;        // items, hosts
  double stopped = 0.75;         // an application: at two of two hosts, not at two of three
  int lone_failures = 4;         // of one host on one item, or with an application that works nowhere
  int lone_failures_proven = 2;  // of one that delivers others
  double first_hold = 30, longest_hold = 6 * 3600;  // doubled with each further failure
};

// How much a host's failures weigh against items and applications, 0 to 1: one for the project's own; of a
// stranger as many as the items that were accepted from it, so that lies cost as much as they spoil.
[[nodiscard]] double credence_of(bool own, std::int64_t items_accepted, std::int64_t failures);

struct Failure {
  HostId host;
  ApplicationId application;
  ProblemId problem;
  std::int64_t item = 0;  // of the problem's present stage
  std::string message;
  bool computing =
      true;             // false: the kernel never ran (a download, a signature): no witness against the item
  double credence = 1;  // credence_of() the host, this failure counted
  // By its own word the fault of the host's surroundings (no interpreter, a full disk, no sandbox): a witness
  // against nobody else. The host is held back from the application at once, longer each time.
  bool of_host = false;
};

struct Ruling {
  enum class Kind { set_aside, give_back, hold_pair, hold_host, stop_application } kind;
  std::int64_t item = 0;  // set_aside: the one that failed; give_back: its earlier ruling was wrong
  double seconds = 0;     // hold_*
  std::string reason;
};

class Blame {
 public:
  explicit Blame(const BlameRules& rules = {}) : rules_(rules) {}

  // Rulings that follow, each once. `computing`: hosts that compute the application now.
  [[nodiscard]] std::vector<Ruling> failed(const Failure& failure, const std::set<HostId>& computing,
                                           Timestamp now);
  // The host could not verify what it was sent: that says nothing of anybody's kernels, and nobody is held
  // back for it. The host is not sent the same at once.
  [[nodiscard]] Ruling unverified(HostId host, ApplicationId application, const std::string& message,
                                  Timestamp now);
  // Something of this host's was accepted.
  void delivered(HostId host, ApplicationId application);
  // Seconds until the host may compute for the application, and why not now; nothing: now.
  struct Hold {
    double seconds = 0;
    std::string reason;
  };
  [[nodiscard]] std::optional<Hold> held(HostId host, ApplicationId application, Timestamp now) const;
  // One of the applications that the host may not compute for now.
  [[nodiscard]] std::optional<std::pair<ApplicationId, Hold>> held_from(HostId host, Timestamp now) const;
  // All that is remembered of a stage's items; its set-aside items are to be tried again or it is over.
  void forget_items(ProblemId problem);
  // The application is to be tried again (its problem was resumed): every host starts afresh with it.
  void forgive(ApplicationId application);
  void forget_host(HostId host);

  // For explanations and tests: what is believed now, 0 to 1.
  [[nodiscard]] double item_broken(ProblemId problem, std::int64_t item) const;
  [[nodiscard]] double pair_broken(HostId host, ApplicationId application) const;
  [[nodiscard]] double host_broken(HostId host) const;
  [[nodiscard]] double application_broken(ApplicationId application, int silent) const;

  // Of a problem's suspicious items, those that failed first are forgotten first.
  static constexpr std::size_t items_max = 1000;

 private:
  struct Item {
    std::map<HostId, int> failures;  // of each host that failed on it, how often
    ApplicationId application;
    bool set_aside = false;
    std::int64_t order = 0;
  };
  struct Pair {
    bool has_delivered = false;
    std::set<std::pair<ProblemId, std::int64_t>> failed;  // items in a row, since it last delivered
    int failures = 0;                                     // the same, with repeats
    double credence = 1;                                  // as of the last failure
    Timestamp held_until{};
    std::string reason;
  };
  struct Application {
    bool proven = false;          // something of its was accepted
    std::int64_t delivering = 0;  // hosts that have delivered for it and did not fail since
    std::set<HostId> failing;     // hosts that failed with it and did not deliver since
  };
  struct Host {
    Timestamp held_until{};
    std::string reason;
    int holds = 0;  // since it last delivered
  };
  using Items = std::map<std::int64_t, Item>;
  using PairKey = std::pair<HostId, ApplicationId>;
  // What is believed of a problem's items and of those that failed on them.
  struct Belief {
    std::map<std::int64_t, double> items;
    std::map<HostId, double> pairs;
    double application = 0;
  };
  // `asked`: a host whose belief is wanted though it failed on none of the items.
  [[nodiscard]] Belief settle(ProblemId problem, ApplicationId application, HostId asked = {}) const;
  [[nodiscard]] double item_odds(const Item& item, const Belief& belief) const;
  [[nodiscard]] double pair_odds(const Pair& pair, ProblemId problem,
                                 const std::map<std::int64_t, double>& items) const;
  // `known`: of some of its pairs.
  [[nodiscard]] double application_odds(ApplicationId application,
                                        const std::map<HostId, double>& known) const;
  [[nodiscard]] const Application& application_of(ApplicationId application) const;
  // How much what the host says of others than itself counts.
  [[nodiscard]] double credence(HostId host, ApplicationId application) const;
  [[nodiscard]] std::vector<Ruling> hold_alone(const Failure& failure, Timestamp now);
  void hold_pair(const Failure& failure, double seconds, Timestamp now, std::vector<Ruling>& rulings);
  void rule_on_items(const Failure& failure, const Belief& belief, std::vector<Ruling>& rulings);
  void rule_on_pair(const Failure& failure, const Belief& belief, Timestamp now,
                    std::vector<Ruling>& rulings);
  void rule_on_host(const Failure& failure, Timestamp now, std::vector<Ruling>& rulings);
  // `silent`: hosts that compute the application and have neither delivered for it nor failed with it.
  void rule_on_application(const Failure& failure, int silent, std::vector<Ruling>& rulings) const;
  [[nodiscard]] double hold_for(int times) const;

  BlameRules rules_;
  std::map<ProblemId, Items> items_;
  std::map<PairKey, Pair> pairs_;
  std::map<HostId, Host> hosts_;
  std::map<ApplicationId, Application> applications_;
  std::int64_t order_ = 0;
};

}  // namespace gleaner::policy
