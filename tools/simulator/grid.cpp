#include "tools/simulator/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "shared/base/random.h"
#include "tools/simulator/grid_host.h"

namespace gleaner::simulator {
namespace {

// A client asks ahead when its unit ends within so many round trips.
constexpr double prefetch_round_trips = 3;
constexpr double give_up_speed = 1e-12;

enum class EventKind {
  host_event,
  join,
  slot_end,
  prefetch,
  heartbeat,
  at_server,
  at_client,
  retry,
  restart
};

struct Event {
  double time = 0;
  std::int64_t order = 0;  // ties: as scheduled
  EventKind kind = EventKind::join;
  std::size_t host = 0;
  std::size_t index = 0;  // slot, message or host event
  std::int64_t version = 0;
  bool operator>(const Event& other) const {
    return time != other.time ? time > other.time : order > other.order;
  }
};

// Things under way between hosts and server, by index; places are used again.
template <typename Thing>
class Underway {
 public:
  std::size_t put(Thing thing) {
    if (unused_.empty()) {
      things_.push_back(std::move(thing));
      return things_.size() - 1;
    }
    const std::size_t index = unused_.back();
    unused_.pop_back();
    things_[index] = std::move(thing);
    return index;
  }
  Thing take(std::size_t index) {
    unused_.push_back(index);
    return std::move(things_[index]);
  }

 private:
  std::vector<Thing> things_;
  std::vector<std::size_t> unused_;
};

struct Reply {
  std::vector<protocol::UnitOrder> orders;
  std::optional<int> slot;
  bool urgent = true;
  std::optional<policy::Unit> unit;
  double retry_after = 0;
  double interval = 60;
};

policy::StageSetup setup_of(const GridInstance& instance) {
  policy::StageSetup setup;
  setup.items = instance.items;
  if (instance.hints) setup.costs = instance.costs;
  setup.sizing = instance.sizing;
  setup.straggler = instance.straggler;
  setup.may_split = instance.may_split;
  setup.rules = instance.rules;
  return setup;
}

class GridLoop {
 public:
  explicit GridLoop(const GridInstance& instance)
      : instance_(instance),
        costs_(instance.items, instance.costs),
        hints_(instance.items, instance.hints ? instance.costs : std::vector<double>{}),
        stage_(setup_of(instance)),
        random_(instance.seed) {
    hosts_.reserve(instance.hosts.size());
    for (const GridHost& host : instance.hosts) hosts_.emplace_back(host, costs_, hints_);
  }

  GridRun run() {
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      schedule(instance_.hosts[host].joins_at, EventKind::join, host);
      for (std::size_t i = 0; i < instance_.hosts[host].events.size(); ++i) {
        schedule(instance_.hosts[host].events[i].at, EventKind::host_event, host, i);
      }
    }
    for (const double at : instance_.restarts) schedule(at, EventKind::restart, 0);
    while (!events_.empty() && !over_ && events_.top().time <= instance_.give_up_after) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      ++run_.events;
      handle(event);
    }
    finish();
    return std::move(run_);
  }

 private:
  void schedule(double time, EventKind kind, std::size_t host, std::size_t index = 0,
                std::int64_t version = 0) {
    events_.push({time, ++order_, kind, host, index, version});
  }
  [[nodiscard]] Timestamp stamp() const { return start_ + from_seconds(now_); }

  void handle(const Event& event) {
    if (event.kind == EventKind::at_server) return at_server(event.index);
    if (event.kind == EventKind::restart) return restart();
    LocalHost& host = hosts_[event.host];
    host.advance(now_);
    switch (event.kind) {
      case EventKind::join:
        host.up = true;
        wake(event.host);
        break;
      case EventKind::host_event: {
        const bool was_up = host.answers();
        host.apply(instance_.hosts[event.host].events[event.index]);
        if (!was_up && host.answers()) wake(event.host);
        predict_all(event.host);
        break;
      }
      case EventKind::slot_end:
        if (event.version == host.slots[event.index].version) slot_end(event.host, event.index);
        break;
      case EventKind::prefetch:
        if (event.version == host.slots[event.index].version) ask(event.host, event.index, false);
        break;
      case EventKind::heartbeat:
        if (event.version == host.beats) beat(event.host);
        break;
      case EventKind::at_client:
        at_client(event.host, event.index);
        break;
      case EventKind::retry:
        host.slots[event.index].asking = false;
        if (host.slots[event.index].units.empty()) ask(event.host, event.index, true);
        break;
      case EventKind::at_server:
      case EventKind::restart:
        break;
    }
  }

