// One message a node, as MOS sends them: list scheduling of transfers on the nodes' ports, in virtual time.
#include <algorithm>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "shared/base/check.h"
#include "shared/planning/replay.h"

namespace gleaner::planning {
namespace {

// Waits at `from` for its way to the neighbour `to`; `rank` orders messages that became ready together.
struct Transfer {
  double ready = 0;
  std::size_t rank = 0;
  std::size_t from = 0, to = 0;
  std::size_t owner = 0;  // whose load or result it is
  bool down = true;
  friend bool operator<(const Transfer& a, const Transfer& b) {
    return std::tie(a.ready, a.rank) < std::tie(b.ready, b.rank);
  }
};

struct Event {
  double at = 0;
  std::size_t rank = 0;
  Transfer arrived;       // the transfer that ends, or
  bool computed = false;  // arrived.owner has computed its share
  friend bool operator>(const Event& a, const Event& b) {
    return std::tie(a.at, a.rank) > std::tie(b.at, b.rank);
  }
};

class Ports {
 public:
  Ports(std::size_t nodes, Duplex duplex)
      : sending_(nodes, false), receiving_(nodes, false), half_(duplex == Duplex::half) {}
  [[nodiscard]] bool free_for(const Transfer& transfer) const {
    if (sending_[transfer.from] || receiving_[transfer.to]) return false;
    return !half_ || (!receiving_[transfer.from] && !sending_[transfer.to]);
  }
  [[nodiscard]] bool can_receive(std::size_t node) const {
    return !receiving_[node] && !(half_ && sending_[node]);
  }
  void set(const Transfer& transfer, bool busy) {
    sending_[transfer.from] = busy;
    receiving_[transfer.to] = busy;
  }

 private:
  std::vector<char> sending_, receiving_;
  bool half_;
};

class Simulation {
 public:
  Simulation(const LoadTree& tree, const LoadCost& cost, const std::vector<double>& shares,
             const std::vector<std::size_t>& order)
      : tree_(tree),
        cost_(cost),
        shares_(shares),
        ports_(tree.size(), cost.duplex),
        waiting_(tree.size()),
        loads_(tree.size()) {
    replay_.finishes.assign(tree.size(), 0);
    rank_.assign(tree.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) rank_[order[i]] = i;
    for (const std::size_t node : order) {
      if (shares[node] > 0) arrive_load(node, 0, 0);  // nobody else is spoken to
    }
  }

  Replay run() {
    start_from({0}, 0);
    while (!events_.empty()) {
      const double now = events_.top().at;
      std::set<std::size_t> touched;  // nodes around which something may start now
      while (!events_.empty() && events_.top().at == now) {
        const Event event = events_.top();
        events_.pop();
        take(event, touched);
      }
      start_from(touched, now);
    }
    std::sort(replay_.spans.begin(), replay_.spans.end(), [](const Span& a, const Span& b) {
      return std::tie(a.node, a.begin, a.end) < std::tie(b.node, b.begin, b.end);
    });
    return std::move(replay_);
  }

 private:
  void take(const Event& event, std::set<std::size_t>& touched) {
    const Transfer& transfer = event.arrived;
    if (event.computed) {
      if (transfer.owner != 0) queue_result(transfer.owner, transfer.owner, event.at);
      touched.insert(transfer.owner);
      return;
    }
    ports_.set(transfer, false);
    touched.insert(transfer.from);
    touched.insert(transfer.to);
    if (transfer.down) {
      arrive_load(transfer.owner, transfer.to, event.at);
    } else if (transfer.to == 0) {
      replay_.finish = std::max(replay_.finish, event.at);
    } else {
      queue_result(transfer.owner, transfer.to, event.at);
    }
  }

  // The load of `owner` is at `node`, complete.
  void arrive_load(std::size_t owner, std::size_t node, double now) {
    if (owner == node) {
      const double end = now + shares_[owner] * tree_[owner].w * cost_.tcp;
      replay_.finishes[owner] = end;
      replay_.finish = std::max(replay_.finish, end);
      note(owner, Activity::compute, now, end);
      Transfer own;
      own.owner = owner;
      events_.push({end, rank_[owner], own, true});
      return;
    }
    const auto& children = tree_[node].children;
    const auto after = std::upper_bound(children.begin(), children.end(), owner);
    loads_[node].push({now, rank_[owner], node, *(after - 1), owner, true});
  }

  void queue_result(std::size_t owner, std::size_t node, double now) {
    // After all loads that are ready at the same instant.
    waiting_[tree_[node].parent].insert(
        {now, rank_[owner] + tree_.size(), node, tree_[node].parent, owner, false});
  }

  // The transfer with `node` at its upper end that may start first, if there is one.
  [[nodiscard]] std::optional<Transfer> best_at(std::size_t node) const {
    std::optional<Transfer> best;
    if (!loads_[node].empty() && ports_.free_for(loads_[node].front())) best = loads_[node].front();
    if (!ports_.can_receive(node)) return best;
    for (const Transfer& result : waiting_[node]) {
      if (best && *best < result) break;
      if (ports_.free_for(result)) return result;
    }
    return best;
  }

  void start_from(const std::set<std::size_t>& touched, double now) {
    std::set<std::pair<Transfer, std::size_t>> candidates;
    const auto consider = [&](std::size_t node) {
      if (const auto best = best_at(node)) candidates.emplace(*best, node);
    };
    for (const std::size_t node : touched) {
      consider(node);
      consider(tree_[node].parent);
    }
    while (!candidates.empty()) {  // ports only get busier meanwhile
      const auto [transfer, node] = *candidates.begin();
      candidates.erase(candidates.begin());
      if (ports_.free_for(transfer)) start(transfer, now);
      consider(node);
    }
  }

  void start(const Transfer& transfer, double now) {
    if (transfer.down)
      loads_[transfer.from].pop();
    else
      waiting_[transfer.to].erase(transfer);
    const std::size_t link = transfer.down ? transfer.to : transfer.from;
    const double end =
        now + shares_[transfer.owner] * tree_[link].z * (transfer.down ? cost_.tcm : cost_.tsol);
    ports_.set(transfer, true);
    note(link, transfer.down ? Activity::receive : Activity::report, now, end);
    events_.push({end, transfer.rank, transfer, false});
  }

  void note(std::size_t node, Activity activity, double begin, double end) {
    if (end > begin) replay_.spans.push_back({node, activity, begin, end});
  }

  const LoadTree& tree_;
  const LoadCost& cost_;
  const std::vector<double>& shares_;
  Ports ports_;
  std::vector<std::set<Transfer>> waiting_;  // results for a node, at its children
  std::vector<std::queue<Transfer>> loads_;  // loads at a node for those below it, in order
  std::vector<std::size_t> rank_;            // place in the order of distribution
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  Replay replay_;
};

}  // namespace

Replay replay_installments(const LoadTree& tree, const LoadCost& cost, const std::vector<double>& shares,
                           const std::vector<std::size_t>& order) {
  CHECK_TRUE(shares.size() == tree.size() && order.size() == tree.size() && order.front() == 0);
  return Simulation(tree, cost, shares, order).run();
}

}  // namespace gleaner::planning
