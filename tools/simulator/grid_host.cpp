#include "tools/simulator/grid_host.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "client/policy/delivery.h"

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

void Message::clear() {
  commits.clear();
  reports.clear();
  saved.clear();
  failure.reset();
  slots.clear();
  proposal = {};
  answered = true;
}

std::int64_t LocalUnit::finished(const policy::Costs& costs) const {
  const double slack = finished_share * (1 + work);
  return std::clamp(costs.item_at(work + slack), range.begin, range.end);
}

void LocalSlot::forget_rate(std::size_t problem) {
  rated = problem;
  mark = old_mark = -1;
  hint_done = old_done = mark_done = 0;
  if (!units.empty()) rated_work = units.front().work;
}

double LocalSlot::hint_cost_done(const GridWork& job) const {
  return hint_done + job.hint_done(units.front().work) - job.hint_done(rated_work);
}

void LocalSlot::note_end(const Jobs& jobs) {
  const GridWork& job = jobs[units.front().problem];
  if (rated == units.front().problem) hint_done = hint_cost_done(job);
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
    if (speed() > 0) unit.ran += computes;
    const double end = job.costs.before(unit.range.end);
    const double done = std::min(speed() * computes, std::max(0.0, end - unit.work));
    if (done > 0) {
      slot.dry_at = now;
      unit.work += done;
      work += done;
    }
    if (slot.mark < 0) {
      slot.old_mark = slot.mark = now - computes;
    } else if (now - slot.mark >= rate_window) {
      slot.old_mark = slot.mark;
      slot.old_done = slot.mark_done;
      slot.mark = now;
      slot.mark_done = slot.hint_cost_done(job);
    }
  }
}

void LocalHost::apply(const Jobs& jobs, const HostEvent& event) {
  state.apply(event);
  if (event.kind != HostEventKind::off) return;
  for (LocalSlot& slot : slots) {
    slot.forget_rate(slot.rated);
    if (slot.units.empty()) continue;
    LocalUnit& unit = slot.units.front();
    const GridWork& job = jobs[unit.problem];
    if (!job.problem.checkpoint) unit.work = job.costs.before(unit.finished(job.costs));
    slot.rated_work = unit.work;
  }
}

double LocalHost::seconds_left(const Jobs& jobs, const LocalSlot& slot) const {
  if (slot.units.empty() || speed() <= 0) return Agenda::never;
  const LocalUnit& unit = slot.units.front();
  const GridWork& job = jobs[unit.problem];
  const std::int64_t end = unit.fails_at < 0 ? unit.range.end : std::min(unit.range.end, unit.fails_at);
  return unit.transfer_left + std::max(0.0, job.costs.before(end) - unit.work) / speed();
}

void LocalHost::begin(LocalSlot& slot, double now) const {
  if (slot.units.empty()) return;
  LocalUnit& unit = slot.units.front();
  slot.rated_work = unit.work;
  unit.last_save = now;
  unit.transfer_left = std::max(unit.transfer_left, slot.start_at - now);
}

client_policy::PrefetchView LocalHost::prefetch_view(const LocalSlot& slot, double now) const {
  client_policy::PrefetchView view;
  view.busy = !slot.units.empty();
  view.has_waiting = slot.units.size() > 1;
  if (slot.ends_at != Agenda::never) view.remaining = from_seconds(slot.ends_at - now);
  view.round_trip = round_trip.value();
  view.preparation = preparation.value();
  return view;
}

// ---- What it says -----------------------------------------------------------------------------------------

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
    report.rate = (slot.hint_cost_done(job) - slot.old_done) / seconds;
  return report;
}

protocol::UnitReport LocalHost::boast(const Jobs& jobs, const LocalUnit& unit, double now) const {
  const policy::Costs& costs = jobs[unit.problem].costs;
  protocol::UnitReport report;
  report.unit = unit.id;
  report.state = protocol::RunState::running;
  report.running_seconds = now - unit.taken_at;
  report.rate = host_->speed;
  const double done = costs.before(unit.range.begin) + host_->speed * report.running_seconds;
  report.finished = std::clamp(costs.item_at(done), unit.range.begin, unit.range.end - 1);
  return report;
}

void LocalHost::report_units(const Jobs& jobs, double now, std::vector<Report>& reports) const {
  for (const LocalSlot& slot : slots)
    for (const LocalUnit& unit : slot.units)
      reports.push_back({unit.problem, hoards() ? boast(jobs, unit, now) : report(jobs, slot, unit, now)});
  for (const LocalUnit& unit : ending) {
    protocol::UnitReport report;
    report.unit = unit.id;
    report.finished = unit.finished(jobs[unit.problem].costs);
    report.running_seconds = unit.running_seconds;
    reports.push_back({unit.problem, std::move(report)});
  }
}