  // ---- The client's side

  void wake(std::size_t id) {
    LocalHost& host = hosts_[id];
    host.advanced_to = now_;
    beat(id);
    for (std::size_t slot = 0; slot < host.slots.size(); ++slot) {
      if (host.slots[slot].units.empty()) ask(id, slot, true);
    }
    predict_all(id);
  }

  void send(Message message) {
    const std::size_t host = message.host;
    if (!hosts_[host].answers()) return;
    message.reports = hosts_[host].reports(now_);
    schedule(now_ + instance_.request_delay / 2, EventKind::at_server, host,
             messages_.put(std::move(message)));
  }

  void beat(std::size_t id) {
    LocalHost& host = hosts_[id];
    ++host.beats;
    if (!host.answers()) return;
    Message message;
    message.host = id;
    host.take_commits(now_, instance_.commit_seconds, message.commits);
    send(std::move(message));
    schedule(now_ + host.interval, EventKind::heartbeat, id, 0, host.beats);
  }

  void ask(std::size_t id, std::size_t slot, bool urgent, std::vector<Commit> commits = {},
           std::optional<Commit> failure = {}) {
    LocalHost& host = hosts_[id];
    if (!host.answers()) return;
    Message message;
    message.host = id;
    message.commits = std::move(commits);
    message.failure = failure;
    message.urgent = urgent;
    // A paused host delivers, but takes nothing new.
    const bool wants = !host.slots[slot].asking && !host.paused;
    if (wants) {
      host.slots[slot].asking = true;
      message.slot = static_cast<int>(slot);
      ++run_.requests;
    }
    if (wants || !message.commits.empty() || message.failure) send(std::move(message));
  }

  void slot_end(std::size_t id, std::size_t index) {
    LocalHost& host = hosts_[id];
    LocalSlot& slot = host.slots[index];
    if (slot.units.empty()) return;
    const LocalUnit unit = slot.units.front();
    slot.units.pop_front();
    ++slot.version;
    const std::int64_t finished = unit.finished(costs_);
    std::vector<Commit> commits;
    std::optional<Commit> failure;
    if (unit.fails_at && finished >= *unit.fails_at && finished < unit.range.end) {
      if (finished > unit.committed) commits.push_back({unit.id, {unit.committed, finished}, false});
      failure = Commit{unit.id, {finished, finished + 1}, false};
    } else if (finished > unit.committed) {
      commits.push_back({unit.id, {unit.committed, finished}, finished >= unit.range.end});
    }
    ask(id, index, slot.units.empty(), std::move(commits), failure);
    predict(id, index);
  }

  void predict_all(std::size_t id) {
    for (std::size_t slot = 0; slot < hosts_[id].slots.size(); ++slot) predict(id, slot);
  }

  void predict(std::size_t id, std::size_t index) {
    LocalHost& host = hosts_[id];
    LocalSlot& slot = host.slots[index];
    ++slot.version;
    const double left = host.seconds_left(slot);
    if (left < 0) return;
    schedule(now_ + left, EventKind::slot_end, id, index, slot.version);
    if (!instance_.prefetch || slot.units.size() > 1 || slot.asking) return;
    const double lead = prefetch_round_trips * instance_.request_delay;
    schedule(now_ + std::max(0.0, left - lead), EventKind::prefetch, id, index, slot.version);
  }

