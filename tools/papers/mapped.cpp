#include "tools/papers/mapped.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <queue>

#include "server/policy/mapping/mapping.h"
#include "server/policy/mapping/remap.h"
#include "shared/base/random.h"

namespace gleaner::simulator {
namespace {

using policy::Schedule;

enum class What : int { leave = 0, join = 1, finish = 2, request = 3 };  // at one instant in this order

struct MappedEvent {
  double at;
  What what;
  std::size_t host;
  std::int64_t number;  // order of creation
  friend bool operator>(const MappedEvent& a, const MappedEvent& b) {
    if (a.at != b.at) return a.at > b.at;
    if (a.what != b.what) return a.what > b.what;
    return a.number > b.number;
  }
};

struct Host {
  bool on = false;
  bool busy = false;
  std::size_t task = 0;      // if busy
  double since = 0;          // if busy
  double predicted = 0;      // seconds, as planned
  std::int64_t running = 0;  // number of its finish event; an older one is void
  std::deque<std::size_t> queue;
};

struct Stage {
  std::int64_t open = 0;             // tasks not returned
  std::vector<std::size_t> waiting;  // not yet free
};

class Grid {
 public:
  Grid(const MappedGrid& given, const policy::MappingStrategy& strategy)
      : given_(given), strategy_(strategy), hosts_(given.hosts.size()) {
    run_.started.resize(given.tasks.size());
    run_.accepted.resize(given.tasks.size());
    for (std::size_t task = 0; task < given.tasks.size(); ++task) {
      Stage& stage = stages_[{given.tasks[task].problem, given.tasks[task].stage}];
      ++stage.open;
      stage.waiting.push_back(task);
    }
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      push(given.hosts[host].joins, What::join, host);
      if (std::isfinite(given.hosts[host].leaves)) push(given.hosts[host].leaves, What::leave, host);
    }
    std::size_t problems = 0;
    for (const MappedTask& task : given.tasks) {
      problems = std::max(problems, static_cast<std::size_t>(task.problem) + 1);
    }
    seen_.resize(problems * hosts_.size());
    Random random(given.seed);
    if (given.estimate_deviation > 0) {
      for (std::size_t i = 0; i < given.tasks.size() * hosts_.size(); ++i) {
        noise_.push_back(random.normal(0, 1));
      }
    }
    release();
  }

  MappedRun run() {
    while (!events_.empty() && left_ > 0) {
      const MappedEvent event = events_.top();
      events_.pop();
      now_ = event.at;
      switch (event.what) {
        case What::join:
          hosts_[event.host].on = true;
          ++idle_;
          since_.hosts_changed = true;
          push(now_, What::request, event.host);
          break;
        case What::leave:
          leave(event.host);
          break;
        case What::finish:
          if (hosts_[event.host].busy && hosts_[event.host].running == event.number) finish(event.host);
          break;
        case What::request:
          if (hosts_[event.host].on && !hosts_[event.host].busy) request(event.host);
          break;
      }
      if (event.what != What::request) wake();
      if (run_.idle.empty() || run_.idle.back().second != idle_) run_.idle.emplace_back(now_, idle_);
    }
    run_.finished = left_ == 0;
    run_.makespan = now_;
    run_.efficiency = computed_ / (now_ * static_cast<double>(hosts_.size()));
    return std::move(run_);
  }

 private:
  std::int64_t push(double at, What what, std::size_t host) {
    events_.push({at, what, host, ++number_});
    return number_;
  }

  // The stage that is open in each problem becomes free, if it was not yet; tasks in the order given.
  void release() {
    std::vector<std::size_t> fresh;
    int last_problem = -1;
    for (auto& [key, stage] : stages_) {
      if (stage.open == 0 || key.first == last_problem) continue;
      last_problem = key.first;
      fresh.insert(fresh.end(), stage.waiting.begin(), stage.waiting.end());
      stage.waiting.clear();
    }
    std::sort(fresh.begin(), fresh.end());
    free_.insert(free_.end(), fresh.begin(), fresh.end());
  }

