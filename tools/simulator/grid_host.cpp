#include "tools/simulator/grid_host.h"

#include <algorithm>
#include <cmath>

namespace gleaner::simulator {
namespace {

// Work is a sum of many small differences: an item counts as finished when so little of it is left.
constexpr double finished_share = 1e-9;
constexpr double rate_window = 60;

}  // namespace

std::int64_t LocalUnit::finished(const policy::Costs& costs) const {
  const double slack = finished_share * (1 + work);
  return std::clamp(costs.item_at(work + slack), range.begin, range.end);
}

void LocalHost::advance(double now) {
  const double seconds = now - advanced_to;
  advanced_to = now;
  if (seconds <= 0 || !answers()) return;
  for (LocalSlot& slot : slots) {
    if (slot.units.empty()) continue;
    LocalUnit& unit = slot.units.front();
    const std::int64_t before = unit.finished(costs_);
    unit.running_seconds += seconds;
    const double end = costs_.before(unit.range.end);
    const double done = std::min(speed() * seconds, std::max(0.0, end - unit.work));
    if (done > 0) slot.dry_at = now;
    unit.work += done;
    work += done;
    slot.hint_done += hints_.of({before, unit.finished(costs_)});
    slot.history.emplace_back(now, slot.hint_done);
    while (slot.history.size() > 2 && slot.history[1].first < now - rate_window) slot.history.pop_front();
  }
}

void LocalHost::apply(const HostEvent& event) {
  switch (event.kind) {
    case HostEventKind::pause:
      paused = true;
      break;
    case HostEventKind::resume:
      paused = false;
      break;
    case HostEventKind::slow:
      factor = event.factor;
      break;
    case HostEventKind::off:
      up = false;
      for (LocalSlot& slot : slots) {
        slot.asking = false;
        slot.history.clear();
        if (!slot.units.empty()) slot.units.front().work = costs_.before(slot.units.front().finished(costs_));
      }
      break;
    case HostEventKind::on:
      up = true;
      break;
    case HostEventKind::vanish:
      vanished = true;
      break;
  }
}

double LocalHost::seconds_left(const LocalSlot& slot) const {
  if (slot.units.empty() || speed() <= 0) return -1;
  const LocalUnit& unit = slot.units.front();
  const std::int64_t end = std::min(unit.range.end, unit.fails_at.value_or(unit.range.end));
  return std::max(0.0, costs_.before(end) - unit.work) / speed();
}

std::vector<protocol::UnitReport> LocalHost::reports(double now) const {
  std::vector<protocol::UnitReport> all;
  for (const LocalSlot& slot : slots) {
    for (std::size_t i = 0; i < slot.units.size(); ++i) {
      const LocalUnit& unit = slot.units[i];
      protocol::UnitReport report;
      report.unit = unit.id;
      report.finished = unit.finished(costs_);
      report.running_seconds = unit.running_seconds;
      report.state = paused  ? protocol::RunState::paused
                     : i > 0 ? protocol::RunState::waiting
                             : protocol::RunState::running;
      if (i == 0) {
        const double partial = std::max(0.0, unit.work - costs_.before(report.finished));
        report.item_seconds = std::min(unit.running_seconds, partial / (host_.speed * factor));
        if (slot.history.size() > 1) {
          const double seconds = now - slot.history.front().first;
          if (seconds > 1) report.rate = (slot.hint_done - slot.history.front().second) / seconds;
        }
      }
      all.push_back(report);
    }
  }
  return all;
}

void LocalHost::take_commits(double now, double commit_seconds, std::vector<Commit>& commits) {
  for (LocalSlot& slot : slots) {
    for (LocalUnit& unit : slot.units) {
      const std::int64_t finished = unit.finished(costs_);
      // A host that is paused delivers what it has: it does not know when it may go on.
      if (finished <= unit.committed || (!paused && now - unit.last_commit < commit_seconds)) continue;
      commits.push_back({unit.id, {unit.committed, finished}, false});
      unit.committed = finished;
      unit.last_commit = now;
    }
  }
}

}  // namespace gleaner::simulator
