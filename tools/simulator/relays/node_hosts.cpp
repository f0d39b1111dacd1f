// A node's own hosts: when each has something to say, what that is, and what it is given.
#include <algorithm>
#include <cmath>

#include "shared/protocol/pacing.h"
#include "tools/simulator/relays/node.h"
#include "tools/simulator/relays/wire_sizes.h"

namespace gleaner::simulator {
namespace {

// A host whose relay waits for more from above waits with it, for so long, and asks again so soon
// (server/relay/leases/service_order.h); one whose relay is off asks so much later at most.
constexpr double longest_wait = 15, soon = 4, spread_after_off = 10;

}  // namespace

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
    says = says || client_policy::should_ask(ahead_of(left)) == client_policy::Ask::soon;
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
    // A microsecond more, for what is lost when it is counted in these.
    const auto until = client_policy::until_ask(ahead_of(left));
    time = std::min(time, std::max(child.asks_at, until ? now_ + to_seconds(*until) + 1e-6 : now_));
  }
  if (holds) time = std::min(time, child.heartbeat_at);
  return std::min(event, std::max({time, child.busy_until, now_}));
}

// One that has so many seconds left of what it holds.
client_policy::PrefetchView RelayNode::ahead_of(double left) const {
  client_policy::PrefetchView view;
  view.busy = true;
  if (left < Agenda::never) view.remaining = from_seconds(left);
  view.round_trip = from_seconds(world_.request_delay);
  return view;
}

// All that it has to say, in one message: what is finished, how its units stand, what it lacks.
void RelayNode::exchange(std::size_t id) {
  Child& child = children_.at(id);
  const HostId host = host_of(id);
  const WireSizes& wire = wire_sizes();
  waiting_.erase(id);
  count_message();
  counts_.bytes_up += wire.request;
  counts_.bytes_down += wire.reply;
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
  if (child.asks_at <= now_ && !children_.paused(child)) ask(host, child);
  child.heartbeat_at = now_ + world_.request_delay + stage_.view().heartbeat_seconds(stamp());
  check();
}

void RelayNode::commit_finished(HostId host, Child& child, ChildSlot& slot, bool everything) {
  const std::int64_t finished = children_.finished(slot);
  const bool over = finished >= slot.unit.range.end;
  const bool due =
      over || everything || slot.running - slot.at_commit >= static_cast<float>(world_.commit_seconds);
  if (due) commit(host, slot, finished, over);
  if (over) children_.next_unit(child, slot, now_);
}

// What is finished before `end` and not delivered yet. `last`: the unit ends there.
void RelayNode::commit(HostId host, ChildSlot& slot, std::int64_t end, bool last) {
  if (end <= slot.committed) return;
  const Range segment{slot.committed, end};
  const double bytes = world_.problem.bytes_out * static_cast<double>(segment.size());
  ++counts_.segments;
  counts_.bytes_up += wire_sizes().commit + bytes;
  counts_.bytes_down += wire_sizes().acknowledgement;
  slot.committed = end;
  slot.at_commit = slot.running;
  const std::size_t child = child_of(host);
  Upload upload{now_, child, ++uploaded_, {slot.unit.id}, segment, last};
  const double seconds =
      links_.empty() ? 0
                     : bytes * static_cast<double>(world_.hosts[place_.first_host + child].up_byte_seconds);
  if (seconds <= 0) return arrive(upload);
  double& free_at = links_[child].up;
  upload.at = free_at = std::max(free_at, now_) + seconds;
  uploads_.push_back(upload);
  std::push_heap(uploads_.begin(), uploads_.end(), comes_later<Upload>);
}

void RelayNode::arrive(const Upload& upload) {
  took(stage_
           .apply(policy::CommitEvent{host_of(upload.child), upload.unit, upload.segment, upload.last},
                  stamp(), changes_)
           .accepted);
  if (!relay_ && stage_.view().complete()) over_at_ = now_;
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
  const protocol::UnitOrder order = stage_.apply(policy::ReportEvent{host, report}, stamp(), changes_);
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
    commit(host, slot, report.finished, true);
    children_.next_unit(child, slot, now_);
  } else if (!first && mine->range.empty()) {
    children_.drop_waiting(slot);
  }
}