void LocalHost::cut(const Jobs& jobs, LocalUnit& unit, double now, double piggyback) {
  if (unit.pending()) return;
  if (!client_policy::cut_due(
          {unit.over, state.paused, from_seconds(unit.ran), from_seconds(unit.commit_seconds)}))
    return;
  const std::int64_t finished = unit.finished(jobs[unit.problem].costs);
  if (finished <= unit.committed) return;
  unit.cut = finished;
  unit.ran = 0;
  const double upload = host_->upload_byte_seconds * jobs[unit.problem].problem.bytes_out *
                        static_cast<double>(unit.cut - unit.committed);
  if (upload > 0) {
    unit.deliver_at = uploaded_at = std::max(now, uploaded_at) + upload;
  } else {
    unit.deliver_at = unit.over ? now + piggyback : now;
  }
}

void LocalHost::cut_segments(const Jobs& jobs, double now, double piggyback) {
  visit_units([&](LocalUnit& unit) { cut(jobs, unit, now, piggyback); });
}

void LocalHost::take_commit(const Jobs& jobs, LocalUnit& unit, double now, With with,
                            std::vector<Commit>& commits) const {
  // What waits for a request, and not for the link, is ready.
  const bool ready = now >= unit.deliver_at || (with == With::work && now >= uploaded_at);
  if (!unit.pending() || unit.in_flight || !ready) return;
  unit.in_flight = true;
  const bool last = unit.over && !unit.failed && unit.cut >= unit.finished(jobs[unit.problem].costs);
  commits.push_back({unit.id, {unit.committed, unit.cut}, last, unit.wrong, unit.problem});
}

void LocalHost::take_commits(const Jobs& jobs, double now, With with, std::vector<Commit>& commits) {
  visit_units([&](LocalUnit& unit) { take_commit(jobs, unit, now, with, commits); });
}

std::optional<Failure> LocalHost::take_failure(const Jobs& jobs) {
  for (LocalUnit& unit : ending) {
    if (!unit.failed || unit.pending()) continue;
    unit.in_flight = true;
    return Failure{unit.problem, unit.id, unit.finished(jobs[unit.problem].costs)};
  }
  return std::nullopt;
}

void LocalHost::take_saved(const Jobs& jobs, double now, std::vector<Saved>& saved) {
  for (LocalSlot& slot : slots) {
    if (slot.units.empty() || !jobs[slot.units.front().problem].problem.checkpoint) continue;
    LocalUnit& unit = slot.units.front();
    const protocol::UnitReport present = report(jobs, slot, unit, now);
    const double every = unit.commit_seconds, on_item = present.item_seconds;
    if (present.item_share <= 0 || !client_policy::save_due(from_seconds(every), from_seconds(on_item),
                                                            from_seconds(now - unit.last_save)))
      continue;
    const double latest = std::floor(on_item / every) * every / on_item;  // part of it that is in the file
    saved.push_back({unit.problem, unit.id, present.finished, latest * present.item_share});
    unit.last_save = now;
  }
}

client_policy::Outgoing LocalHost::outgoing(double now) const {
  client_policy::Outgoing outgoing;
  const auto look = [&](const LocalUnit& unit) {
    outgoing.units = true;
    outgoing.commit = outgoing.commit || (unit.pending() && now >= unit.deliver_at);
    outgoing.failure = outgoing.failure || (unit.failed && !unit.pending());
  };
  for (const LocalSlot& slot : slots)
    for (const LocalUnit& unit : slot.units) look(unit);
  for (const LocalUnit& unit : ending) look(unit);
  return outgoing;
}

double LocalHost::delivers_at(double now) const {
  double first = Agenda::never;
  const auto look = [&](const LocalUnit& unit) {
    if (unit.pending() && unit.deliver_at > now) first = std::min(first, unit.deliver_at);
  };
  for (const LocalSlot& slot : slots)
    for (const LocalUnit& unit : slot.units) look(unit);
  for (const LocalUnit& unit : ending) look(unit);
  return first;
}

void LocalHost::told() {
  visit_units([](LocalUnit& unit) {
    if (!std::exchange(unit.in_flight, false)) return;
    if (!unit.pending()) unit.failed = false;
    unit.committed = unit.cut;
  });
}

void LocalHost::not_told() {
  visit_units([](LocalUnit& unit) { unit.in_flight = false; });
}

double LocalHost::due() const {
  if (!on()) return coming.at;
  double time = std::min({coming.at, talks_at, busy ? gives_up_at : Agenda::never});
  for (const LocalSlot& slot : slots) time = std::min(time, slot.ends_at);
  return time;
}

}  // namespace gleaner::simulator
