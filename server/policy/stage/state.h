// The inside of Stage: the objects that each know one thing, and the events that move them. Rules read it and
// propose (proposal.h); apply() is the one place where a proposal becomes a unit. Internal to the module.
//
//   ledger/             which items are free, held, accepted, set aside
//   units.h             open and closed units, groups of those that compute the same
//   hosts/              who is on, silent, standing still; how fast
//   costs/              what an item costs, beyond its hint
//   forecast.h          when each unit ends
//   energy_filter.h     which of several idle slots should have it
//   request.cpp         a request: which rules are asked, and what becomes of their proposals
//   rule_*.cpp          the rules, as const functions; straggler*.cpp which of them there are
//   copier.h            whether a copy is worth it, for all rules
//   memory.h            what rules found and did
//   lifecycle.cpp       a unit's life: opened, cut, closed
//   reports.cpp         reports, commits, failures, leases, omission
//   relays.cpp          units of relays, and the stage of a relay
//   checks.cpp          disputes: third opinions
//   restore.cpp         from what was stored; invariants
#pragma once

#include <fmt/format.h>

#include <memory>

#include "server/policy/ledger/ledger.h"
#include "server/policy/stage/energy_filter.h"
#include "server/policy/stage/forecast.h"
#include "server/policy/stage/memory.h"
#include "server/policy/stage/proposal.h"
#include "server/policy/stage/units.h"

namespace gleaner::policy {

struct StragglerRule;

struct StageState {
  explicit StageState(StageSetup setup_in);

  StageSetup setup;
  Ledger ledger;
  HostClock clock;
  ItemCosts items;
  Units units;
  Forecast forecast;
  EnergyFilter energy;
  std::unique_ptr<SizingStrategy> sizing;
  StageMemory sizing_memory;
  double cost_variation = 0;
  const StragglerRule* rule;
  int holders_limit = 0;  // of one item, by this rule and those before it
  std::vector<Check> checks;
  CopyMemory copies;
  FailedSearches failed;
  Totals totals;
  Timestamp first_request = Timestamp::max();
  bool omission_done = false;
  double told_seconds = 0;  // a relay's: how long the stage takes, as its parent says

  // The rules for a stage that lasts as long as this one is expected to. They change with what is known of
  // the hosts' rates: whoever changes that, and goes on with them, copies them.
  [[nodiscard]] const EndgameRules& pace() const;
  [[nodiscard]] double heartbeat(const EndgameRules& rules) const {
    return ledger.free().empty() ? rules.heartbeat_endgame : rules.heartbeat;
  }
  // Seconds that all free and stalled work will take; 0: nobody's rate is known.
  [[nodiscard]] double seconds_of_rest() const;
  [[nodiscard]] Ledger::OthersOn others_on() const;
  [[nodiscard]] const KnownUnit* find(UnitId id, HostId host) const;
  [[nodiscard]] Held* find_open(UnitId id, HostId host);
  void decide(Changes& changes, Timestamp now, HostId host, UnitId unit, const char* kind, Range range,
              std::string reason) const;
  // A reason, where anybody reads it.
  template <typename... Arguments>
  [[nodiscard]] std::string because(fmt::format_string<Arguments...> text, Arguments&&... arguments) const {
    return setup.explain ? fmt::format(text, std::forward<Arguments>(arguments)...) : std::string();
  }

  // ---- request.cpp
  [[nodiscard]] Grant request(const Requester& requester, Timestamp now, Changes& changes);
  void apply(Proposal& proposal, const Requester& requester, Timestamp now, Changes& changes);

  // ---- lifecycle.cpp
  Held& open_unit(const Requester& requester, UnitKind kind, Range range, UnitId group, std::string reason,
                  Timestamp now, Changes& changes);
  Held& insert_open(Held made, Timestamp now);
  void cut_group(UnitId group, std::int64_t end, UnitId except, const std::string& reason, Timestamp now,
                 Changes& changes);
  void close(UnitId id, UnitState state, const std::string& reason, Timestamp now, Changes& changes);
  // Somebody delivered `range`: units that only hold delivered items end, others end where the rest begins.
  void trim_others(UnitId by, HostId host, Range range, Timestamp now, Changes& changes);

  // ---- events.cpp
  void refresh(Timestamp now, Changes& changes);  // who fell silent since
  [[nodiscard]] CommitOutcome judge(const KnownUnit* known, UnitId unit, Range range) const;
  CommitOutcome commit(const CommitEvent& event, Timestamp now, Changes& changes);
  protocol::UnitOrder report(HostId host, const protocol::UnitReport& report, Timestamp now,
                             Changes& changes);
  protocol::UnitOrder report(HostId host, const RelayReport& report, Timestamp now, Changes& changes);
  bool save(const SaveEvent& event);
  void note_failure(HostId host, std::int64_t item, GiveBack why, const std::string& reason, Timestamp now,
                    Changes& changes);
  void omit(Timestamp now, Changes& changes);
  void expire(Timestamp now, Changes& changes);

  // ---- relays.cpp
  // The first item from `from` on that nobody has delivered; the end of the unit if all are.
  [[nodiscard]] std::int64_t first_lacking(const Unit& unit, std::int64_t from) const;
  void take_offer(Host& relay, const RelayOffer& offer);
  void take_away(Range range, const std::string& reason, Timestamp now, Changes& changes);
  // R5: the relay speaks, and nothing comes of what it leases?
  [[nodiscard]] bool withholds_lease(const Held& held, const EndgameRules& rules, Timestamp now) const;

  // ---- checks.cpp
  void drop_checks(Range range, Timestamp now, Changes& changes);
  void check_closed(UnitId unit, bool delivered, HostId host);

  // ---- restore.cpp
  void restore(const RestoreEvent& stored, Timestamp now);
  void check_invariants() const;
  void check_changed(const Changes& changes) const;
  void check_unit(const Held& held) const;

 private:
  void heard(Held& held, Timestamp now, const EndgameRules& rules);
  void stall(Held& held, Timestamp since);
  // Frees the unit's items before `to`: its host has delivered and deleted them, and a store restored from a
  // backup has lost them.
  void pass_over(KnownUnit& known, bool open, std::int64_t to, Timestamp now, Changes& changes);
  void measure(Held& held, const EndgameRules& rules, bool ended, Changes& changes);
  // R5: says that it goes on, and delivers nothing?
  [[nodiscard]] bool withholds(Held& held, const EndgameRules& rules, Timestamp now) const;
  void cut(Held& held, std::int64_t end, const std::string& reason, Timestamp now, Changes& changes);
  [[nodiscard]] static double spent_on(const Held& held, bool failed, Timestamp now);
  [[nodiscard]] double lost_of_item(const Held& held, std::int64_t item, double spent, UnitState state) const;

  Timestamp refreshed_at_ = Timestamp::min();
  mutable EndgameRules paced_rules_;  // of pace(), for that length
  mutable double paced_for_ = -1;
};

void tidy(Changes& changes);  // sorted, each once

}  // namespace gleaner::policy