  void at_client(std::size_t id, std::size_t index) {
    LocalHost& host = hosts_[id];
    const Reply reply = replies_.take(index);
    if (!host.answers()) return;
    if (reply.interval < host.interval) {
      host.interval = reply.interval;
      ++host.beats;
      schedule(now_ + host.interval, EventKind::heartbeat, id, 0, host.beats);
    }
    host.interval = reply.interval;
    for (const protocol::UnitOrder& order : reply.orders) obey(id, order);
    if (!reply.slot) return;
    const auto slot_index = static_cast<std::size_t>(*reply.slot);
    LocalSlot& slot = host.slots[slot_index];
    slot.asking = false;
    if (reply.unit) {
      LocalUnit unit;
      unit.id = reply.unit->id;
      unit.range = reply.unit->range;
      unit.committed = unit.range.begin;
      unit.work = costs_.before(unit.range.begin);
      unit.last_commit = now_;
      if (random_.chance(instance_.failure_chance))
        unit.fails_at = random_.between(unit.range.begin, unit.range.end - 1);
      slot.units.push_back(unit);
      predict(id, slot_index);
    } else if (reply.urgent || slot.units.empty()) {
      slot.asking = true;
      schedule(now_ + std::max(reply.retry_after, 1e-3), EventKind::retry, id, slot_index);
    }
  }

  void obey(std::size_t id, const protocol::UnitOrder& order) {
    LocalHost& host = hosts_[id];
    for (std::size_t index = 0; index < host.slots.size(); ++index) {
      auto& units = host.slots[index].units;
      const auto unit =
          std::find_if(units.begin(), units.end(), [&](const LocalUnit& u) { return u.id == order.unit; });
      if (unit == units.end()) continue;
      if (order.action == protocol::UnitAction::cancel) {
        const std::int64_t finished = unit->finished(costs_);
        std::vector<Commit> commits;
        if (finished > unit->committed) commits.push_back({unit->id, {unit->committed, finished}, true});
        units.erase(unit);
        ask(id, index, units.empty(), std::move(commits));
      } else if (order.end < unit->range.end) {
        unit->range.end = std::max(order.end, unit->finished(costs_));
      }
      predict(id, index);
      return;
    }
  }

  // ---- The server's side

  void at_server(std::size_t index) {
    const Message message = messages_.take(index);
    const HostId host{static_cast<std::int64_t>(message.host) + 1};
    policy::Changes changes;
    Reply reply;
    for (const Commit& commit : message.commits) {
      const auto outcome = stage_.commit(host, commit.unit, commit.range, commit.last, stamp(), changes);
      refused_ += outcome.refusal.empty() ? 0 : 1;
    }
    for (const protocol::UnitReport& report : message.reports) {
      reply.orders.push_back(stage_.report(host, report, stamp(), changes));
    }
    if (message.failure) {
      stage_.give_back(host, message.failure->unit, policy::Stage::GiveBack::failed,
                       message.failure->range.begin, "the kernel crashed", stamp(), changes);
    }
    if (message.slot) request(message, host, reply, changes);
    stage_.tick(stamp(), changes);
    reply.interval = stage_.heartbeat_seconds(stamp());
    run_.decisions.insert(run_.decisions.end(), changes.decisions.begin(), changes.decisions.end());
    if (instance_.check_invariants) stage_.check_invariants();
    if (stage_.complete() || stage_.accepted().total() + stage_.set_aside().total() == instance_.items)
      over_ = true;
    schedule(now_ + instance_.request_delay / 2, EventKind::at_client, message.host,
             replies_.put(std::move(reply)));
  }

  void request(const Message& message, HostId host, Reply& reply, policy::Changes& changes) {
    const GridHost& real = instance_.hosts[message.host];
    policy::Requester requester;
    requester.host = host;
    requester.slot = *message.slot;
    requester.urgent = message.urgent;
    requester.slots = real.slots;
    requester.performance = real.performance > 0 ? real.performance : real.speed;
    requester.unit = UnitId{next_unit_};
    const policy::Grant grant = stage_.request(requester, stamp(), changes);
    reply.slot = message.slot;
    reply.urgent = message.urgent;
    reply.retry_after = grant.retry_after;
    if (!grant.unit) return;
    ++next_unit_;
    reply.unit = *stage_.unit(*grant.unit);
  }

