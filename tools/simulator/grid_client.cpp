#include <algorithm>
#include <cmath>
#include <utility>

#include "client/policy/proposal.h"
#include "tools/simulator/grid_loop.h"

namespace gleaner::simulator {
namespace {

using client_policy::Ask;
using client_policy::Exchange;

SteadyTime steady(double now) {
  return SteadyTime{from_seconds(now)};
}

double seconds_of(SteadyTime time) {
  return time == SteadyTime::max() ? Agenda::never : to_seconds(time.time_since_epoch());
}

}  // namespace

void GridLoop::trace_event(std::size_t id) {
  LocalHost& host = hosts_[id];
  const bool was_on = host.on(), was_paused = host.state.paused;
  host.apply(jobs_, host.coming);
  if (host.state.vanished || !host.trace.next(host.coming)) host.coming.at = Agenda::never;
  if (was_on != host.on()) {  // a client that starts knows what is on its disk, and nothing of its server
    host.advanced_to = now_;
    host.session = {};
    host.busy = false;
    host.not_told();
    for (LocalSlot& slot : host.slots) host.begin(slot, now_);
  } else if (was_paused != host.state.paused) {
    host.session.heartbeat_soon(steady(now_));
  }
  for (std::size_t slot = 0; slot < host.slots.size(); ++slot) predict(id, slot);
  exchange(id);
}

// The unit in hand is finished, or its kernel failed.
void GridLoop::slot_end(std::size_t id, std::size_t index) {
  LocalHost& host = hosts_[id];
  LocalSlot& slot = host.slots[index];
  LocalUnit& unit = slot.units.front();
  const std::int64_t finished = unit.finished(jobs_[unit.problem].costs);
  if (unit.fails_at >= 0 && finished >= unit.fails_at && finished < unit.range.end) {
    unit.failed = true;
    slot.start_at = now_ + to_seconds(slot.failures.failed(random_));
  } else if (finished > unit.range.begin) {
    slot.failures.succeeded();
  }
  end_unit(id, index, 0);
}

// Its results, and that it failed, are still to be told.
void GridLoop::end_unit(std::size_t id, std::size_t index, std::size_t place) {
  LocalHost& host = hosts_[id];
  LocalSlot& slot = host.slots[index];
  LocalUnit& unit = slot.units[place];
  if (instance_.sample_seconds > 0)
    run_.spans.push_back({static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(index), unit.taken_at,
                          now_, unit.kind, static_cast<std::uint32_t>(unit.problem)});
  if (place == 0) slot.note_end(jobs_);
  unit.over = true;
  unit.range.end = std::min(unit.range.end, unit.finished(jobs_[unit.problem].costs));
  host.ending.push_back(unit);
  slot.units.erase(slot.units.begin() + static_cast<std::ptrdiff_t>(place));
  if (place == 0) host.begin(slot, now_);
  predict(id, index);
}

// When the slot's unit ends at the present speed.
void GridLoop::predict(std::size_t id, std::size_t index) {
  LocalHost& host = hosts_[id];
  LocalSlot& slot = host.slots[index];
  slot.ends_at = now_ + host.seconds_left(jobs_, slot);
}

// ---- What it says -----------------------------------------------------------------------------------------

// As the real client's engine: what slots want, what is to be delivered, and then the most urgent of it.
void GridLoop::exchange(std::size_t id) {
  LocalHost& host = hosts_[id];
  host.talks_at = Agenda::never;
  if (!host.on() || host.busy) return;
  const SteadyTime now = steady(now_);
  scratch_.wanted.clear();
  double again = Agenda::never, piggyback = 0;
  for (std::size_t index = 0; index < host.slots.size() && !host.state.paused; ++index) {
    const LocalSlot& slot = host.slots[index];
    if (host.hoards()) {  // more of it, whatever it has
      if (host.session.may_ask(now, true)) scratch_.wanted.push_back({static_cast<int>(index), true});
      again = std::min(again, now_ + instance_.rules.park);
      continue;
    }
    if (slot.units.empty() && now_ < slot.start_at) {
      again = std::min(again, slot.start_at);
      continue;
    }
    const auto view = host.prefetch_view(slot, now_);
    const Ask ask = client_policy::should_ask(view);
    if (ask == Ask::no || (ask == Ask::soon && !instance_.prefetch)) {
      if (!instance_.prefetch) continue;
      if (const auto until = client_policy::until_ask(view))
        again = std::min(again, now_ + to_seconds(*until));
      if (const auto wait = client_policy::piggyback_wait(view)) piggyback = to_seconds(*wait);
    } else if (host.session.may_ask(now, ask == Ask::now)) {
      scratch_.wanted.push_back({static_cast<int>(index), ask == Ask::now});
    }
  }
  host.cut_segments(jobs_, now_, piggyback);
  std::erase_if(host.ending, [](const LocalUnit& unit) { return !unit.pending() && !unit.failed; });
  client_policy::Outgoing outgoing = host.outgoing(now_);
  outgoing.work = !scratch_.wanted.empty();
  const Exchange what = host.session.due(outgoing, now);
  if (what == Exchange::none) {
    host.talks_at = std::min({again, host.delivers_at(now_), seconds_of(host.session.next(outgoing, now))});
  } else if (host.state.cut) {  // nobody can be reached
    host.session.failed(std::nullopt, now, random_);
    host.talks_at = seconds_of(host.session.silent_until());
  } else {
    say(id, what);
  }
}

void GridLoop::say(std::size_t id, Exchange what) {
  LocalHost& host = hosts_[id];
  const GridHost& real = instance_.hosts[id];
  auto letter = mail_.message();
  Message& message = *letter;
  message.host = id;
  message.kind = what;
  message.exchange = ++host.exchange;
  const bool asks = what == Exchange::work;
  if (what == Exchange::failure) {
    message.failure = host.take_failure(jobs_);
  } else {
    host.take_commits(jobs_, now_, asks ? LocalHost::With::work : LocalHost::With::other, message.commits);
  }
  if (asks || what == Exchange::heartbeat) {
    host.report_units(jobs_, now_, message.reports);
    for (auto& [problem, report] : message.reports) {
      report.rate *= real.boast;
      if (real.rate_noise > 0) report.rate *= std::exp(random_.normal(0, real.rate_noise));
    }
  }
  if (what == Exchange::heartbeat) host.take_saved(jobs_, now_, message.saved);
  if (asks) {
    run_.requests += static_cast<std::int64_t>(scratch_.wanted.size());
    message.slots = scratch_.wanted;
    client_policy::ProposalView view;
    view.benchmark_mflops = performance_of(real);
    view.watts_per_core = real.watts;
    view.slowest_performance = host.slowest_performance;
    view.foreign_current = real.queue - 1;
    message.proposal = client_policy::propose(view);
  }
  host.busy = true;
  host.said_at = now_;
  double at = now_ + instance_.request_delay / 2 + real.latency;
  host.gives_up_at = now_ + instance_.request_delay + 2 * real.latency + instance_.loss_retry;
  if (random_.chance(instance_.late_chance)) at += random_.exponential(instance_.late_seconds);
  if (random_.chance(instance_.loss_chance)) {
    if (random_.chance(0.5)) return mail_.keep(std::move(letter));  // it never comes
    message.answered = false;
  }
  mail_.send({at, std::move(letter)});
}

void GridLoop::give_up(std::size_t id) {
  LocalHost& host = hosts_[id];
  host.busy = false;
  host.not_told();
  host.session.failed(std::nullopt, steady(now_), random_);
  exchange(id);
}

// ---- What it hears ----------------------------------------------------------------------------------------

void GridLoop::at_client(const Reply& reply) {
  LocalHost& host = hosts_[reply.host];
  host.advance(jobs_, now_);
  // An answer that nobody waits for any more, or that cannot come through.
  if (!host.on() || host.state.cut || !host.busy || reply.exchange != host.exchange) return;
  const SteadyTime now = steady(now_);
  host.busy = false;
  host.told();
  host.round_trip.add(from_seconds(now_ - host.said_at));
  host.session.succeeded(std::nullopt, now, random_);
  for (const UnitId unit : reply.refused) abandon(reply.host, unit);
  for (const protocol::UnitOrder& order : reply.orders) obey(reply.host, order);
  for (const Granted& granted : reply.grants) take(reply.host, granted);
  if (reply.slots > 0) {
    const client_policy::WorkOutcome outcome{reply.slots, reply.grants.size(), reply.urgent,
                                             !reply.orders.empty(), reply.retry_after};
    host.session.work_answered(outcome, now, random_);
    host.slowest_performance = reply.slowest_performance;
  }
  if (reply.interval > 0) host.session.heartbeat_in(reply.interval, now);
  exchange(reply.host);
}

void GridLoop::take(std::size_t id, const Granted& granted) {
  LocalHost& host = hosts_[id];
  LocalSlot& slot = host.slots[static_cast<std::size_t>(granted.slot)];
  LocalUnit unit;
  unit.id = granted.unit;
  unit.problem = granted.problem;
  unit.range = granted.range;
  unit.committed = unit.cut = unit.range.begin;
  unit.commit_seconds = granted.commit_seconds;
  const policy::Costs& costs = jobs_[unit.problem].costs;
  unit.work = costs.before(unit.range.begin) +
              granted.begun_share * costs.of({unit.range.begin, unit.range.begin + 1});
  const GridHost& real = instance_.hosts[id];
  const GridProblem& problem = jobs_[unit.problem].problem;
  unit.transfer_left = (problem.transfer_seconds + real.download_byte_seconds * problem.bytes_in) *
                       static_cast<double>(unit.range.size());
  host.preparation.add(from_seconds(unit.transfer_left));
  unit.taken_at = now_;
  unit.kind = granted.kind;
  unit.wrong = real.wrong_chance > 0 && random_.chance(real.wrong_chance);
  if (random_.chance(instance_.failure_chance))
    unit.fails_at = random_.between(unit.range.begin, unit.range.end - 1);
  slot.units.push_back(unit);
  if (slot.units.size() == 1) host.begin(slot, now_);
  predict(id, static_cast<std::size_t>(granted.slot));
}

void GridLoop::obey(std::size_t id, const protocol::UnitOrder& order) {
  LocalHost& host = hosts_[id];
  for (std::size_t index = 0; index < host.slots.size(); ++index) {
    auto& units = host.slots[index].units;
    const auto unit =
        std::find_if(units.begin(), units.end(), [&](const LocalUnit& u) { return u.id == order.unit; });
    if (unit == units.end()) continue;
    if (order.action == protocol::UnitAction::cancel)
      return end_unit(id, index, static_cast<std::size_t>(unit - units.begin()));
    if (order.end >= unit->range.end) return;
    unit->range.end = std::max(order.end, unit->finished(jobs_[unit->problem].costs));
    return predict(id, index);
  }
}

// What follows would not fit to what was refused.
void GridLoop::abandon(std::size_t id, UnitId unit) {
  LocalHost& host = hosts_[id];
  obey(id, {unit, protocol::UnitAction::cancel, 0, {}});
  std::erase_if(host.ending, [&](const LocalUnit& one) { return one.id == unit; });
}

}  // namespace gleaner::simulator