  // Hosts that do not poll are told when there may be something for them: not after a mere request, or two of
  // them would wake each other for ever.
  void wake() {
    std::erase_if(waiting_, [&](std::size_t host) {
      if (free_.empty() && hosts_[host].queue.empty()) return false;
      push(now_, What::request, host);
      return true;
    });
  }

  void leave(std::size_t index) {
    Host& host = hosts_[index];
    host.on = false;
    if (!host.busy) --idle_;
    if (host.busy) free_.push_front(host.task);
    host.busy = false;
    for (auto task = host.queue.rbegin(); task != host.queue.rend(); ++task) free_.push_front(*task);
    host.queue.clear();
    since_.hosts_changed = true;
  }

  void finish(std::size_t index) {
    Host& host = hosts_[index];
    host.busy = false;
    ++idle_;
    const MappedTask& task = given_.tasks[host.task];
    ++run_.accepted[host.task];
    ++seen_[observed(host.task, index)];
    ++since_.completions;
    computed_ += task.work / given_.hosts[index].rate;
    --left_;
    if (--stages_[{task.problem, task.stage}].open == 0) {
      const std::size_t before = free_.size();
      release();
      since_.work_arrived = since_.work_arrived || free_.size() > before;
    }
    request(index);
  }

  void request(std::size_t index) {
    Host& host = hosts_[index];
    since_.batch_exhausted =
        host.queue.empty() && !free_.empty() && (!given_.remap || queued() < given_.batch);
    since_.hosts = std::count_if(hosts_.begin(), hosts_.end(), [](const Host& one) { return one.on; });
    if (since_.batch_exhausted || (given_.remap && policy::should_remap(since_).remap)) plan();
    if (host.queue.empty()) {
      if (given_.poll > 0) {
        push(now_ + given_.poll, What::request, index);
      } else {
        waiting_.push_back(index);
      }
      return;
    }
    host.task = host.queue.front();
    host.queue.pop_front();
    host.busy = true;
    --idle_;
    host.since = now_;
    host.predicted = computation_estimate(host.task, index) + communication_expected(host.task, index);
    ++run_.started[host.task];
    const double seconds = given_.tasks[host.task].work / given_.hosts[index].rate +
                           communication_expected(host.task, index) *
                               (1 + given_.communication_spread * (2 * unit(host.task, 7) - 1));
    host.running = push(now_ + seconds, What::finish, index);
    run_.last_begun = now_;
  }

  [[nodiscard]] std::size_t queued() const {
    std::size_t sum = 0;
    for (const Host& host : hosts_) sum += host.queue.size();
    return sum;
  }

  void plan() {
    std::vector<std::size_t> tasks;
    if (given_.remap) {
      for (const Host& host : hosts_) tasks.insert(tasks.end(), host.queue.begin(), host.queue.end());
      std::sort(tasks.begin(), tasks.end());
    }
    const std::size_t queued = tasks.size();
    while (!free_.empty() && tasks.size() < std::max(given_.batch, queued)) {
      tasks.push_back(free_.front());
      free_.pop_front();
    }
    since_ = {};
    if (tasks.empty()) return;
    const policy::MappingInput input = input_of(tasks);
    const Schedule schedule = strategy_.generate(input);
    ++run_.plans;
    run_.largest_batch = std::max(run_.largest_batch, static_cast<std::int64_t>(tasks.size()));
    placed_ = schedule.placed;
    if (queued > 0 && queued == tasks.size() && !better(input, tasks, schedule)) return;
    if (queued > 0) ++run_.replans;
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      if (given_.remap) hosts_[host].queue.clear();
      for (const std::size_t task : schedule.queues[host]) hosts_[host].queue.push_back(tasks[task]);
    }
    for (auto task = schedule.unplaced.rbegin(); task != schedule.unplaced.rend(); ++task) {
      free_.push_front(tasks[*task]);
    }
  }

