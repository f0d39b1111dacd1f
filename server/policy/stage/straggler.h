// Straggler rules: what an idle slot gets when nothing is free, as values. One rule a file
// (straggler_<name>.cpp), a place in the table below, an enumerator in setup.h, a test. The table is the
// source of all lists of names that people see. What a rule has to remember about a stage is in StageState,
// not in the rule. Internal to the module.
#pragma once

#include <array>
#include <vector>

#include "server/policy/stage/state.h"

namespace gleaner::policy {

struct StragglerRule {
  StragglerInfo info;
  // What a slot that gets nothing is told; null: that no split or copy would end anything sooner.
  const char* nothing = "nothing is free";
  // Asked in this order when nothing is free.
  std::vector<Rule> idle = {};
  // Asked before the free pool, while there is free work.
  std::vector<Rule> early = {};
  // Comparison rules: the units to copy, best first; since that looks at all units, it is made anew only
  // every `park` seconds. Why they are copied; and why a host may not have a copy (null: it may).
  CopyPlan (*plan)(const StageState& stage, Timestamp now) = nullptr;
  const char* why = nullptr;
  const char* (*barred)(const StageState& stage, const Requester& requester) = nullptr;
  // A unit is late after this many times its estimate, and then goes to the next host that asks, before free
  // items; 0: never, unless the rules say so.
  double lease_factor = 0;
  bool unlimited = false;     // any number of holders of one item
  bool omits = false;         // hosts that returned nothing before 70 % was done get no more
  bool saves_energy = false;  // idle slots that draw less are preferred
  bool gives_up = false;      // once many slots in a row found nothing, no slower ones search

  [[nodiscard]] int holders_max(const EndgameRules& rules) const;
};

[[nodiscard]] const StragglerRule& rule_of(Straggler rule);

[[nodiscard]] const StragglerRule& split_straggler();
[[nodiscard]] const StragglerRule& duplicate_once_straggler();
[[nodiscard]] const StragglerRule& none_straggler();
[[nodiscard]] const StragglerRule& deadline_straggler();
[[nodiscard]] const StragglerRule& hadoop_straggler();
[[nodiscard]] const StragglerRule& late_straggler();
[[nodiscard]] const StragglerRule& spark_straggler();
[[nodiscard]] const StragglerRule& wqr_straggler();
[[nodiscard]] const StragglerRule& rdlb_straggler();
// The table: every rule, in the order in which people should read about them.
inline constexpr std::array stragglers{
    split_straggler, duplicate_once_straggler, none_straggler, deadline_straggler, hadoop_straggler,
    late_straggler,  spark_straggler,          wqr_straggler,  rdlb_straggler};

// ---- What several rules share

// How the comparison rules see an outstanding unit that has no copy yet.
struct Outstanding {
  UnitId unit;
  double progress = 0;  // hint cost finished per second since it was handed out
  double left = 0;      // seconds it still needs at that pace; infinite without progress
  double running = 0;   // seconds since it was handed out
};
// All units that are held once and have never been copied, by id.
[[nodiscard]] std::vector<Outstanding> outstanding(const StageState& stage, Timestamp now);
// The units of `keyed`, the least key first.
[[nodiscard]] CopyPlan in_order(std::vector<std::pair<double, UnitId>> keyed);

// Proposes a copy of what is lacking of the group, for a host that does not hold it. True: it was taken.
[[nodiscard]] bool propose_copy(const StageState& stage, const Requester& requester, UnitId group,
                                const std::string& why, Proposal::From from, const Take& take);

}  // namespace gleaner::policy
