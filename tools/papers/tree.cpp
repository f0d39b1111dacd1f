#include "tools/papers/tree.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <queue>
#include <tuple>

#include "shared/planning/serving.h"

namespace gleaner::simulator {
namespace {

using planning::ChildView;
using planning::RelayView;

enum class Ending { computed, task_sent, result_sent };

struct TreeEvent {
  double at = 0;
  std::uint64_t order = 0;
  Ending ending = Ending::computed;
  std::size_t node = 0;   // who computed, or sent
  std::size_t other = 0;  // who receives
  double began = 0;
  friend bool operator>(const TreeEvent& a, const TreeEvent& b) {
    return std::tie(a.at, a.order) > std::tie(b.at, b.order);
  }
};

// What waits for a receiver: the sender has committed to it.
struct Sending {
  std::size_t from = 0;
  bool task = true;
};

struct Relay {
  std::vector<std::size_t> children;
  std::size_t place = 0;  // among its siblings
  RelayView view;
  std::unique_ptr<planning::ServingRule> rule;
  planning::TaskThreshold threshold;
  std::int64_t tasks = 0, results = 0;  // buffered
  int pending = 0, in_flight = 0;       // own requests that stand, and tasks on their way here
  bool computing = false, sending = false, receiving = false;
  std::deque<Sending> waiting;  // for its receiving port
  std::uint64_t requests = 0;   // of all children so far
  std::vector<std::deque<std::uint64_t>> asked;
  // Round robin: how the tasks of the period in progress are still to be spread.
  std::deque<std::size_t> pushes;  // children to be sent a task, in order
  std::size_t turn = 0;
  std::int64_t turn_left = 0;
};

class Simulation {
 public:
  explicit Simulation(const TreeInstance& instance)
      : instance_(instance), push_(instance.rule == "round-robin"), left_(instance.tasks) {}

  Result<TreeRun> run() {
    TRY(build());
    if (push_) release_period(0);
    for (std::size_t i = 0; i < relays_.size(); ++i) dirty_.push_back(i);
    settle();
    while (static_cast<std::int64_t>(run_.results_at.size()) < instance_.tasks && run_.fault.empty()) {
      const bool release = push_ && left_ > 0 && (events_.empty() || events_.top().at > next_period_);
      if (release) {
        now_ = next_period_;
        release_period(now_);
      } else if (events_.empty()) {
        run_.fault = "tasks are left, but nothing happens any more";
        break;
      } else {
        const TreeEvent event = events_.top();
        events_.pop();
        now_ = event.at;
        take(event);
      }
      settle();
    }
    run_.complete = run_.fault.empty();
    run_.finish = run_.results_at.empty() ? 0 : run_.results_at.back();
    check_conservation();
    return std::move(run_);
  }

 private:
  Status build() {
    const auto children = instance_.tree.children();
    relays_.resize(children.size());
    run_.computed.assign(children.size(), 0);
    for (std::size_t i = 0; i < relays_.size(); ++i) {
      Relay& relay = relays_[i];
      const planning::TaskNode& node = instance_.tree.nodes[i];
      relay.children = children[i];
      relay.threshold = planning::TaskThreshold(instance_.threshold_max);
      relay.asked.resize(children[i].size());
      if (i > 0) relay.view.task_down = node.task_down, relay.view.result_up = node.result_up;
      for (std::size_t place = 0; place < children[i].size(); ++place) {
        const std::size_t child = children[i][place];
        relays_[child].place = place;
        ChildView view;
        view.task_down = instance_.tree.nodes[child].task_down;
        view.result_up = instance_.tree.nodes[child].result_up;
        view.planned_rate = instance_.best.passed[child];
        relay.view.children.push_back(view);
      }
      if (!push_) {
        TRY_ASSIGN(relay.rule, planning::make_serving_rule(instance_.rule));
      }
    }
    if (push_) period_ = planning::round_robin_period(instance_.tree, instance_.best);
    return {};
  }

  // --- round robin -----------------------------------------------------------------------------------------

