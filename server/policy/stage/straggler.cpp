#include "server/policy/stage/straggler.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "shared/base/check.h"

namespace gleaner::policy {

// Gleaner's own: re-cover what stalled holders keep, then split or copy what would end last
// [server/policy/POLICY.md].
const StragglerRule& split_straggler() {
  static const StragglerRule rule{
      .info = {Straggler::split, "split", "re-cover stalled units, split or copy what would end last",
               "Gleaner's policy"},
      .nothing = nullptr,
      .idle = {propose_recovery, propose_help},
      .early = {propose_copy_ahead},
      .saves_energy = true,
      .gives_up = true,
  };
  return rule;
}

// A holder that is silent for a whole lease loses its unit, nothing else happens.
const StragglerRule& none_straggler() {
  static const StragglerRule rule{.info = {Straggler::none, "none", "idle slots wait", "-"}};
  return rule;
}

// BOINC's: a unit has a deadline, a multiple of its estimate; when it has passed, the next host that asks
// gets another instance, and the first result wins. Idle slots never help before [Anderson 2020, section 4].
const StragglerRule& deadline_straggler() {
  static const StragglerRule rule{
      .info = {Straggler::deadline, "deadline", "another instance of what is late", "BOINC: Anderson 2020"},
      .nothing = "nothing is free, and no deadline has passed",
      .lease_factor = 4,
  };
  return rule;
}

int StragglerRule::holders_max(const EndgameRules& rules) const {
  return unlimited ? std::numeric_limits<int>::max() : rules.holders_max;
}

const StragglerRule& rule_of(Straggler rule) {
  for (const auto& entry : stragglers)
    if (entry().info.rule == rule) return entry();
  CHECK_TRUE(false);
  return split_straggler();
}

const char* name_of(Straggler rule) {
  for (const auto& entry : stragglers)
    if (entry().info.rule == rule) return entry().info.name.c_str();
  return "unknown";
}

Result<Straggler> straggler_from(std::string_view text) {
  std::vector<std::string> names;
  for (const auto& entry : stragglers) {
    const StragglerInfo& info = entry().info;
    if (text == info.name) return info.rule;
    names.push_back(info.name);
  }
  return Error{ErrorKind::invalid, fmt::format("there is no straggler rule '{}'; choose one of {}", text,
                                               fmt::join(names, ", "))};
}

std::vector<StragglerInfo> straggler_rules() {
  std::vector<StragglerInfo> infos;
  for (const auto& entry : stragglers) infos.push_back(entry().info);
  return infos;
}

std::vector<Outstanding> outstanding(const StageState& stage, Timestamp now) {
  const Costs& costs = stage.ledger.costs();
  std::vector<Outstanding> found;
  for (const auto& [id, held] : stage.units.open()) {
    const Unit& unit = held.unit;
    if (unit.kind == UnitKind::check || unit.group != id || stage.copies.once.contains(id)) continue;
    if (held.group->members.size() > 1) continue;
    Outstanding one;
    one.unit = id;
    one.running = std::max(0.0, seconds_between(unit.issued, now));
    const std::int64_t position = std::clamp(unit.finished, unit.range.begin, unit.range.end);
    const double done = costs.of({unit.range.begin, position});
    one.progress = one.running > 0 ? done / one.running : 0;
    const double rest = costs.of({position, unit.range.end});
    one.left = one.progress > 0 ? rest / one.progress : std::numeric_limits<double>::infinity();
    found.push_back(one);
  }
  std::sort(found.begin(), found.end(),
            [](const Outstanding& a, const Outstanding& b) { return a.unit < b.unit; });
  return found;
}

CopyPlan in_order(std::vector<std::pair<double, UnitId>> keyed) {
  std::sort(keyed.begin(), keyed.end());
  CopyPlan plan;
  for (const auto& [key, unit] : keyed) plan.groups.push_back(unit);
  return plan;
}

bool propose_copy(const StageState& stage, const Requester& requester, UnitId id, const std::string& why,
                  Proposal::From from, const Take& take) {
  const Group* group = stage.units.group(id);
  if (group == nullptr || holds_any(*group, requester.host)) return false;
  if (static_cast<int>(group->members.size()) >= stage.rule->holders_max(stage.setup.rules)) return false;
  // The member that has committed most tells where a copy may start.
  const Held* most = nullptr;
  for (const Held* held : group->members) {
    if (most == nullptr || held->unit.committed > most->unit.committed) most = held;
  }
  const std::vector<Range> lacking = stage.ledger.accepted().missing(most->rest());
  if (lacking.empty()) return false;
  Proposal copy{UnitKind::copy, {lacking.front().begin, lacking.back().end}};
  copy.reason = stage.because("a copy of unit {}: {}", id.value, why);
  copy.of = id;
  copy.as_copy = true;
  copy.price = stage.ledger.costs().of(copy.range);
  copy.from = from;
  return take(copy);
}

}  // namespace gleaner::policy
