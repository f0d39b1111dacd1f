#include "server/policy/journal/restorable.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace gleaner::policy {
namespace {

constexpr double most = 1e100;  // sums of them stay finite

std::string ids_mistake(const Unit& unit, const std::string& key) {
  if (!unit.id.valid()) return fmt::format("{}.id: expected a number from 1 on, got {}", key, unit.id.value);
  if (!unit.host.valid())
    return fmt::format("{}.host: expected a number from 1 on, got {}", key, unit.host.value);
  return {};
}

std::string ranges_mistake(const std::vector<Range>& ranges, const char* key, std::int64_t items) {
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (ranges[i].end > items)
      return fmt::format("{}[{}]: expected [begin, end] within the stage's {} items, got [{},{}]", key, i,
                         items, ranges[i].begin, ranges[i].end);
  return {};
}

// Wherever its end was moved to since it was handed out.
std::string progress_mistake(const Unit& unit, const std::string& key, std::int64_t items) {
  const auto outside = [&](std::int64_t item) { return item < unit.range.begin || item > items; };
  const auto expected = [&](const char* field, std::int64_t got) {
    return fmt::format("{}.{}: expected one of the items from {} to {}, got {}", key, field, unit.range.begin,
                       items, got);
  };
  if (unit.range.end > items)
    return fmt::format("{}.range: expected [begin, end] within the stage's {} items, got [{},{}]", key, items,
                       unit.range.begin, unit.range.end);
  if (outside(unit.committed)) return expected("committed", unit.committed);
  if (outside(unit.finished)) return expected("finished", unit.finished);
  if (unit.handed_end > items) return expected("handed_end", unit.handed_end);
  return {};
}

class OpenUnits {
 public:
  explicit OpenUnits(const RestoreEvent& event) {
    for (const Range range : event.accepted) accepted_.add(range);
  }

  std::string mistake(const Unit& unit, const std::string& key) {
    const Range rest{unit.committed, unit.range.end};
    if (rest.empty())
      return fmt::format("{}.committed: expected less than the open unit's end {}, got {}", key,
                         unit.range.end, unit.committed);
    if (unit.finished < unit.committed)
      return fmt::format("{}.finished: expected at least what is committed, {}, got {}", key, unit.committed,
                         unit.finished);
    if (unit.handed_end != 0 && unit.handed_end < unit.range.end)
      return fmt::format("{}.handed_end: expected 0 or at least the unit's end {}, got {}", key,
                         unit.range.end, unit.handed_end);
    if (unit.kind == UnitKind::check) return {};
    if (accepted_.contains(rest))
      return fmt::format("{}.state: expected a closed unit, for all of [{}, {}) is accepted, got {}", key,
                         rest.begin, rest.end, static_cast<int>(unit.state));
    if (!unit.group.valid() || unit.group > unit.id)
      return fmt::format("{}.group: expected the unit's own number or a lower one, got {}", key,
                         unit.group.value);
    if (!holders_[unit.group].insert(unit.host).second)
      return fmt::format("{}.host: expected another one than the group's other units have, got {}", key,
                         unit.host.value);
    return {};
  }

 private:
  RangeSet accepted_;
  std::map<UnitId, std::set<HostId>> holders_;
};

std::string host_mistake(const HostRecord& record, const std::string& key) {
  if (!record.host.valid())
    return fmt::format("{}.host: expected a number from 1 on, got {}", key, record.host.value);
  constexpr int slots_max = 100'000;
  if (record.slots < 1 || record.slots > slots_max)
    return fmt::format("{}.slots: expected 1 to {}, got {}", key, slots_max, record.slots);
  const std::pair<const char*, double> numbers[] = {{"performance", record.performance},
                                                    {"queue_unloaded", record.queue_unloaded},
                                                    {"queue_current", record.queue_current},
                                                    {"proposed_items", record.proposed_items},
                                                    {"rate", record.rate},
                                                    {"measured_seconds", record.measured_seconds},
                                                    {"on_seconds", record.on_seconds},
                                                    {"used_performance", record.used_performance}};
  for (const auto& [name, value] : numbers) {
    if (!(value >= 0 && value <= most))
      return fmt::format("{}.{}: expected a number from 0 to {:g}, got {:g}", key, name, most, value);
  }
  return {};
}

}  // namespace

std::string impossible(const RestoreEvent& event, std::int64_t items) {
  for (const std::string& mistake : {ranges_mistake(event.accepted, "accepted", items),
                                     ranges_mistake(event.set_aside, "set_aside", items),
                                     ranges_mistake(event.undecided, "undecided", items)})
    if (!mistake.empty()) return mistake;
  std::set<UnitId> units;
  OpenUnits open(event);
  for (std::size_t i = 0; i < event.units.size(); ++i) {
    const Unit& unit = event.units[i];
    const std::string key = fmt::format("units[{}]", i);
    std::string mistake = ids_mistake(unit, key);
    if (mistake.empty() && !units.insert(unit.id).second)
      mistake = fmt::format("{}.id: expected a number that no other unit has, got {}", key, unit.id.value);
    if (mistake.empty()) mistake = progress_mistake(unit, key, items);
    if (mistake.empty() && unit.state == UnitState::open) mistake = open.mistake(unit, key);
    if (!mistake.empty()) return mistake;
  }
  std::set<HostId> hosts;
  for (std::size_t i = 0; i < event.hosts.size(); ++i) {
    const HostRecord& record = event.hosts[i];
    const std::string key = fmt::format("hosts[{}]", i);
    std::string mistake = host_mistake(record, key);
    if (mistake.empty() && !hosts.insert(record.host).second)
      mistake =
          fmt::format("{}.host: expected a number that no other host has, got {}", key, record.host.value);
    if (!mistake.empty()) return mistake;
  }
  return {};
}

std::string impossible(const RememberEvent& event, std::int64_t items) {
  std::string mistake = ids_mistake(event.unit, "remembered");
  return mistake.empty() ? progress_mistake(event.unit, "remembered", items) : mistake;
}

}  // namespace gleaner::policy