  void release_period(double now) {
    std::int64_t batch = std::min(left_, period_.bunch[0]);
    if (period_.bunch[0] <= 0) batch = left_;
    for (; batch > 0; --batch, --left_) assign(0);
    next_period_ = now + period_.seconds;
    dirty_.push_back(0);
  }

  // A task has come to `node`: its own CPU's, or one child's, by the bunches of the period.
  void assign(std::size_t node) {
    Relay& relay = relays_[node];
    const auto bunch = [&](std::size_t turn) {
      return turn == 0 ? period_.own[node] : period_.bunch[relay.children[turn - 1]];
    };
    if (relay.turn_left <= 0) {
      for (std::size_t tries = 0; tries <= relay.children.size(); ++tries) {
        relay.turn_left = bunch(relay.turn);
        if (relay.turn_left > 0) break;
        relay.turn = (relay.turn + 1) % (relay.children.size() + 1);
      }
    }
    if (relay.turn_left <= 0 || relay.turn == 0)
      ++relay.tasks;
    else
      relay.pushes.push_back(relay.turn - 1);
    if (--relay.turn_left <= 0) relay.turn = (relay.turn + 1) % (relay.children.size() + 1);
  }

  // --- what happens ----------------------------------------------------------------------------------------

  void take(const TreeEvent& event) {
    dirty_.push_back(event.node);
    Relay& relay = relays_[event.node];
    if (event.ending == Ending::computed) {
      relay.computing = false;
      ++run_.computed[event.node];
      take_result(event.node);
      return;
    }
    Relay& other = relays_[event.other];
    dirty_.push_back(event.other);
    relay.sending = false;
    other.receiving = false;
    const double took = event.at - event.began;
    if (event.ending == Ending::task_sent) {
      relay.view.children[other.place].task_down = took;
      other.view.task_down = took;
      if (push_) {
        assign(event.other);
      } else {
        --other.in_flight;
        ++other.tasks;
        other.threshold.observe(static_cast<int>(other.tasks), static_cast<int>(other.results), false);
      }
    } else {
      other.view.children[relay.place].result_up = took;
      relay.view.result_up = took;
      take_result(event.other);
    }
  }

  void take_result(std::size_t node) {
    if (node == 0) {
      run_.results_at.push_back(now_);
      return;
    }
    Relay& relay = relays_[node];
    ++relay.results;
    relay.threshold.result_buffered(static_cast<int>(relay.results));
  }

  // --- what is begun ---------------------------------------------------------------------------------------

  void settle() {
    while (!dirty_.empty()) {
      const std::size_t node = dirty_.back();
      dirty_.pop_back();
      while (step(node)) {
      }
    }
  }

  // Begins one thing at a node, if there is one to begin.
  bool step(std::size_t node) {
    Relay& relay = relays_[node];
    if (start_computing(node) || receive(node)) return true;
    if (!relay.sending) {
      if (relay.results > 0) {
        --relay.results;
        commit(node, instance_.tree.nodes[node].parent, false);
        return true;
      }
      if (send_task(node)) return true;
    }
    return !push_ && node > 0 && ask(node);
  }

  // The root's store are the tasks that are left.
  std::int64_t& store(std::size_t node) { return node == 0 && !push_ ? left_ : relays_[node].tasks; }

  bool start_computing(std::size_t node) {
    Relay& relay = relays_[node];
    if (relay.computing || store(node) <= 0) return false;
    const double work = instance_.tree.nodes[node].compute;
    // A master that would take longer for one task than everybody for all does not begin.
    if (node == 0 && !push_ && work * instance_.best.rate > static_cast<double>(instance_.tasks))
      return false;
    --store(node);
    if (node == 0) ++run_.handed_out;
    relay.computing = true;
    push_event(instance_.speeds.cpu[node].end_of(now_, work), Ending::computed, node, node);
    return true;
  }

  bool receive(std::size_t node) {
    Relay& relay = relays_[node];
    if (relay.receiving || relay.waiting.empty()) return false;
    const Sending sending = relay.waiting.front();
    relay.waiting.pop_front();
    relay.receiving = true;
    const std::size_t link = sending.task ? node : sending.from;
    const planning::TaskNode& ends = instance_.tree.nodes[link];
    const double end =
        instance_.speeds.link[link].end_of(now_, sending.task ? ends.task_down : ends.result_up);
    push_event(end, sending.task ? Ending::task_sent : Ending::result_sent, sending.from, node);
    return true;
  }