  // Than the queues as they are; `tasks` is sorted.
  [[nodiscard]] bool better(const policy::MappingInput& input, const std::vector<std::size_t>& tasks,
                            const Schedule& schedule) const {
    std::vector<std::vector<std::size_t>> queues(hosts_.size());
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      for (const std::size_t task : hosts_[host].queue) {
        queues[host].push_back(
            static_cast<std::size_t>(std::lower_bound(tasks.begin(), tasks.end(), task) - tasks.begin()));
      }
    }
    return policy::should_replace(policy::predicted_makespan(input, queues), schedule.makespan).remap;
  }

  [[nodiscard]] policy::MappingInput input_of(const std::vector<std::size_t>& tasks) const {
    policy::MappingInput input;
    input.seed = given_.seed + static_cast<std::uint64_t>(run_.plans);
    input.placed_before = placed_;
    input.computation = input.error = policy::Matrix(tasks.size(), hosts_.size());
    if (given_.communication_known) input.communication = input.computation;
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      input.rates.push_back(given_.hosts[host].rate);
      input.start.push_back(start_of(host));
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        input.computation(i, host) = computation_estimate(tasks[i], host);
        input.error(i, host) = 0.8 * deviation(tasks[i], host);  // mean |z| of a normal z
        if (given_.communication_known) {
          input.communication(i, host) = communication_expected(tasks[i], host);
        }
      }
    }
    for (const std::size_t task : tasks) input.work.push_back(given_.tasks[task].work);
    return input;
  }

  [[nodiscard]] double start_of(std::size_t index) const {
    const Host& host = hosts_[index];
    if (!host.on) return std::numeric_limits<double>::infinity();
    double queued = 0;
    if (!given_.remap) {
      for (const std::size_t task : host.queue) {
        queued += computation_estimate(task, index);
        queued += communication_expected(task, index);
      }
    }
    return policy::start_time(host.busy ? host.predicted : 0, now_ - host.since, queued);
  }

  // The same number in [0, 1) for the same task, host and use.
  [[nodiscard]] double unit(std::size_t task, std::size_t salt) const {
    return Random(given_.seed ^ (task * 0x9e3779b97f4a7c15ULL) ^ (salt * 0xc2b2ae3d27d4eb4fULL)).uniform();
  }
  [[nodiscard]] std::size_t observed(std::size_t task, std::size_t host) const {
    return static_cast<std::size_t>(given_.tasks[task].problem) * hosts_.size() + host;
  }
  [[nodiscard]] double deviation(std::size_t task, std::size_t host) const {
    return given_.estimate_deviation / std::sqrt(1 + seen_[observed(task, host)]);
  }
  [[nodiscard]] double computation_estimate(std::size_t task, std::size_t host) const {
    const double actual = given_.tasks[task].work / given_.hosts[host].rate;
    if (given_.estimate_deviation <= 0) return actual;
    return actual * std::exp(deviation(task, host) * noise_[task * hosts_.size() + host]);
  }
  [[nodiscard]] double communication_expected(std::size_t task, std::size_t host) const {
    return given_.tasks[task].communication * given_.hosts[host].link;
  }

  const MappedGrid& given_;
  const policy::MappingStrategy& strategy_;
  std::vector<Host> hosts_;
  std::priority_queue<MappedEvent, std::vector<MappedEvent>, std::greater<>> events_;
  std::deque<std::size_t> free_;                 // released, neither queued nor running
  std::map<std::pair<int, int>, Stage> stages_;  // by problem and stage
  std::vector<double> seen_;                     // observations, by problem and host
  std::vector<double> noise_;                    // normal, by task and host
  std::vector<std::size_t> waiting_;             // hosts without work, if they do not poll
  policy::SincePlan since_;
  std::uint64_t placed_ = 0;
  std::size_t left_ = given_.tasks.size();
  std::int64_t number_ = 0;
  double now_ = 0;
  double computed_ = 0;
  std::int64_t idle_ = 0;  // hosts that are on and have no task
  MappedRun run_;
};

}  // namespace

Result<MappedRun> run_mapped(const MappedGrid& grid) {
  TRY_ASSIGN(const auto strategy, policy::make_mapping(grid.strategy));
  return Grid(grid, *strategy).run();
}

}  // namespace gleaner::simulator
