#include "tools/papers/paper.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <queue>

#include "server/policy/sizing/rules.h"

namespace gleaner::simulator {
namespace {

// Share of the items whose completion leaves out the workers that have returned nothing
// (server/policy/sizing/SIZING.md).
constexpr double omission_share = 0.7;
// A result that took no time counts as this.
constexpr double elapsed_least = 1e-9;

struct Task {
  std::vector<Range> ranges;
  std::int64_t items = 0;
  double started = 0;   // when it was assigned
  double begun = 0;     // when the worker had it
  bool copied = false;  // was copied, or is a copy itself
};

struct PaperEvent {
  double time;
  int host;
  bool operator>(const PaperEvent& other) const {
    return time != other.time ? time > other.time : host > other.host;
  }
};

class PaperLoop {
 public:
  PaperLoop(const PaperInstance& instance, std::unique_ptr<policy::SizingStrategy> strategy)
      : instance_(instance),
        strategy_(std::move(strategy)),
        tasks_(instance.hosts.size()),
        left_(instance.items) {
    cost_before_.reserve(static_cast<std::size_t>(instance.items) + 1);
    cost_before_.push_back(0);
    for (std::int64_t i = 0; i < instance.items; ++i) {
      cost_before_.push_back(cost_before_.back() + cost_of(i));
    }
    for (const PaperHost& host : instance.hosts) {
      policy::WorkerView worker;
      worker.host = HostId{static_cast<std::int64_t>(workers_.size()) + 1};
      worker.performance = host.performance > 0 ? host.performance : host.speed;
      worker.clock = host.clock;
      workers_.push_back(worker);
      if (instance.model) loads_.emplace_back(*instance.model, workers_.size());
    }
    completed_at_.assign(workers_.size(), -1);
    cost_variation_ = policy::variation_of(instance.costs);
    run_.accepted.assign(static_cast<std::size_t>(instance.items), 0);
  }

  PaperRun run() {
    const double first = instance_.model ? instance_.model->first_request : 0;
    for (std::size_t host = 0; host < workers_.size(); ++host) {
      look_at_queue(host, first);
      request(host, serve(first, 0));
    }
    while (!events_.empty() && completed_ < instance_.items) {
      const PaperEvent event = events_.top();
      events_.pop();
      const auto host = static_cast<std::size_t>(event.host);
      look_at_queue(host, event.time);
      const double served = serve(event.time, tasks_[host]->items);
      completed_at_[host] = event.time;
      const bool given_back = result(host, event.time);
      if (completed_ == instance_.items) {
        run_.makespan = served;
        break;
      }
      request(host, served);
      if (given_back) {
        const std::vector<std::size_t> waiting = std::exchange(idle_, {});
        for (const std::size_t other : waiting) request(other, served);
      }
    }
    run_.complete = completed_ == instance_.items;
    run_.requests = static_cast<std::int64_t>(run_.grants.size());
    return std::move(run_);
  }

 private:
  // The master takes requests one at a time, in the order in which they come: when this one is answered.
  double serve(double arrival, std::int64_t items) {
    if (!instance_.model) return arrival;
    master_free_ = std::max(arrival, master_free_) + instance_.model->service +
                   instance_.model->service_per_item * static_cast<double>(items);
    return master_free_;
  }

  // What the worker sees of its own job queue when it asks (Qc): itself and the foreign jobs.
  void look_at_queue(std::size_t host, double now) {
    if (instance_.model) workers_[host].queue_current = 1 + loads_[host].jobs(now);
  }

  double finish(std::size_t host, double cost, double begin) {
    if (!instance_.model) return begin + cost / instance_.hosts[host].speed;
    return loads_[host].finish(begin, (cost + instance_.model->request_cost) / instance_.hosts[host].speed);
  }

  void request(std::size_t host, double now) {
    if (!workers_[host].available || now >= instance_.hosts[host].dies_at) return;
    if (left_ == 0) {
      if (!instance_.duplicate || !copy(host, now)) idle_.push_back(host);
      return;
    }
    policy::SizingView view;
    view.items = instance_.items;
    view.free = left_;
    view.completed = completed_;
    view.workers = workers_;
    view.requester = host;
    view.free_cost = static_cast<double>(left_);
    view.cost_variation = cost_variation_;
    view.limits = instance_.limits;
    view.explain = false;
    view.memory = memory_;
    if (instance_.slowest_registered > 0) {
      view.fleet = policy::fleet_of(view);
      view.fleet.slowest_performance = std::min(view.fleet.slowest_performance, instance_.slowest_registered);
    }
    const policy::Size size = strategy_->size(view);
    if (size.items == 0) {
      idle_.push_back(host);
      return;
    }
    workers_[host].used_performance = size.used_performance;
    workers_[host].current_size = size.current_size;
    memory_ = size.memory;
    ++workers_[host].requests;
    start(host, take(size.items), size.items, false, now);
  }

  // Given-back ranges first, most recent first; then the next contiguous range.
  std::vector<Range> take(std::int64_t count) {
    std::vector<Range> ranges;
    left_ -= count;
    while (count > 0 && !returned_.empty()) {
      Range& range = returned_.back();
      const Range part{range.begin, std::min(range.end, range.begin + count)};
      ranges.push_back(part);
      count -= part.size();
      range.begin = part.end;
      if (range.empty()) returned_.pop_back();
    }
    if (count > 0) {
      ranges.push_back({fresh_, fresh_ + count});
      fresh_ += count;
    }
    return ranges;
  }

