#include "server/policy/stage/straggler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "shared/base/check.h"

namespace gleaner::policy {
namespace {

// Every rule, in the order in which people should read about them.
const std::array<StragglerEntry, 8>& table() {
  static const std::array<StragglerEntry, 8> entries{
      split_straggler(), duplicate_once_straggler(), none_straggler(), deadline_straggler(),
      late_straggler(),  spark_straggler(),          wqr_straggler(),  rdlb_straggler()};
  return entries;
}

}  // namespace

int StragglerRule::holders_max(const EndgameRules& rules) const {
  return members_max(rules);
}

double StragglerRule::lease_factor(const EndgameRules& rules) const {
  return rules.lease_factor;
}

const StragglerRule& rule_of(Straggler rule) {
  for (const StragglerEntry& entry : table()) {
    if (entry.info.rule == rule) return *entry.rule;
  }
  CHECK_TRUE(false);
  return *table().front().rule;
}

const char* name_of(Straggler rule) {
  for (const StragglerEntry& entry : table()) {
    if (entry.info.rule == rule) return entry.info.name.c_str();
  }
  return "unknown";
}

Result<Straggler> straggler_from(std::string_view text) {
  std::vector<std::string> names;
  for (const StragglerEntry& entry : table()) {
    if (text == entry.info.name) return entry.info.rule;
    names.push_back(entry.info.name);
  }
  return Error{ErrorKind::invalid, fmt::format("there is no straggler rule '{}'; choose one of {}", text,
                                               fmt::join(names, ", "))};
}

std::vector<StragglerInfo> straggler_rules() {
  std::vector<StragglerInfo> infos;
  for (const StragglerEntry& entry : table()) infos.push_back(entry.info);
  return infos;
}

std::vector<Outstanding> outstanding(const StageState& stage, Timestamp now) {
  std::vector<Outstanding> found;
  for (const auto& [id, held] : stage.open) {
    const Unit& unit = held.unit;
    if (unit.kind == UnitKind::check || unit.group != id || stage.copied_once.contains(id)) continue;
    if (held.group->members.size() > 1) continue;
    Outstanding one;
    one.unit = id;
    one.running = std::max(0.0, seconds_between(unit.issued, now));
    const std::int64_t position = std::clamp(unit.finished, unit.range.begin, unit.range.end);
    const double done = stage.costs.of({unit.range.begin, position});
    one.progress = one.running > 0 ? done / one.running : 0;
    const double rest = stage.costs.of({position, unit.range.end});
    one.left = one.progress > 0 ? rest / one.progress : std::numeric_limits<double>::infinity();
    found.push_back(one);
  }
  std::sort(found.begin(), found.end(),
            [](const Outstanding& a, const Outstanding& b) { return a.unit < b.unit; });
  return found;
}

Grant copy_group(StageState& stage, const Requester& requester, UnitId group, const std::string& why,
                 Timestamp now, Changes& changes) {
  const auto found = stage.groups.find(group);
  if (found == stage.groups.end() || stage.holds_any(found->second, requester.host)) return {};
  if (static_cast<int>(found->second.members.size()) >= stage.rule->holders_max(stage.setup.rules)) return {};
  // The member that has committed most tells where a copy may start.
  const Held* most = nullptr;
  for (const Held* held : found->second.members) {
    if (most == nullptr || held->unit.committed > most->unit.committed) most = held;
  }
  const std::vector<Range> lacking = stage.accepted.missing({most->unit.committed, most->unit.range.end});
  if (lacking.empty()) return {};
  const Range rest{lacking.front().begin, lacking.back().end};
  const std::string reason = stage.because("a copy of unit {}: {}", group.value, why);
  stage.copied_once.insert(group);
  stage.copied_cost += stage.costs.of(rest);
  stage.open_unit(requester, UnitKind::copy, rest, group, reason, now, changes);
  return {requester.unit, 0, {}};
}

Grant copy_planned(StageState& stage, const Requester& requester, Planner plan, const char* why,
                   Timestamp now, Changes& changes) {
  CopyPlan& cached = stage.plan;
  if (cached.made == Timestamp::min() || now >= later(cached.made, stage.pace().park) || now < cached.made) {
    cached.groups = plan(stage, now);
    cached.made = now;
  }
  for (auto next = cached.groups.begin(); next != cached.groups.end(); ++next) {
    const Grant grant = copy_group(stage, requester, *next, why, now, changes);
    if (!grant.unit) continue;
    cached.groups.erase(next);
    return grant;
  }
  return {};
}

}  // namespace gleaner::policy
