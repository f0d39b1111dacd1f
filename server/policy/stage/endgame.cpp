// The endgame: nothing is free and a slot is idle. First it re-covers what stalled holders keep (R6a); then
// it helps live ones (help.cpp).
#include <algorithm>

#include "server/policy/stage/state.h"

namespace gleaner::policy {
namespace {

// R6a: whoever would take so much of a stalled rest takes all of it.
constexpr double take_all_share = 0.7;
// Stalled groups looked at for one whose holders are all other hosts.
constexpr int stalled_looked_at = 64;

}  // namespace

bool StageState::holds_any(const Group& group, HostId host) const {
  return std::any_of(group.members.begin(), group.members.end(),
                     [&](const Held* member) { return member->unit.host == host; });
}

// What an answering host says it has finished will come; but nobody waits for it for ever.
bool StageState::only_delivery_missing(const Held& held, Timestamp now) const {
  return !held.silent && now < later(std::min(held.finished_at, now), 2 * pace().stall_silence) &&
         held.finished_at != Timestamp::max();
}

void StageState::cut_group(UnitId group, std::int64_t end, UnitId except, const std::string& reason,
                           Timestamp now, Changes& changes) {
  const auto found = groups.find(group);
  if (found == groups.end()) return;
  const std::vector<Held*> members = found->second.members;
  for (const Held* member : members) {
    if (member->unit.id != except && member->unit.range.end > end)
      cut(member->unit.id, end, reason, now, changes);
  }
}

Grant StageState::recover(const Requester& requester, double rate, const EndgameRules& rules, Timestamp now,
                          Changes& changes) {
  const double fleet_rate = fleet.rate_on();
  double work = costs.total();  // no rate known: all of it
  if (rate > 0 && fleet_rate > 0) {
    work = rate * std::clamp(rules.guided_fraction * stalled_cost / fleet_rate, rules.unit_minimum,
                             rules.unit_maximum);
  }
  int looked = 0;
  for (const auto& [since, group] : stalled_groups) {
    if (++looked > stalled_looked_at) break;
    const Group& candidate = groups.at(group);
    if (holds_any(candidate, requester.host)) continue;
    if (static_cast<int>(candidate.members.size()) >= members_max(rules)) continue;
    if (std::any_of(candidate.members.begin(), candidate.members.end(),
                    [&](const Held* member) { return only_delivery_missing(*member, now); })) {
      continue;
    }
    Grant grant = recover_group(requester, work, group, now, changes);
    if (grant.unit) return grant;
  }
  return {};
}

Grant StageState::recover_group(const Requester& requester, double work, UnitId group, Timestamp now,
                                Changes& changes) {
  // The member that has the most left holds all that the others hold.
  const std::vector<Held*>& members = groups.at(group).members;
  const Held& held = **std::min_element(members.begin(), members.end(), [](const Held* a, const Held* b) {
    return a->unit.committed < b->unit.committed;
  });
  Range rest = accepted.missing({held.unit.committed, held.unit.range.end}).back();
  if (!held.silent && held.unit.finished < rest.end) rest.begin = std::max(rest.begin, held.unit.finished);
  // An item that takes long is not thrown away: it stays with its holder, and may be copied later.
  if (!held.silent && rest.size() > 1 && rest.begin == held.unit.finished &&
      is_overlong(rest.begin, held.unit.host))
    ++rest.begin;
  const char* what = held.silent                                         ? "silent"
                     : held.unit.run_state == protocol::RunState::paused ? "paused"
                                                                         : "standing still";
  const std::string why = because("host {} is {} since {:.1f} s", held.unit.host.value, what,
                                  std::max(0.0, seconds_between(held.stalled_since, now)));
  std::int64_t from = costs.tail_worth(rest, work);
  if (work >= take_all_share * costs.of(rest)) from = rest.begin;
  from = std::min(from, rest.end - 1);
  const bool as_copy = rest.size() == 1 || !setup.may_split;
  if (as_copy) from = rest.begin;
  const Range taken{from, rest.end};
  if (leave_to_thriftier(requester, group, costs.of(taken), now)) return {};
  const std::string reason =
      because("{}: {} of its last {} items{}", why, taken.size(), rest.size(), as_copy ? " as a copy" : "");
  open_unit(requester, UnitKind::recover, taken, as_copy ? group : UnitId{}, reason, now, changes);
  if (!as_copy)
    cut_group(group, from, requester.unit, because("{}; host {} takes over", why, requester.host.value), now,
              changes);
  return {requester.unit, 0, {}};
}

}  // namespace gleaner::policy
