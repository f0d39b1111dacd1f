#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/simulator/grid_loop.h"

namespace gleaner::simulator {
namespace {

// A client asks ahead when its unit ends within so many round trips.
constexpr double prefetch_round_trips = 3;
constexpr double shortest_retry = 1e-3;
constexpr int tries_max = 50;

}  // namespace

void GridLoop::trace_event(std::size_t id) {
  LocalHost& host = hosts_[id];
  const bool was_up = host.answers();
  host.apply(jobs_, host.coming);
  if (host.state.vanished || !host.trace.next(host.coming)) host.coming.at = Agenda::never;
  if (!was_up && host.answers()) wake(id);
  if (was_up && host.answers() && !host.state.paused) {  // what ran dry while it was paused
    for (std::size_t slot = 0; slot < host.slots.size(); ++slot) {
      if (host.slots[slot].units.empty()) ask(id, slot, true);
    }
  }
  for (std::size_t slot = 0; slot < host.slots.size(); ++slot) predict(id, slot);
}

void GridLoop::wake(std::size_t id) {
  LocalHost& host = hosts_[id];
  host.advanced_to = now_;
  for (Message& message : std::exchange(host.held, {})) send(std::move(message));
  beat(id);
  for (std::size_t slot = 0; slot < host.slots.size(); ++slot) {
    if (host.slots[slot].units.empty()) ask(id, slot, true);
  }
}

void GridLoop::send(Message message) {
  LocalHost& host = hosts_[message.host];
  if (!host.answers()) return;
  const GridHost& real = instance_.hosts[message.host];
  message.reports = host.reports(jobs_, now_);
  for (auto& [problem, report] : message.reports) {
    report.rate *= real.boast;
    if (real.rate_noise > 0) report.rate *= std::exp(random_.normal(0, real.rate_noise));
  }
  double at = now_ + instance_.request_delay / 2 + real.latency;
  for (const Commit& part : message.commits)
    at += real.upload_byte_seconds * jobs_[part.problem].problem.bytes_out *
          static_cast<double>(part.range.size());
  if (random_.chance(instance_.late_chance)) at += random_.exponential(instance_.late_seconds);
  // A client delivers one part of a unit after the other.
  const bool delivers = !message.commits.empty();
  if (delivers) at = std::max(at, host.delivered_at);
  for (int tries = 0; tries < tries_max && random_.chance(instance_.loss_chance); ++tries) {
    if (random_.chance(0.5)) {  // it came, but the answer did not come back: it is sent again
      Message unanswered = message;
      unanswered.answered = false;
      push({at, ++order_, std::make_unique<Message>(std::move(unanswered))});
    }
    at += instance_.loss_retry;
  }
  if (delivers) host.delivered_at = at;
  push({at, ++order_, std::make_unique<Message>(std::move(message))});
}

// A host without a unit has nothing to tell.
void GridLoop::beat(std::size_t id) {
  LocalHost& host = hosts_[id];
  host.beats_at = now_ + host.interval;
  if (!host.answers()) return;
  if (std::all_of(host.slots.begin(), host.slots.end(), [](const LocalSlot& s) { return s.units.empty(); }))
    return;
  Message message;
  message.host = id;
  host.take_commits(jobs_, now_, instance_.commit_seconds, message.commits);
  host.take_saved(jobs_, now_, instance_.commit_seconds, message.saved);
  send(std::move(message));
}

void GridLoop::ask(std::size_t id, std::size_t slot, bool urgent, std::vector<Commit> commits,
                   std::optional<Commit> failure) {
  LocalHost& host = hosts_[id];
  if (!host.on()) return;
  Message message;
  message.host = id;
  message.commits = std::move(commits);
  message.failure = failure;
  message.urgent = urgent;
  if (!host.answers()) {  // cut off: what is finished is delivered later, what is wanted is asked for then
    if (!message.commits.empty() || message.failure) host.held.push_back(std::move(message));
    return;
  }
  // A paused host delivers, but takes nothing new; it looks again when it goes on.
  const bool wants = !host.slots[slot].asking && !host.state.paused;
  if (wants) {
    host.slots[slot].asking = true;
    message.slot = static_cast<int>(slot);
    ++run_.requests;
  }
  if (wants || !message.commits.empty() || message.failure) send(std::move(message));
}

void GridLoop::slot_end(std::size_t id, std::size_t index) {
  LocalHost& host = hosts_[id];
  LocalSlot& slot = host.slots[index];
  const LocalUnit unit = slot.units.front();
  drop(id, index, 0);
  const std::int64_t finished = unit.finished(jobs_[unit.problem].costs);
  std::vector<Commit> commits;
  std::optional<Commit> failure;
  if (unit.fails_at >= 0 && finished >= unit.fails_at && finished < unit.range.end) {
    if (finished > unit.committed)
      commits.push_back({unit.id, {unit.committed, finished}, false, unit.wrong, unit.problem});
    failure = Commit{unit.id, {finished, finished + 1}, false, false, unit.problem};
  } else if (finished > unit.committed) {
    commits.push_back(
        {unit.id, {unit.committed, finished}, finished >= unit.range.end, unit.wrong, unit.problem});
  }
  ask(id, index, slot.units.empty(), std::move(commits), failure);
  predict(id, index);
}

// When the slot's unit ends at the present speed, and when it asks ahead.
void GridLoop::predict(std::size_t id, std::size_t index) {
  LocalHost& host = hosts_[id];
  LocalSlot& slot = host.slots[index];
  const double left = host.seconds_left(jobs_, slot);
  slot.ends_at = now_ + left;
  slot.asks_at = Agenda::never;
  if (!instance_.prefetch || left == Agenda::never || slot.units.size() > 1 || slot.asking) return;
  const double lead = prefetch_round_trips * instance_.request_delay;
  slot.asks_at = now_ + std::max(0.0, left - lead);
}

void GridLoop::at_client(const Reply& reply) {
  LocalHost& host = hosts_[reply.host];
  host.advance(jobs_, now_);
  if (!host.answers()) return;
  if (reply.interval < host.interval) host.beats_at = std::min(host.beats_at, now_ + reply.interval);
  host.interval = reply.interval;
  for (const protocol::UnitOrder& order : reply.orders) obey(reply.host, order);
  if (reply.slot) take(reply.host, static_cast<std::size_t>(*reply.slot), reply);
}

void GridLoop::take(std::size_t id, std::size_t slot_index, const Reply& reply) {
  LocalSlot& slot = hosts_[id].slots[slot_index];
  slot.asking = false;
  if (!reply.unit.valid()) {
    if (!reply.urgent && !slot.units.empty()) return;
    slot.asking = true;
    slot.retries_at = now_ + std::max(reply.retry_after, shortest_retry);
    return;
  }
  LocalUnit unit;
  unit.id = reply.unit;
  unit.problem = reply.problem;
  unit.range = reply.range;
  unit.committed = unit.range.begin;
  const policy::Costs& costs = jobs_[unit.problem].costs;
  unit.work =
      costs.before(unit.range.begin) + reply.begun_share * costs.of({unit.range.begin, unit.range.begin + 1});
  const GridHost& host = instance_.hosts[id];
  const GridProblem& problem = jobs_[unit.problem].problem;
  unit.transfer_left = (problem.transfer_seconds + host.download_byte_seconds * problem.bytes_in) *
                       static_cast<double>(unit.range.size());
  unit.taken_at = now_;
  unit.kind = reply.kind;
  unit.wrong = host.wrong_chance > 0 && random_.chance(host.wrong_chance);
  unit.last_commit = now_;
  if (random_.chance(instance_.failure_chance))
    unit.fails_at = random_.between(unit.range.begin, unit.range.end - 1);
  slot.units.push_back(unit);
  predict(id, slot_index);
}

void GridLoop::drop(std::size_t id, std::size_t slot, std::size_t place) {
  auto& units = hosts_[id].slots[slot].units;
  const LocalUnit& unit = units[place];
  if (instance_.sample_seconds > 0)
    run_.spans.push_back({static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(slot), unit.taken_at,
                          now_, unit.kind, static_cast<std::uint32_t>(unit.problem)});
  units.erase(units.begin() + static_cast<std::ptrdiff_t>(place));
}

void GridLoop::obey(std::size_t id, const protocol::UnitOrder& order) {
  LocalHost& host = hosts_[id];
  for (std::size_t index = 0; index < host.slots.size(); ++index) {
    auto& units = host.slots[index].units;
    const auto unit =
        std::find_if(units.begin(), units.end(), [&](const LocalUnit& u) { return u.id == order.unit; });
    if (unit == units.end()) continue;
    if (order.action == protocol::UnitAction::cancel) {
      const std::int64_t finished = unit->finished(jobs_[unit->problem].costs);
      std::vector<Commit> commits;
      if (finished > unit->committed)
        commits.push_back({unit->id, {unit->committed, finished}, true, unit->wrong, unit->problem});
      drop(id, index, static_cast<std::size_t>(unit - units.begin()));
      ask(id, index, units.empty(), std::move(commits));
    } else if (order.end < unit->range.end) {
      unit->range.end = std::max(order.end, unit->finished(jobs_[unit->problem].costs));
    } else {
      return;
    }
    predict(id, index);
    return;
  }
}

}  // namespace gleaner::simulator