void RelayNode::ask(HostId host, Child& child) {
  double wait = 0;
  bool asked = false, got = false, holds = false, misses = false;
  ChildSlot* slots = children_.slots_of(child);
  for (std::size_t i = 0; i < child.slots; ++i) {
    ChildSlot& slot = slots[i];
    const bool urgent = slot.unit.id == 0;
    holds = holds || !urgent;
    if (slot.next >= 0) continue;
    if (!urgent &&
        client_policy::should_ask(ahead_of(children_.seconds_left(child, slot))) != client_policy::Ask::soon)
      continue;
    asked = true;
    ++counts_.requests;
    counts_.bytes_up += wire_sizes().slot;
    if (relay_ && urgent && relay_->more_may_come() && stage_.view().ledger().free().empty()) {
      relay_->missed();
      misses = true;
      wait = std::max(wait, soon);
    } else if (give_unit(host, child, i, world_.request_delay, wait)) {
      got = true;
    }
  }
  if (!asked) return;
  if (misses && !got && !holds && waiting_.size() < waiting_most) {
    child.busy_until = child.asks_at = now_ + longest_wait + world_.request_delay;
    keep_waiting(child_of(host), {0, now_ + longest_wait, wait, {}, 0, {}});
    return;
  }
  rest(child, wait, got, world_.request_delay);
}

// `answer_after`: seconds until the host has it. False: it got nothing, and is to wait for so long.
bool RelayNode::give_unit(HostId host, Child& child, std::size_t place, double answer_after, double& wait) {
  ChildSlot& slot = children_.slots_of(child)[place];
  policy::Requester requester;
  requester.host = host;
  requester.slot = static_cast<int>(place);
  requester.urgent = slot.unit.id == 0;
  requester.slots = child.slots;
  requester.performance = child.performance;
  requester.unit = UnitId{next_unit_};
  const policy::Grant grant = stage_.apply(policy::RequestEvent{requester}, stamp(), changes_);
  if (!grant.unit) {
    wait = std::max(wait, grant.retry_after);
    if (relay_ && requester.urgent) relay_->missed();
    return false;
  }
  ++next_unit_;
  note_given(child_of(host));
  const Range range = stage_.view().unit(*grant.unit)->range;
  const double bytes = world_.problem.bytes_in * static_cast<double>(range.size());
  ++counts_.grants;
  counts_.bytes_down += wire_sizes().grant + bytes;
  double here_at = now_ + answer_after;
  if (relay_ && bytes > 0) {
    inputs_free_ = std::max(inputs_free_, now_) + bytes * world_.down_byte_seconds;
    here_at += inputs_free_ - now_ + bytes * world_.down_byte_seconds * static_cast<double>(place_.level - 1);
  }
  if (!links_.empty()) {
    const std::size_t id = child_of(host);
    double& free_at = links_[id].down;
    here_at = free_at = std::max(free_at, here_at) +
                        bytes * static_cast<double>(world_.hosts[place_.first_host + id].down_byte_seconds);
  }
  children_.give(child, slot,
                 {grant.unit->value, range,
                  here_at + world_.problem.transfer_seconds * static_cast<double>(range.size())},
                 now_);
  return true;
}

// As clients do (shared/protocol/pacing.h).
void RelayNode::rest(Child& child, double wait, bool got, double answer_after) {
  if (wait == 0) {
    child.empty_handed = 0;
    return;
  }
  if (!got && wait >= protocol::rest_min && child.empty_handed < 255) ++child.empty_handed;
  const double grown =
      std::min(protocol::rest_max, wait * std::pow(protocol::rest_growth, child.empty_handed - 1));
  child.asks_at =
      now_ + answer_after + std::max(wait, grown) * (1 + protocol::wait_spread * random_.uniform());
}

}  // namespace gleaner::simulator