  void restart() {
    std::vector<policy::Unit> units;
    for (const policy::Unit* unit : stage_.open_units()) units.push_back(*unit);
    std::vector<policy::HostRecord> records;
    for (const policy::HostRecord* record : stage_.hosts()) records.push_back(*record);
    policy::Stage fresh(setup_of(instance_));
    fresh.restore(stage_.accepted().ranges(), units, records, stage_.set_aside().ranges(), stamp());
    if (instance_.check_invariants) fresh.check_invariants();
    stage_ = std::move(fresh);
  }

  void finish() {
    run_.complete = stage_.complete();
    run_.makespan = now_;
    run_.ideal = ideal_makespan(instance_);
    run_.counts = stage_.counts(stamp());
    double work = 0;
    run_.first_dry = now_;
    for (std::size_t id = 0; id < hosts_.size(); ++id) {
      LocalHost& host = hosts_[id];
      host.advance(now_);
      work += host.work;
      GridHostResult result;
      result.work = host.work;
      for (const LocalSlot& slot : host.slots) result.dry_at = std::max(result.dry_at, slot.dry_at);
      if (const auto* record = stage_.host(HostId{static_cast<std::int64_t>(id) + 1}))
        result.units = record->units;
      if (host.speed() > 0) run_.first_dry = std::min(run_.first_dry, result.dry_at);
      run_.hosts.push_back(result);
    }
    run_.waste = work / costs_.total() - 1;
  }

  const GridInstance& instance_;
  policy::Costs costs_, hints_;
  policy::Stage stage_;
  Random random_;
  std::vector<LocalHost> hosts_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  Underway<Message> messages_;
  Underway<Reply> replies_;
  Timestamp start_{std::chrono::hours{24 * 365 * 56}};
  double now_ = 0;
  std::int64_t order_ = 0, next_unit_ = 1, refused_ = 0;
  bool over_ = false;
  GridRun run_;
};

}  // namespace

double ideal_makespan(const GridInstance& instance) {
  struct Change {
    double at;
    double speed;  // added
  };
  std::vector<Change> changes;
  for (const GridHost& host : instance.hosts) {
    const double full = host.speed * host.slots;
    double before = full, factor = 1;
    bool up = true, paused = false, vanished = false;
    changes.push_back({host.joins_at, full});
    for (const HostEvent& event : host.events) {
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
          break;
        case HostEventKind::on:
          up = true;
          break;
        case HostEventKind::vanish:
          vanished = true;
          break;
      }
      const double after = up && !paused && !vanished ? full * factor : 0;
      changes.push_back({std::max(event.at, host.joins_at), after - before});
      before = after;
    }
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.at < b.at; });
  double left = policy::Costs(instance.items, instance.costs).total();
  double speed = 0, time = 0;
  for (const Change& change : changes) {
    const double done = speed * (change.at - time);
    if (done >= left) break;
    left -= done;
    time = change.at;
    speed += change.speed;
  }
  return speed > give_up_speed ? time + left / speed : std::numeric_limits<double>::infinity();
}

Result<GridRun> run_grid(const GridInstance& instance) {
  const auto invalid = [](std::string message) { return Error{ErrorKind::invalid, std::move(message)}; };
  if (instance.items < 1) return invalid("an instance needs at least one item");
  if (instance.hosts.empty()) return invalid("an instance needs at least one host");
  if (!instance.costs.empty() && static_cast<std::int64_t>(instance.costs.size()) != instance.items) {
    return invalid(fmt::format("{} costs for {} items: give one an item, or none", instance.costs.size(),
                               instance.items));
  }
  for (const double cost : instance.costs) {
    if (!std::isfinite(cost) || cost <= 0) return invalid("costs must be numbers above 0");
  }
  for (const GridHost& host : instance.hosts) {
    if (!std::isfinite(host.speed) || host.speed <= 0)
      return invalid("a host's speed must be a number above 0");
    if (host.slots < 1) return invalid("a host needs at least one slot");
  }
  if (instance.request_delay < 0) return invalid("the request delay must be at least 0 s");
  TRY_ASSIGN(const auto sizing, policy::make_sizing(instance.sizing));
  return GridLoop(instance).run();
}

}  // namespace gleaner::simulator
