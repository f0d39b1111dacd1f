#include "tools/simulator/relays/world.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <memory>
#include <numeric>
#include <system_error>
#include <thread>

#include "tools/simulator/relays/node.h"
#include "tools/simulator/relays/wire_sizes.h"

namespace gleaner::simulator {
namespace {

// Nodes hear from each other no sooner than this, so that all make progress.
constexpr double shortest_way = 0.05;

const std::vector<double>& hints_of(const GridProblem& problem) {
  static const std::vector<double> none;
  if (!problem.hints) return none;
  return problem.hint_costs.empty() ? problem.costs : problem.hint_costs;
}

class WorldLoop {
 public:
  explicit WorldLoop(const RelayWorld& world)
      : world_(world),
        work_{{world.problem.items, world.problem.costs}, {world.problem.items, hints_of(world.problem)}},
        way_(std::max(shortest_way, world.request_delay / 2 + world.latency)) {
    static_cast<void>(wire_sizes());  // before threads share it
    build();
  }

  RelayRun run() {
    next_window();
    const auto threads = static_cast<std::ptrdiff_t>(
        std::clamp<std::size_t>(static_cast<std::size_t>(std::max(1, world_.threads)), 1, nodes_.size()));
    std::barrier barrier(threads, [this]() noexcept { next_window(); });
    const auto work = [&] {
      while (!done_) {
        for (std::size_t i = claimed_++; i < nodes_.size(); i = claimed_++) nodes_[i]->run_until(end_);
        barrier.arrive_and_wait();
      }
    };
    std::vector<std::thread> others;
    for (std::ptrdiff_t i = 1; i < threads; ++i) {
      try {
        others.emplace_back(work);
      } catch (const std::system_error&) {  // the system starts no more: the result is the same with fewer
        for (; i < threads; ++i) barrier.arrive_and_drop();
      }
    }
    work();
    for (std::thread& thread : others) thread.join();
    return sum_up();
  }

 private:
  // Level by level, so that a node's relays lie one after the other.
  void build() {
    std::size_t count = 1, first = 0;
    for (std::size_t level = 0; level <= world_.children.size(); ++level) {
      const std::size_t below =
          level < world_.children.size() ? static_cast<std::size_t>(world_.children[level]) : 0;
      const std::size_t beside = level > 0 ? static_cast<std::size_t>(world_.children[level - 1]) : 1;
      for (std::size_t i = 0; i < count; ++i) {
        RelayNode::Place place;
        place.level = level;
        place.child = i % beside;
        place.relays = below;
        const std::size_t begin = i * world_.hosts.size() / count,
                          end = (i + 1) * world_.hosts.size() / count;
        for (std::size_t host = begin; host < end; ++host)
          place.performance += static_cast<double>(world_.hosts[host].performance) * world_.hosts[host].slots;
        if (below == 0) {
          place.first_host = begin;
          place.end_host = end;
        }
        place.seed = world_.seed + 7919 * nodes_.size();
        parents_.push_back(level == 0 ? 0 : first + i / beside);
        nodes_.push_back(std::make_unique<RelayNode>(world_, work_, place));
      }
      if (level > 0) first += count / beside;
      first_child_.push_back(nodes_.size());
      count *= std::max<std::size_t>(1, below);
    }
    // The first relay under each node, in the order of nodes.
    under_.assign(nodes_.size(), 0);
    for (std::size_t i = nodes_.size(); i-- > 1;) under_[parents_[i]] = i;
  }

  // Between two windows, while no node runs: letters are brought, and the next window is chosen.
  void next_window() noexcept {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (ToParent& letter : nodes_[i]->up) nodes_[parents_[i]]->hear(std::move(letter));
      nodes_[i]->up.clear();
      for (ToRelay& letter : nodes_[i]->down) nodes_[under_[i] + letter.child]->hear(std::move(letter));
      nodes_[i]->down.clear();
    }
    double first = Agenda::never;
    for (const auto& node : nodes_) first = std::min(first, node->next());
    done_ = nodes_.front()->over() || first >= world_.until;
    end_ = nodes_.size() == 1 ? world_.until : std::min(first + way_, world_.until);
    claimed_ = 0;
  }

  RelayRun sum_up() {
    RelayRun run;
    const RelayNode& server = *nodes_.front();
    run.complete = server.over() && server.stage().complete();
    run.makespan = server.over() ? server.over_at() : world_.until;
    run.ideal = world_.ideal_seconds;
    run.t95 = server.t95();
    run.hosts = static_cast<std::int64_t>(world_.hosts.size());
    for (const WorldHost& host : world_.hosts) run.slots += host.slots;
    for (const policy::HostRecord* record : server.stage().hosts())
      run.items_credited += record->items_accepted;
    run.levels.resize(world_.children.size() + 1);
    double work = 0;
    std::size_t level = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      while (i >= first_child_[level]) ++level;
      RelayNode& node = *nodes_[i];
      node.finish(run.makespan);
      work += node.work_done(run.makespan);
      run.events += node.events();
      run.relays_gone += node.gone() ? 1 : 0;
      run.relays_cut += node.cuts() > 0 ? 1 : 0;
      add(node.counts(), run.levels[level]);
    }
    const double accepted = server.stage().ledger().accepted_cost();
    run.waste = accepted > 0 ? work / accepted - 1 : 0;
    return run;
  }

  static void add(const RelayLevel& one, RelayLevel& all) {
    all.nodes += one.nodes;
    all.messages += one.messages;
    all.peak_second = std::max(all.peak_second, one.peak_second);
    all.segments += one.segments;
    all.reports += one.reports;
    all.requests += one.requests;
    all.grants += one.grants;
    all.bytes_up += one.bytes_up;
    all.bytes_down += one.bytes_down;
    all.policy_seconds += one.policy_seconds;
    all.splits += one.splits;
    all.copies += one.copies;
    all.recovered += one.recovered;
  }

  const RelayWorld& world_;
  WorldWork work_;
  const double way_;
  std::vector<std::unique_ptr<RelayNode>> nodes_;
  std::vector<std::size_t> parents_, under_, first_child_;
  std::atomic<std::size_t> claimed_{0};
  double end_ = 0;
  bool done_ = false;
};

}  // namespace

Result<RelayRun> run_relay_world(const RelayWorld& world) {
  if (world.problem.items < 1) return Error{ErrorKind::invalid, "there are no items"};
  if (world.hosts.empty()) return Error{ErrorKind::invalid, "there are no hosts"};
  std::size_t lowest = 1;
  for (const std::int64_t children : world.children) {
    if (children < 1) return Error{ErrorKind::invalid, "a node has at least one relay under it"};
    lowest *= static_cast<std::size_t>(children);
    if (lowest > world.hosts.size()) return Error{ErrorKind::invalid, "there are more relays than hosts"};
  }
  return WorldLoop(world).run();
}

}  // namespace gleaner::simulator
