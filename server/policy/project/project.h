// The project as one object: the scheduler (dispatch.h), which results are believed (trust/TRUST.md), and
// what failed kernels are held against (blame.h). The live server, a relay and the simulator drive this same
// object: apply(event, now) says what changed, and the caller stores, tells and does that.
//
// Its state is what the store has, and what was learned since the start: the caller puts problems, hosts and
// standings back before anything happens. Pure: no I/O, no clock, no randomness of its own. Not thread-safe.
// Cost: of a delivery O(log n); of a verdict or a failure O(hosts here, at most 12) and the units concerned;
// of a host that is found wrong O(problems and their open units).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/policy/dispatch/dispatch.h"
#include "server/policy/project/events.h"
#include "server/policy/trust/audits.h"
#include "server/policy/trust/parties.h"
#include "server/policy/trust/witness.h"
#include "shared/base/id_table.h"

namespace gleaner::policy {

struct ProblemFacts {
  ApplicationId application;
  Validation validation;
  bool running = true;  // not paused, planning or combining
};

struct HostFacts {
  enum class Place {
    here,         // asks for work itself
    under_relay,  // its relay does
    gone          // left, or was revoked
  };
  Place place = Place::here;
  bool own = false;                      // one of the project's
  Timestamp heard = {};                  // last
  std::string owner = {}, network = {};  // Parties::add()
};

// Over what a failure is ruled.
enum class Rule {
  everything,
  hosts  // a relay: items and applications are its parent's to judge
};

class Project {
 public:
  explicit Project(const PlanRules& rules, LogSink log = {}, Rule rule = Rule::everything);

  [[nodiscard]] Dispatch& dispatch() { return *dispatch_; }
  [[nodiscard]] const Dispatch& dispatch() const { return *dispatch_; }
  // The scheduler forgets all, as in a restart; what is known of hosts and their results stays.
  void restart(const PlanRules& rules, LogSink log);

  // ---- Problems that are not over
  void put_problem(ProblemId problem, const ProblemFacts& facts);
  void drop_problem(ProblemId problem) { problems_.erase(problem); }
  // A stage of it begins, or is read back: nothing of it was audited or failed. REQUIRES: put_problem().
  void begin_stage(ProblemId problem);
  // Its items are numbered anew, or they and its application are to be tried again.
  void forget_items(ProblemId problem) { blame_.forget_items(problem); }
  void forgive(ApplicationId application) { blame_.forgive(application); }
  // Some of the stage's items are computed twice for their own sake.
  [[nodiscard]] bool audits(ProblemId problem) const;
  // Accepted results are gone.
  void lost(ProblemId problem, Range range);

  // ---- Hosts
  void put_host(HostId host, const HostFacts& facts);  // joined, changed, left
  void heard(HostId host, Timestamp now);
  void restore(HostId host, ApplicationId application, const Standing& standing);
  // By the store something of it was accepted.
  void has_delivered(HostId host, ApplicationId application) { blame_.delivered(host, application); }
  void forget_failures(HostId host) { blame_.forget_host(host); }
  // It is another one from now on.
  void forget_standings(HostId host) { reputation_.forget_host(host); }

  // ---- Events
  [[nodiscard]] ProjectChanges apply(const DeliveredEvent& event, Timestamp now);
  [[nodiscard]] ProjectChanges apply(const ComparedEvent& event, Timestamp now);
  // Nothing changed: the stage may be combined.
  [[nodiscard]] ProjectChanges apply(const CompletedEvent& event, Timestamp now);
  [[nodiscard]] ProjectChanges apply(const AuditedEvent& event, Timestamp now);
  [[nodiscard]] ProjectChanges apply(const FailedEvent& event, Timestamp now);

  // ---- What results of a problem are judged by. REQUIRES: put_problem().
  [[nodiscard]] VerdictTerms verdict_terms(ProblemId problem, Timestamp now) const;
  [[nodiscard]] Witnesses witnesses(ProblemId problem, Timestamp now) const;
  [[nodiscard]] const Validation& validation(ProblemId problem) const;
  // Ascending: who could be asked for an opinion.
  [[nodiscard]] std::vector<HostId> hosts_here(Timestamp now) const;
  // Neither its failures nor its results keep the host from computing for the application.
  [[nodiscard]] bool is_held(HostId host, ApplicationId application, Timestamp now) const;

  [[nodiscard]] const Reputation& reputation() const { return reputation_; }
  [[nodiscard]] const Blame& blame() const { return blame_; }

 private:
  struct Problem {
    ProblemFacts facts;
    std::optional<Audits> audits;  // of its stage; absent: nothing is audited here
  };
  struct Presence {
    HostFacts::Place place = HostFacts::Place::gone;
    Timestamp heard;
  };

  [[nodiscard]] bool is_here(const Presence& host, Timestamp now) const;
  // trust.cpp
  [[nodiscard]] bool own_host_here(Timestamp now) const;
  [[nodiscard]] Unasked unasked(ProblemId problem, const std::vector<HostId>& asked, Timestamp now) const;
  void dispute(ProblemId problem, Range range, const std::vector<HostId>& asked, Timestamp now,
               ProjectChanges& changes);
  void ask_for(ProblemId problem, const std::vector<Audit>& audits, Timestamp now, ProjectChanges& changes);
  void settle(const ComparedEvent& event, Timestamp now, ProjectChanges& changes);
  void learn(const ComparedEvent& event, Timestamp now, ProjectChanges& changes);
  void distrust(HostId host, ApplicationId application, Timestamp now, ProjectChanges& changes);
  // failures.cpp
  [[nodiscard]] std::set<HostId> hosts_computing(ApplicationId application) const;
  void count(const FailedEvent& event, std::int64_t item, Timestamp now, ProjectChanges& changes);

  Rule rule_;
  std::unique_ptr<Dispatch> dispatch_;
  std::map<ProblemId, Problem> problems_;
  IdTable<HostId, Presence> hosts_;
  std::set<HostId> own_;  // that were the project's own when put_host() said so last
  Blame blame_;
  Reputation reputation_;
  Parties parties_;
};

}  // namespace gleaner::policy
