#include "tools/simulator/grid_host.h"

#include <algorithm>
#include <cmath>

namespace gleaner::simulator {
namespace {

// Work is a sum of many small differences: an item counts as finished when so little of it is left.
constexpr double finished_share = 1e-9;
constexpr double rate_window = 30;  // between two marks: rates are of the last 30 to 60 s

}  // namespace

double GridWork::hint_done(double work) const {
  const std::int64_t item = std::min(costs.item_at(work), costs.items() - 1);
  const double share = (work - costs.before(item)) / costs.of({item, item + 1});
  return hints.before(item) + std::clamp(share, 0.0, 1.0) * hints.of({item, item + 1});
}

std::int64_t LocalUnit::finished(const policy::Costs& costs) const {
  const double slack = finished_share * (1 + work);
  return std::clamp(costs.item_at(work + slack), range.begin, range.end);
}

void LocalSlot::forget_rate(std::size_t problem) {
  rated = problem;
  mark = old_mark = -1;
  hint_done = old_done = mark_done = 0;
}

void LocalHost::advance(const Jobs& jobs, double now) {
  const double seconds = now - advanced_to;
  advanced_to = now;
  if (seconds <= 0 || !on()) return;
  for (LocalSlot& slot : slots) {
    if (slot.units.empty()) {
      if (speed() > 0) slot.idle_seconds += seconds;
      continue;
    }
    double computes = seconds;
    for (LocalUnit& unit : slot.units) {  // the units that wait are fetched meanwhile
      const double fetching = std::min(unit.transfer_left, seconds);
      unit.transfer_left -= fetching;
      if (&unit == &slot.units.front()) computes -= fetching;
    }
    LocalUnit& unit = slot.units.front();
    const GridWork& job = jobs[unit.problem];
    if (slot.rated != unit.problem) slot.forget_rate(unit.problem);
    unit.running_seconds += computes;
    const double end = job.costs.before(unit.range.end);
    const double done = std::min(speed() * computes, std::max(0.0, end - unit.work));
    if (done > 0) {
      slot.dry_at = now;
      slot.hint_done -= job.hint_done(unit.work);
      unit.work += done;
      slot.hint_done += job.hint_done(unit.work);
      work += done;
    }
    if (slot.mark < 0) {
      slot.old_mark = slot.mark = now - computes;
    } else if (now - slot.mark >= rate_window) {
      slot.old_mark = slot.mark;
      slot.old_done = slot.mark_done;
      slot.mark = now;
      slot.mark_done = slot.hint_done;
    }
  }
}

void LocalHost::apply(const Jobs& jobs, const HostEvent& event) {
  state.apply(event);
  if (event.kind != HostEventKind::off && event.kind != HostEventKind::cut) return;
  for (LocalSlot& slot : slots) {
    slot.asking = false;
    slot.retries_at = Agenda::never;
    if (event.kind == HostEventKind::cut) continue;
    slot.forget_rate(slot.rated);
    if (slot.units.empty()) continue;
    LocalUnit& unit = slot.units.front();
    const GridWork& job = jobs[unit.problem];
    if (job.problem.checkpoint) continue;
    unit.work = job.costs.before(unit.finished(job.costs));
  }
}

double LocalHost::seconds_left(const Jobs& jobs, const LocalSlot& slot) const {
  if (slot.units.empty() || speed() <= 0) return Agenda::never;
  const LocalUnit& unit = slot.units.front();
  const GridWork& job = jobs[unit.problem];
  const std::int64_t end = unit.fails_at < 0 ? unit.range.end : std::min(unit.range.end, unit.fails_at);
  return unit.transfer_left + std::max(0.0, job.costs.before(end) - unit.work) / speed();
}

protocol::UnitReport LocalHost::report(const Jobs& jobs, const LocalSlot& slot, const LocalUnit& unit,
                                       double now) const {
  const bool first = &unit == &slot.units.front();
  const GridWork& job = jobs[unit.problem];
  protocol::UnitReport report;
  report.unit = unit.id;
  report.finished = unit.finished(job.costs);
  report.running_seconds = unit.running_seconds;
  report.state = state.paused ? protocol::RunState::paused
                 : first      ? protocol::RunState::running
                              : protocol::RunState::waiting;
  if (!first) return report;
  const double partial = std::max(0.0, unit.work - job.costs.before(report.finished));
  report.item_seconds = std::min(unit.running_seconds, partial / (host_->speed * state.factor));
  if (job.problem.progress && report.finished < unit.range.end)
    report.item_share = std::min(1.0, partial / job.costs.of({report.finished, report.finished + 1}));
  const double seconds = now - slot.old_mark;
  if (slot.rated == unit.problem && slot.old_mark >= 0 && seconds > 1)
    report.rate = (slot.hint_done - slot.old_done) / seconds;
  return report;
}

std::vector<Report> LocalHost::reports(const Jobs& jobs, double now) const {
  std::vector<Report> all;
  for (const LocalSlot& slot : slots) {
    for (const LocalUnit& unit : slot.units) all.push_back({unit.problem, report(jobs, slot, unit, now)});
  }
  return all;
}

void LocalHost::take_commits(const Jobs& jobs, double now, double every, std::vector<Commit>& commits) {
  for (LocalSlot& slot : slots) {
    for (LocalUnit& unit : slot.units) {
      // A host that is paused delivers what it has: it does not know when it may go on.
      if (!state.paused && now - unit.last_commit < every) continue;
      const std::int64_t finished = unit.finished(jobs[unit.problem].costs);
      if (finished <= unit.committed) continue;
      commits.push_back({unit.id, {unit.committed, finished}, false, unit.wrong, unit.problem});
      unit.committed = finished;
      unit.last_commit = now;
    }
  }
}

void LocalHost::take_saved(const Jobs& jobs, double now, double every, std::vector<Saved>& saved) {
  if (state.paused) return;  // what was saved before stands
  for (LocalSlot& slot : slots) {
    if (slot.units.empty() || !jobs[slot.units.front().problem].problem.checkpoint) continue;
    LocalUnit& unit = slot.units.front();
    const protocol::UnitReport present = report(jobs, slot, unit, now);
    if (present.item_seconds < every || now - unit.last_save < every || present.item_share <= 0) continue;
    saved.push_back({unit.problem, unit.id, present.finished, present.item_share});
    unit.last_save = now;
  }
}

double LocalHost::due() const {
  double time = coming.at;
  if (!on()) return time;
  time = std::min(time, beats_at);
  for (const LocalSlot& slot : slots) time = std::min({time, slot.ends_at, slot.asks_at, slot.retries_at});
  return time;
}

}  // namespace gleaner::simulator
