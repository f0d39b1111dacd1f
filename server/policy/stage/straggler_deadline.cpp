// BOINC's rule: a unit has a deadline, a multiple of its estimate; when it has passed, the next host that
// asks gets another instance, and the first result wins. Idle slots never help before [Anderson 2020, section
// 4]. The other comparison rules may use the same lease (EndgameRules::lease_factor).
#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

constexpr double usual_factor = 4;
// Late units looked at for one that the host does not hold itself.
constexpr int leases_looked_at = 64;

class Deadline final : public StragglerRule {
 public:
  [[nodiscard]] Grant help(StageState& /*stage*/, const Requester& /*requester*/, Timestamp /*now*/,
                           Changes& /*changes*/) const override {
    return {{}, 0, "nothing is free, and no deadline has passed"};
  }
  [[nodiscard]] double lease_factor(const EndgameRules& rules) const override {
    return rules.lease_factor > 0 ? rules.lease_factor : usual_factor;
  }
};

}  // namespace

void StageState::start_lease(Held& held, Timestamp now) {
  const EndgameRules rules = pace();
  const double factor = rule->lease_factor(rules);
  if (factor <= 0 || held.unit.kind == UnitKind::check) return;
  const double rate = fleet.rate(held.host->record);
  const double estimate = rate > 0 ? remaining_cost(held.unit) / rate : 0;
  held.lease_end = later(now, std::max(rules.lease_minimum, factor * estimate));
  by_lease.insert({held.lease_end, held.unit.id});
}

void StageState::end_lease(Held& held) {
  by_lease.erase({held.lease_end, held.unit.id});
}

Grant StageState::reissue(const Requester& requester, Timestamp now, Changes& changes) {
  int looked = 0;
  for (const auto& [end, id] : by_lease) {
    if (end > now || ++looked > leases_looked_at) break;
    Held& held = open.at(id);
    const std::string why = because("host {} has not delivered it in time", held.unit.host.value);
    Grant grant = copy_group(*this, requester, held.unit.group, why, now, changes);
    if (!grant.unit) continue;
    end_lease(held);
    return grant;
  }
  return {};
}

StragglerEntry deadline_straggler() {
  static const Deadline rule;
  return {{Straggler::deadline, "deadline", "another instance of what is late", "BOINC: Anderson 2020"},
          &rule};
}

}  // namespace gleaner::policy