  bool copy(std::size_t host, double now) {
    std::optional<std::size_t> slowest;
    for (std::size_t other = 0; other < tasks_.size(); ++other) {
      if (other == host || !tasks_[other] || tasks_[other]->copied || !workers_[other].available) continue;
      if (!slowest || workers_[other].performance < workers_[*slowest].performance) slowest = other;
    }
    if (!slowest) return false;
    tasks_[*slowest]->copied = true;
    start(host, tasks_[*slowest]->ranges, tasks_[*slowest]->items, true, now);
    ++run_.copies;
    return true;
  }

  void start(std::size_t host, std::vector<Range> ranges, std::int64_t count, bool is_copy, double now) {
    double cost = 0;
    for (const Range range : ranges) {
      cost += cost_before_[static_cast<std::size_t>(range.end)] -
              cost_before_[static_cast<std::size_t>(range.begin)];
    }
    const double begin = instance_.model ? now + instance_.model->latency : now;
    if (completed_at_[host] >= 0) run_.idle_seconds += begin - completed_at_[host];
    const double end = finish(host, cost, begin);
    if (end < instance_.hosts[host].dies_at) events_.push({end, static_cast<int>(host)});
    tasks_[host] = Task{std::move(ranges), count, now, begin, is_copy};
    run_.grants.push_back({static_cast<int>(host), count, is_copy});
  }

  // Answers whether items came back by omission.
  bool result(std::size_t host, double now) {
    const Task task = *std::exchange(tasks_[host], std::nullopt);
    for (const Range range : task.ranges) {
      for (std::int64_t item = range.begin; item < range.end; ++item) {
        workers_[host].times.add_piece(1, cost_of(item) / instance_.hosts[host].speed);
        std::int64_t& times = run_.accepted[static_cast<std::size_t>(item)];
        if (times > 0) continue;
        ++times;
        ++completed_;
      }
      if (!workers_[host].available) forget_returned(range);
    }
    policy::WorkerView& worker = workers_[host];
    const double elapsed = std::max(now - task.started, elapsed_least);
    const double computing = std::max(now - task.begun, elapsed_least);
    ++worker.returned;
    worker.rate = static_cast<double>(task.items) / elapsed;
    worker.times.add_unit(static_cast<double>(task.items), computing, elapsed);
    if (omitted_ || !instance_.omit) return false;
    if (static_cast<double>(completed_) < omission_share * static_cast<double>(instance_.items)) return false;
    omitted_ = true;
    return omit();
  }

  [[nodiscard]] double cost_of(std::int64_t item) const {
    return instance_.costs.empty() ? 1.0 : instance_.costs[static_cast<std::size_t>(item)];
  }

  bool omit() {
    bool any = false;
    for (std::size_t host = 0; host < workers_.size(); ++host) {
      if (workers_[host].returned > 0 || !tasks_[host]) continue;
      workers_[host].available = false;
      for (const Range range : tasks_[host]->ranges) {
        for (std::int64_t item = range.begin; item < range.end; ++item) {
          if (run_.accepted[static_cast<std::size_t>(item)] > 0) continue;
          give_back(item);
          any = true;
        }
      }
    }
    return any;
  }

  void give_back(std::int64_t item) {
    ++left_;
    ++run_.given_back;
    if (!returned_.empty() && returned_.back().end == item) {
      ++returned_.back().end;
    } else {
      returned_.push_back({item, item + 1});
    }
  }

  // A left-out worker answered after all: what of it is still in the pool needs no second computation.
  void forget_returned(Range range) {
    std::vector<Range> kept;
    for (const Range have : returned_) {
      const Range both = intersection(have, range);
      left_ -= both.size();
      if (both.empty()) {
        kept.push_back(have);
        continue;
      }
      if (have.begin < both.begin) kept.push_back({have.begin, both.begin});
      if (both.end < have.end) kept.push_back({both.end, have.end});
    }
    returned_ = std::move(kept);
  }

  const PaperInstance& instance_;
  std::unique_ptr<policy::SizingStrategy> strategy_;
  std::vector<policy::WorkerView> workers_;
  std::vector<std::optional<Task>> tasks_;
  std::vector<double> cost_before_;
  double cost_variation_ = 0;
  policy::StageMemory memory_;
  std::vector<ForeignLoad> loads_;    // a worker each, with a model
  std::vector<double> completed_at_;  // its last result; negative: none yet
  double master_free_ = 0;
  std::priority_queue<PaperEvent, std::vector<PaperEvent>, std::greater<>> events_;
  std::vector<std::size_t> idle_;
  std::vector<Range> returned_;
  std::int64_t fresh_ = 0;
  std::int64_t left_ = 0;
  std::int64_t completed_ = 0;
  bool omitted_ = false;
  PaperRun run_;
};

}  // namespace

Result<PaperRun> run_paper(const PaperInstance& instance) {
  const auto invalid = [](std::string message) { return Error{ErrorKind::invalid, std::move(message)}; };
  if (instance.items < 1) return invalid("an instance needs at least one item");
  if (instance.hosts.empty()) return invalid("an instance needs at least one host");
  if (!instance.costs.empty() && static_cast<std::int64_t>(instance.costs.size()) != instance.items) {
    return invalid(fmt::format("{} costs for {} items: give one an item, or none", instance.costs.size(),
                               instance.items));
  }
  for (const double cost : instance.costs) {
    if (!std::isfinite(cost) || cost < 0) return invalid("costs must be numbers of at least 0");
  }
  for (const PaperHost& host : instance.hosts) {
    if (!std::isfinite(host.speed) || host.speed <= 0)
      return invalid("a host's speed must be a number above 0");
  }
  TRY_ASSIGN(auto strategy, policy::make_sizing(instance.strategy));
  return PaperLoop(instance, std::move(strategy)).run();
}

}  // namespace gleaner::simulator
