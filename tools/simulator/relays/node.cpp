#include "tools/simulator/relays/node.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <utility>

#include "client/policy/prefetch.h"
#include "shared/protocol/pacing.h"
#include "tools/simulator/relays/wire_sizes.h"

namespace gleaner::simulator {
namespace {

constexpr double tail_share = 0.95;
// A host whose relay waits for more from above asks again so soon; one whose relay is off, so much later at
// most.
constexpr double soon = 4, spread_after_off = 10;
// First contacts are spread over a minute, and in short jobs over this part of them.
constexpr double first_contacts = 60, first_share = 1.0 / 120;

template <typename Letter>
bool comes_later(const Letter& a, const Letter& b) {
  return std::tie(a.at, a.child, a.number) > std::tie(b.at, b.child, b.number);
}

template <typename Letter>
Letter take_first(std::vector<Letter>& heap) {
  std::pop_heap(heap.begin(), heap.end(), comes_later<Letter>);
  Letter letter = std::move(heap.back());
  heap.pop_back();
  return letter;
}

// Closed units that a stage remembers for late results: of a thousand relays, all that they would is too
// much.
constexpr std::size_t closed_least = 1000, closed_share = 4;

policy::StageSetup setup_of(const RelayWorld& world, const RelayNode::Place& place) {
  const GridProblem& problem = world.problem;
  policy::StageSetup setup;
  setup.items = problem.items;
  if (problem.hints) setup.costs = problem.hint_costs.empty() ? problem.costs : problem.hint_costs;
  setup.sizing = world.sizing;
  setup.commit_seconds = world.commit_seconds;
  setup.may_split = problem.may_split;
  setup.rules = world.rules;
  setup.explain = false;
  setup.elsewhere = place.level > 0;
  setup.closed_units_max =
      std::max({closed_least, (place.end_host - place.first_host) / closed_share, 100 * place.relays});
  if (world.benchmark_known) setup.benchmark_worth = 1 / problem.item_seconds;
  return setup;
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

HostId host_of(std::size_t child) {
  return {static_cast<std::int64_t>(child) + 1};
}

}  // namespace

RelayNode::RelayNode(const RelayWorld& world, const WorldWork& work, const Place& place)
    : world_(world),
      work_(work),
      place_(place),
      stage_(setup_of(world, place)),
      children_(world, work.costs, place.first_host, place.end_host),
      agenda_(std::max<std::size_t>(1, children_.size())),
      random_(place.seed),
      held_(place.relays),
      down_free_(place.relays, 0) {
  for (std::size_t i = 0; i < place.relays; ++i) stage_.admit_relay(host_of(i));
  for (std::size_t i = 0; i < children_.size(); ++i) {
    const Child& child = children_.at(i);
    agenda_.set(i, child.lively < 0 ? first_contact() : children_.next_event(child));
  }
  counts_.nodes = 1;
  if (place.level == 0) return;
  relay_.emplace(stage_, world.relay);
  begin(cut_, world.cut_gap, world.cut_length);
  begin(off_, world.off_gap, world.off_length);
  if (world.vanish_mean > 0) vanish_at_ = random_.exponential(world.vanish_mean);
}

// ---- Time

double RelayNode::first_contact() {
  return random_.uniform() * std::min(first_contacts, first_share * world_.ideal_seconds);
}

double RelayNode::seconds_of(Timestamp time) const {
  return time == Timestamp::max() ? Agenda::never : to_seconds(time - start_);
}

void RelayNode::begin(Spell& spell, double gap, double length) {
  if (gap <= 0) return;
  spell.gap = gap;
  spell.length = length;
  spell.from = now_ + random_.exponential(gap);
  spell.until = spell.from + random_.exponential(length);
}

bool RelayNode::in(Spell& spell) {
  while (spell.until <= now_) begin(spell, spell.gap, spell.length);
  return spell.from <= now_;
}

double RelayNode::next() const {
  if (gone_) return Agenda::never;
  double first = std::min(agenda_.time(), vanish_at_);
  if (!from_below_.empty()) first = std::min(first, from_below_.front().at);
  if (!from_above_.empty()) first = std::min(first, from_above_.front().at);
  if (relay_) first = std::min({first, speaks_at_, gives_up_at_});
  return first;
}

void RelayNode::run_until(double end) {
  for (double time = next(); time < end && !over(); time = next()) {
    now_ = time;
    ++events_;
    if (now_ >= ticks_at_) {  // as a server does once a second
      stage_.tick(stamp(), changes_);
      ticks_at_ = now_ + 1;
    }
    if (vanish_at_ <= now_) {
      for (std::size_t i = 0; i < children_.size(); ++i) {
        children_.advance(children_.at(i), now_);
        children_.at(i).gone = true;
      }
      gone_ = true;
      return;
    }
    if (!from_above_.empty() && from_above_.front().at <= now_) {
      answered(take_first(from_above_));
    } else if (!from_below_.empty() && from_below_.front().at <= now_) {
      ToParent letter = take_first(from_below_);
      if (!in(off_)) serve(letter);
    } else if (relay_ && gives_up_at_ <= now_) {
      gives_up_at_ = Agenda::never;
      relay_->not_told(stamp());
    } else if (agenda_.time() <= now_) {
      const std::size_t host = agenda_.host();
      host_due(host);
      agenda_.set(host, host_next(host));
    }
    if (relay_) speak();
    changes_ = {};
  }
}

// ---- Hosts

void RelayNode::host_due(std::size_t id) {
  Child& child = children_.at(id);
  children_.advance(child, now_);
  if (children_.befall(child, now_)) {  // a client that starts says how its units stand
    child.advanced_to = now_;
    child.heartbeat_at = child.asks_at = child.busy_until = now_ > 0 ? now_ : first_contact();
  }
  if (!children_.on(child) || child.busy_until > now_) return;
  if (in(off_)) {
    child.busy_until = off_.until + random_.uniform() * spread_after_off;
    return;
  }
  bool says = child.heartbeat_at <= now_;
  const bool may_ask = child.asks_at <= now_ && !children_.paused(child);
  ChildSlot* slots = children_.slots_of(child);
  for (std::size_t i = 0; i < child.slots && !says; ++i) {
    ChildSlot& slot = slots[i];
    const double left = children_.seconds_left(child, slot);
    says = slot.unit.id == 0 ? may_ask : left <= 0 || children_.finished(slot) >= slot.unit.range.end;
    if (slot.unit.id == 0 || slot.next >= 0 || !may_ask || left == Agenda::never) continue;
    client_policy::PrefetchView view;
    view.busy = true;
    view.remaining = from_seconds(left);
    view.round_trip = from_seconds(world_.request_delay);
    says = says || client_policy::should_ask(view) == client_policy::Ask::soon;
  }
  if (says) exchange(id);
}

double RelayNode::host_next(std::size_t id) {
  Child& child = children_.at(id);
  const double event = children_.next_event(child);
  if (!children_.on(child)) return event;
  bool holds = false;
  double time = Agenda::never;
  const bool paused = children_.paused(child);
  ChildSlot* slots = children_.slots_of(child);
  for (std::size_t i = 0; i < child.slots; ++i) {
    ChildSlot& slot = slots[i];
    if (slot.unit.id == 0) {
      if (!paused) time = std::min(time, child.asks_at);
      continue;
    }
    holds = true;
    const double left = children_.seconds_left(child, slot);
    if (left == Agenda::never) continue;
    time = std::min(time, now_ + left);
    if (slot.next >= 0 || paused) continue;
    client_policy::PrefetchView view;
    view.busy = true;
    view.remaining = from_seconds(left);
    view.round_trip = from_seconds(world_.request_delay);
    // A microsecond more, for what is lost when it is counted in these.
    const auto until = client_policy::until_ask(view);
    time = std::min(time, std::max(child.asks_at, until ? now_ + to_seconds(*until) + 1e-6 : now_));
  }
  if (holds) time = std::min(time, child.heartbeat_at);
  return std::min(event, std::max({time, child.busy_until, now_}));
}

// All that it has to say, in one message: what is finished, how its units stand, what it lacks.
void RelayNode::exchange(std::size_t id) {
  Child& child = children_.at(id);
  const HostId host = host_of(id);
  const WireSizes& wire = wire_sizes();
  ++counts_.messages;
  counts_.bytes_up += wire.request;
  counts_.bytes_down += wire.reply;
  if (const auto second = static_cast<std::int64_t>(now_); second != this_second_) {
    this_second_ = second;
    in_this_second_ = 0;
  }
  counts_.peak_second = std::max(counts_.peak_second, ++in_this_second_);
  ChildSlot* slots = children_.slots_of(child);
  bool holds = false;
  for (std::size_t i = 0; i < child.slots; ++i) {
    ChildSlot& slot = slots[i];
    if (slot.unit.id == 0) continue;
    commit_finished(host, child, slot, children_.paused(child));
    report_units(host, child, slot);
    holds = holds || slot.unit.id != 0;
  }
  child.busy_until = now_ + world_.request_delay;
  if (child.asks_at <= now_ && !children_.paused(child)) ask(host, id, child);
  child.heartbeat_at = now_ + world_.request_delay + stage_.heartbeat_seconds(stamp());
  check();
  if (!relay_ && stage_.complete()) over_at_ = now_;
}

void RelayNode::commit_finished(HostId host, Child& child, ChildSlot& slot, bool everything) {
  const std::int64_t finished = children_.finished(slot);
  const bool over = finished >= slot.unit.range.end;
  const bool due =
      over || everything || slot.running - slot.at_commit >= static_cast<float>(world_.commit_seconds);
  if (due && finished > slot.committed) {
    const auto outcome =
        stage_.commit(host, {slot.unit.id}, {slot.committed, finished}, over, stamp(), changes_);
    ++counts_.segments;
    counts_.bytes_up +=
        wire_sizes().commit + world_.problem.bytes_out * static_cast<double>(finished - slot.committed);
    counts_.bytes_down += wire_sizes().acknowledgement;
    slot.committed = finished;
    slot.at_commit = slot.running;
    took(outcome.accepted);
  }
  if (over) children_.next_unit(child, slot, now_);
}

void RelayNode::report_units(HostId host, Child& child, ChildSlot& slot) {
  if (const ChildUnit* waits = children_.waiting(slot)) report(host, child, slot, *waits, false);
  if (slot.unit.id != 0) report(host, child, slot, ChildUnit(slot.unit), true);
}

void RelayNode::report(HostId host, Child& child, ChildSlot& slot, const ChildUnit& unit, bool first) {
  protocol::UnitReport report;
  report.unit = {unit.id};
  report.finished = first ? children_.finished(slot) : unit.range.begin;
  report.state = children_.paused(child) ? protocol::RunState::paused
                 : first                 ? protocol::RunState::running
                                         : protocol::RunState::waiting;
  if (first) {
    const double partial = std::max(0.0, slot.work - work_.costs.before(report.finished));
    report.running_seconds = slot.running;
    report.item_seconds = std::min<double>(slot.running, partial / child.speed);
    if (world_.problem.progress && report.finished < unit.range.end)
      report.item_share = std::min(1.0, partial / work_.costs.of({report.finished, report.finished + 1}));
  }
  const protocol::UnitOrder order = stage_.report(host, report, stamp(), changes_);
  ++counts_.reports;
  counts_.bytes_up += wire_sizes().report;
  counts_.bytes_down += wire_sizes().order;
  ChildUnit* mine = first ? &slot.unit : children_.waiting(slot);
  const bool over = order.action == protocol::UnitAction::cancel;
  if (!over && order.end >= mine->range.end) return;
  const std::int64_t end = over ? mine->range.begin : std::max(order.end, report.finished);
  mine->range.end = end;
  // What is finished of what was taken away goes with the last segment.
  if (first && (over || report.finished >= end)) {
    if (report.finished > slot.committed) {
      const auto outcome =
          stage_.commit(host, {unit.id}, {slot.committed, report.finished}, true, stamp(), changes_);
      ++counts_.segments;
      counts_.bytes_up += wire_sizes().commit;
      counts_.bytes_down += wire_sizes().acknowledgement;
      took(outcome.accepted);
    }
    children_.next_unit(child, slot, now_);
  } else if (!first && mine->range.empty()) {
    children_.drop_waiting(slot);
  }
}

void RelayNode::ask(HostId host, std::size_t id, Child& child) {
  static_cast<void>(id);
  double wait = 0;
  bool asked = false, got = false;
  ChildSlot* slots = children_.slots_of(child);
  for (std::size_t i = 0; i < child.slots; ++i) {
    ChildSlot& slot = slots[i];
    const bool urgent = slot.unit.id == 0;
    if (slot.next >= 0) continue;
    if (!urgent) {
      client_policy::PrefetchView view;
      view.busy = true;
      if (const double left = children_.seconds_left(child, slot); left < Agenda::never)
        view.remaining = from_seconds(left);
      view.round_trip = from_seconds(world_.request_delay);
      if (client_policy::should_ask(view) != client_policy::Ask::soon) continue;
    }
    asked = true;
    ++counts_.requests;
    counts_.bytes_up += wire_sizes().slot;
    if (relay_ && urgent && relay_->more_may_come() && stage_.ledger().free().empty()) {
      relay_->missed();
      wait = std::max(wait, soon);
      continue;
    }
    policy::Requester requester;
    requester.host = host;
    requester.slot = static_cast<int>(i);
    requester.urgent = urgent;
    requester.slots = child.slots;
    requester.performance = child.performance;
    requester.unit = UnitId{next_unit_};
    const policy::Grant grant = stage_.request(requester, stamp(), changes_);
    if (!grant.unit) {
      wait = std::max(wait, grant.retry_after);
      if (relay_ && urgent) relay_->missed();
      continue;
    }
    ++next_unit_;
    got = true;
    const Range range = stage_.unit(*grant.unit)->range;
    ++counts_.grants;
    counts_.bytes_down += wire_sizes().grant + world_.problem.bytes_in * static_cast<double>(range.size());
    children_.give(
        child, slot,
        {grant.unit->value, range,
         now_ + world_.request_delay + world_.problem.transfer_seconds * static_cast<double>(range.size())},
        now_);
  }
  if (!asked) return;
  if (wait == 0) {
    child.empty_handed = 0;
    return;
  }
  // As clients do (shared/protocol/pacing.h).
  if (!got && wait >= protocol::rest_min && child.empty_handed < 255) ++child.empty_handed;
  const double grown =
      std::min(protocol::rest_max, wait * std::pow(protocol::rest_growth, child.empty_handed - 1));
  child.asks_at =
      now_ + world_.request_delay + std::max(wait, grown) * (1 + protocol::wait_spread * random_.uniform());
}

// ---- Relays below

double RelayNode::bytes_of(const policy::RelayMessage& message) const {
  const WireSizes& wire = wire_sizes();
  double bytes = wire.request + static_cast<double>(message.reports.size()) * wire.report +
                 (message.ask ? wire.slot : 0);
  for (const policy::RelayCommit& commit : message.commits)
    bytes += wire.commit + world_.problem.bytes_out * static_cast<double>(commit.range.size());
  return bytes;
}

void RelayNode::hear(ToParent letter) {
  from_below_.push_back(std::move(letter));
  std::push_heap(from_below_.begin(), from_below_.end(), comes_later<ToParent>);
}

void RelayNode::serve(ToParent& letter) {
  const WireSizes& wire = wire_sizes();
  const policy::RelayMessage& message = letter.message;
  ++counts_.messages;
  if (const auto second = static_cast<std::int64_t>(now_); second != this_second_) {
    this_second_ = second;
    in_this_second_ = 0;
  }
  counts_.peak_second = std::max(counts_.peak_second, ++in_this_second_);
  counts_.segments += static_cast<std::int64_t>(message.commits.size());
  counts_.reports += static_cast<std::int64_t>(message.reports.size());
  counts_.requests += message.ask ? 1 : 0;
  const double started = processor_seconds();
  auto served = policy::serve_relay(stage_, host_of(letter.child), message, held_[letter.child],
                                    UnitId{next_unit_}, relay_ && relay_->more_may_come(), stamp(), changes_);
  counts_.policy_seconds += processor_seconds() - started;
  if (relay_ && message.ask && !served.reply.grant) relay_->missed();
  took(served.accepted);
  counts_.bytes_up += bytes_of(message);
  double bytes = wire.reply + static_cast<double>(served.reply.orders.size()) * wire.order +
                 static_cast<double>(message.commits.size()) * wire.acknowledgement;
  if (const auto& grant = served.reply.grant) {
    ++next_unit_;
    ++counts_.grants;
    bytes += wire.grant + world_.problem.bytes_in * static_cast<double>(grant->range.size());
  }
  counts_.bytes_down += bytes;
  double& free_at = down_free_[letter.child];
  free_at = std::max(free_at, now_) + bytes * world_.down_byte_seconds;
  down.push_back({free_at + world_.request_delay / 2 + world_.latency, letter.child, letter.number,
                  std::move(served.reply)});
  check();
  if (!relay_ && stage_.complete()) over_at_ = now_;
}

// ---- The node above

void RelayNode::hear(ToRelay letter) {
  from_above_.push_back(std::move(letter));
  std::push_heap(from_above_.begin(), from_above_.end(), comes_later<ToRelay>);
}

void RelayNode::answered(const ToRelay& letter) {
  if (letter.number != said_ || gives_up_at_ == Agenda::never || in(cut_) || in(off_)) return;
  gives_up_at_ = Agenda::never;
  relay_->told(letter.reply, stamp(), changes_);
}

void RelayNode::speak() {
  const Timestamp due = relay_->due(stamp());
  // A microsecond more, for what is lost when it is counted in these.
  speaks_at_ = seconds_of(due) + 1e-6;
  if (due > stamp()) return;
  if (in(off_)) {
    speaks_at_ = off_.until;
    return;
  }
  policy::RelayMessage message = relay_->say(place_.performance, stamp());
  ++said_;
  speaks_at_ = Agenda::never;
  gives_up_at_ = now_ + world_.request_delay + 2 * world_.latency + world_.lost_retry;
  if (in(cut_)) {
    ++cuts_;
    return;
  }
  const double bytes = bytes_of(message);
  up_free_ = std::max(up_free_, now_) + bytes * world_.up_byte_seconds;
  gives_up_at_ += up_free_ - now_;
  up.push_back(
      {up_free_ + world_.request_delay / 2 + world_.latency, place_.child, said_, std::move(message)});
}

// ---- What is counted and checked

void RelayNode::took(const std::vector<Range>& accepted) {
  if (relay_) return relay_->accepted(accepted);
  for (const Range range : accepted) accepted_work_ += work_.costs.of(range);
  if (t95_ == 0 && accepted_work_ >= tail_share * work_.costs.total()) t95_ = now_;
}

void RelayNode::check() {
  if (world_.check_every == 0) return;
  if (++received_ % world_.check_every == 0) {
    stage_.check_invariants();
  } else {
    stage_.check_changed(changes_);
  }
}

void RelayNode::finish(double now) {
  now_ = std::max(now_, now);
  if (world_.check_every > 0) stage_.check_invariants();
  const policy::StageCounts counts = stage_.counts(stamp());
  counts_.splits = counts.splits;
  counts_.copies = counts.copies;
  counts_.recovered = counts.recovered;
}

}  // namespace gleaner::simulator