  void commit(std::size_t from, std::size_t to, bool task) {
    relays_[from].sending = true;
    relays_[to].waiting.push_back({from, task});
    dirty_.push_back(to);
  }

  bool send_task(std::size_t node) {
    Relay& relay = relays_[node];
    std::size_t place = 0;
    if (push_) {
      if (relay.pushes.empty()) return false;
      place = relay.pushes.front();
      relay.pushes.pop_front();
    } else {
      if (store(node) <= 0) return false;
      const auto choice = relay.rule->choose(relay.view);
      if (!choice) return false;
      place = choice->child;
      relay.rule->served(relay.view, place);
      ChildView& child = relay.view.children[place];
      --child.requests;
      ++child.tasks_given;
      relay.asked[place].pop_front();
      child.oldest_request = relay.asked[place].empty() ? 0 : relay.asked[place].front();
      --relays_[relay.children[place]].pending;
      ++relays_[relay.children[place]].in_flight;
      --store(node);
    }
    if (node == 0) ++run_.handed_out;
    if (instance_.keep_trace) run_.trace.push_back(relay.children[place]);
    commit(node, relay.children[place], true);
    return true;
  }

  bool ask(std::size_t node) {
    Relay& relay = relays_[node];
    const bool asking = std::any_of(relay.view.children.begin(), relay.view.children.end(),
                                    [](const ChildView& child) { return child.requests > 0; });
    const int tasks = static_cast<int>(relay.tasks), results = static_cast<int>(relay.results);
    relay.threshold.observe(tasks, results, tasks == 0 && (!relay.computing || asking));
    run_.largest_threshold = std::max(run_.largest_threshold, relay.threshold.value());
    int wanted = relay.threshold.wanted(tasks, results, relay.pending + relay.in_flight);
    if (wanted <= 0) return false;
    const std::size_t parent = instance_.tree.nodes[node].parent;
    Relay& above = relays_[parent];
    ChildView& entry = above.view.children[relay.place];
    for (; wanted > 0; --wanted) {
      above.asked[relay.place].push_back(++above.requests);
      ++entry.requests;
      ++relay.pending;
    }
    entry.oldest_request = above.asked[relay.place].front();
    dirty_.push_back(parent);
    return true;
  }

  void push_event(double at, Ending ending, std::size_t node, std::size_t other) {
    if (!(at >= now_)) run_.fault = "an event before the present";
    events_.push({at, ++order_, ending, node, other, now_});
  }

  void check_conservation() {
    std::int64_t computed = 0;
    for (const std::int64_t each : run_.computed) computed += each;
    const auto done = static_cast<std::int64_t>(run_.results_at.size());
    if (!run_.complete) return;
    if (computed != instance_.tasks || done != instance_.tasks || run_.handed_out != instance_.tasks ||
        left_ != 0)
      run_.fault = "tasks were lost or made up";
    for (const Relay& relay : relays_) {
      if (relay.tasks != 0 || relay.results != 0 || !relay.waiting.empty() || relay.in_flight != 0)
        run_.fault = "all results are in, but something is left in a buffer";
    }
    run_.complete = run_.fault.empty();
  }

  const TreeInstance& instance_;
  const bool push_;
  std::int64_t left_;
  std::vector<Relay> relays_;
  std::vector<std::size_t> dirty_;
  std::priority_queue<TreeEvent, std::vector<TreeEvent>, std::greater<>> events_;
  std::uint64_t order_ = 0;
  double now_ = 0, next_period_ = 0;
  planning::RoundRobinPeriod period_;
  TreeRun run_;
};

}  // namespace

double TreeRun::rate_at(double share) const {
  const double time = share * finish;
  const auto done = std::upper_bound(results_at.begin(), results_at.end(), time) - results_at.begin();
  return time > 0 ? static_cast<double>(done) / time : 0;
}

Result<TreeRun> run_tree(const TreeInstance& instance) {
  return Simulation(instance).run();
}

}  // namespace gleaner::simulator
