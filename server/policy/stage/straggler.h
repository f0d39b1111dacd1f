// Straggler rules: what an idle slot gets when nothing is free. One rule a file (straggler_<name>.cpp), a
// line in the table of straggler.cpp, an enumerator in stage.h, a test. Rules are stateless; what they must
// remember of a stage is in StageState. Internal to the room.
#pragma once

#include <limits>

#include "server/policy/stage/state.h"

namespace gleaner::policy {

class StragglerRule {
 public:
  virtual ~StragglerRule() = default;
  // REQUIRES: the requester is idle, nothing is free for it. No unit: the reason says why.
  [[nodiscard]] virtual Grant help(StageState& stage, const Requester& requester, Timestamp now,
                                   Changes& changes) const = 0;
  // Holders of one item at most, those that fell silent included.
  [[nodiscard]] virtual int holders_max(const EndgameRules& rules) const;
  // A unit is late after so many times its estimate, and then goes to the next host that asks, whatever is
  // free; 0: never.
  [[nodiscard]] virtual double lease_factor(const EndgameRules& rules) const;
  // The papers': hosts that have returned nothing when 70 % are completed are left out.
  [[nodiscard]] virtual bool omits() const { return false; }
};

struct StragglerEntry {
  StragglerInfo info;
  const StragglerRule* rule;
};

[[nodiscard]] const StragglerRule& rule_of(Straggler rule);

[[nodiscard]] StragglerEntry none_straggler();
[[nodiscard]] StragglerEntry duplicate_once_straggler();
[[nodiscard]] StragglerEntry split_straggler();  // endgame.cpp, help.cpp
[[nodiscard]] StragglerEntry late_straggler();
[[nodiscard]] StragglerEntry spark_straggler();
[[nodiscard]] StragglerEntry wqr_straggler();
[[nodiscard]] StragglerEntry deadline_straggler();
[[nodiscard]] StragglerEntry rdlb_straggler();

// ---- What several rules share

// How the rules below see an outstanding unit that has no copy yet.
struct Outstanding {
  UnitId unit;
  double progress = 0;  // hint cost finished per second since it was handed out
  double left = 0;      // seconds it still needs at that pace; infinite without progress
  double running = 0;   // seconds since it was handed out
};
// All units that are held once and have never been copied, by id.
[[nodiscard]] std::vector<Outstanding> outstanding(const StageState& stage, Timestamp now);

// The units to copy, best first: made anew by `plan(stage)` every `park` seconds, since that looks at all
// units. The next one that this host may copy becomes its unit.
using Planner = std::vector<UnitId> (*)(StageState& stage, Timestamp now);
[[nodiscard]] Grant copy_planned(StageState& stage, const Requester& requester, Planner plan, const char* why,
                                 Timestamp now, Changes& changes);

// A copy of what is lacking of the group, for a host that does not hold it. No unit: it holds it, or nothing
// is lacking.
[[nodiscard]] Grant copy_group(StageState& stage, const Requester& requester, UnitId group,
                               const std::string& why, Timestamp now, Changes& changes);

}  // namespace gleaner::policy
