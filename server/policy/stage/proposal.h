// What a rule proposes for a slot that asks. Rules are const functions of the stage: they offer proposals,
// best first, to `take`, which filters them (energy) and has the stage carry out the first that passes; a
// rule ends when one was taken. [server/policy/POLICY.md, "Rules as values"]
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/policy/sizing/sizing.h"
#include "server/policy/stage/stage.h"

namespace gleaner::policy {

struct StageState;

struct Proposal {
  UnitKind kind = UnitKind::fresh;
  Range range;
  std::string reason = {};  // of the unit
  // The group whose items these are, and whether the new unit joins it as a copy; else its members are cut.
  UnitId of = {};
  bool as_copy = false;
  // Where the group's members end from now on, and why they are told so.
  std::optional<std::int64_t> cut_at = {};
  std::string cut_reason = {};
  double work = 0;   // hint units that another slot may compute as well; 0: no slot may be preferred
  double price = 0;  // hint units that are computed twice: charged to the budget of copies
  // What the rule wants remembered.
  std::optional<Size> size = {};          // fresh: the sizing strategy's memory
  std::optional<std::size_t> check = {};  // this dispute is being looked at
  enum class From { rule, lease, plan, turn } from = From::rule;
  UnitId late = {};  // from a lease: the unit that is late
};

// True: it was carried out.
using Take = std::function<bool(Proposal& proposal)>;

// Why it has nothing to propose; empty: it does not say, or a proposal was taken.
using Rule = std::string (*)(const StageState& stage, const Requester& requester, Timestamp now,
                             const Take& take);

// ---- The rules, each in rule_<name>.cpp. Those for idle slots REQUIRE that nothing is free for the
// requester.
[[nodiscard]] std::string propose_check(const StageState&, const Requester&, Timestamp, const Take&);
[[nodiscard]] std::string propose_late(const StageState&, const Requester&, Timestamp, const Take&);
[[nodiscard]] std::string propose_copy_ahead(const StageState&, const Requester&, Timestamp, const Take&);
[[nodiscard]] std::string propose_fresh(const StageState&, const Requester&, Timestamp, const Take&);
[[nodiscard]] std::string propose_recovery(const StageState&, const Requester&, Timestamp, const Take&);
[[nodiscard]] std::string propose_help(const StageState&, const Requester&, Timestamp, const Take&);

// Whether the free items should be looked at by cost: the longest would take a host noticeably long.
[[nodiscard]] bool long_items_matter(const StageState& stage);
// Rate of a host that is fast among those that are on.
[[nodiscard]] double fast_from(const StageState& stage);

// Comparison rules: units to copy, best first; and what else the rule remembers of that look at all units.
struct CopyPlan {
  std::vector<UnitId> groups;
  double slow_host_rate = 0;  // LATE
};

}  // namespace gleaner::policy
