// TA: tabu search out of the most loaded host, from ef. A task that left a host may not come back for a
// while, unless that gives the best schedule so far. The parameters are ours, as for sa.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "server/policy/mapping/assignment.h"
#include "server/policy/mapping/heuristics.h"
#include "server/policy/mapping/table.h"

namespace gleaner::policy {
namespace {

constexpr std::int64_t tenure = 7;  // iterations, and up to a tenth of the tasks more

struct Step {
  std::size_t task = 0;
  std::size_t host = 0;   // where to
  std::size_t other = 0;  // exchanged with, if exchange
  bool exchange = false;
  double makespan = infinity;
  double pair = infinity;  // the larger of the two loads: decides between equal makespans
};

class Search {
 public:
  Search(const DenseCosts& costs, Assignment start, Random& random)
      : costs_(costs),
        current_(std::move(start)),
        best_(current_),
        random_(random),
        allowed_from_(costs.tasks() * costs.hosts()) {
    best_makespan_ = best_.makespan();
  }

  // False: there is no allowed step.
  bool iterate() {
    ++iteration_;
    const Step step = best_step();
    if (!(step.makespan < infinity)) return false;
    forbid(step.task, current_.host(step.task));
    if (step.exchange) {
      forbid(step.other, step.host);
      current_.exchange(step.task, step.other);
    } else {
      current_.move(step.task, step.host);
    }
    const double makespan = current_.makespan();
    gained_ = makespan < best_makespan_ * (1 - 1e-12);
    if (gained_) {
      best_makespan_ = makespan;
      best_ = current_;
    }
    return true;
  }
  [[nodiscard]] bool gained() const { return gained_; }
  [[nodiscard]] const Assignment& best() const { return best_; }
  [[nodiscard]] std::int64_t iterations() const { return iteration_; }

 private:
  void forbid(std::size_t task, std::size_t host) {
    const auto more = static_cast<std::int64_t>(random_.below(costs_.tasks() / 10 + 1));
    allowed_from_[task * costs_.hosts() + host] = iteration_ + tenure + more;
  }
  [[nodiscard]] bool tabu(std::size_t task, std::size_t host) const {
    return allowed_from_[task * costs_.hosts() + host] > iteration_;
  }

  [[nodiscard]] Step best_step() const {
    // The three longest: of any two hosts, the longest of the others is among them.
    std::vector<std::size_t> order(costs_.hosts());
    for (std::size_t host = 0; host < order.size(); ++host) order[host] = host;
    const std::size_t top = std::min<std::size_t>(3, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top), order.end(),
                      [&](std::size_t a, std::size_t b) {
                        if (current_.load(a) != current_.load(b)) return current_.load(a) > current_.load(b);
                        return a < b;
                      });
    order.resize(top);
    const std::size_t most = order[0];
    Step best;
    const auto consider = [&](Step step, double most_after, double host_after) {
      double others = 0;
      for (const std::size_t host : order) {
        if (host != most && host != step.host) others = std::max(others, current_.load(host));
      }
      step.pair = std::max(most_after, host_after);
      step.makespan = std::max(step.pair, others);
      const bool forbidden = tabu(step.task, step.host) || (step.exchange && tabu(step.other, most));
      if (forbidden && !(step.makespan < best_makespan_ * (1 - 1e-12))) return;
      if (step.makespan > best.makespan) return;
      if (step.makespan == best.makespan && step.pair >= best.pair) return;
      best = step;
    };
    for (std::size_t task = 0; task < costs_.tasks(); ++task) {
      if (current_.host(task) != most) continue;
      const double rest = current_.load(most) - costs_(task, most);
      for (std::size_t host = 0; host < costs_.hosts(); ++host) {
        if (host == most) continue;
        consider({task, host, 0, false}, rest, current_.load(host) + costs_(task, host));
      }
      for (std::size_t other = 0; other < costs_.tasks(); ++other) {
        const std::size_t host = current_.host(other);
        if (host == most) continue;
        consider({task, host, other, true}, rest + costs_(other, most),
                 current_.load(host) - costs_(other, host) + costs_(task, host));
      }
    }
    return best;
  }

  const DenseCosts& costs_;
  Assignment current_;
  Assignment best_;
  Random& random_;
  std::vector<std::int64_t> allowed_from_;  // iteration, by task and host
  double best_makespan_ = 0;
  std::int64_t iteration_ = 0;
  bool gained_ = false;
};

class Tabu final : public MappingStrategy {
 public:
  explicit Tabu(int patience) : patience_(patience) {}

  [[nodiscard]] Schedule generate(const MappingInput& input) const override {
    const MappingCosts costs(input, Communication::counted);
    if (costs.tasks().empty()) {
      return finished(input, costs, std::vector<std::vector<std::size_t>>(input.hosts()), "ta");
    }
    const DenseCosts dense(input, costs);
    Random random(input.seed);
    const std::vector<Gene> start = dense.encode(earliest_finish(input).queues);
    Search search(dense, Assignment(dense, start), random);
    const double bound = lower_bound(input, costs);
    for (int idle = 0; idle < patience_ && search.best().makespan() > bound * (1 + 1e-12); ++idle) {
      if (input.stop && input.stop()) break;
      if (!search.iterate()) break;
      if (search.gained()) idle = -1;
    }
    std::vector<double> loads;
    std::vector<Gene> genes = search.best().genes();
    if (evaluate(dense, start, loads).makespan < evaluate(dense, genes, loads).makespan) genes = start;
    Schedule schedule = finished(input, costs, dense.decode(genes, input, costs), "ta");
    schedule.steps = search.iterations();
    schedule.reason += fmt::format(" after {} iterations", search.iterations());
    return schedule;
  }
  [[nodiscard]] std::string text() const override { return fmt::format("ta,patience={}", patience_); }

 private:
  int patience_;
};

Result<std::unique_ptr<MappingStrategy>> make_tabu(StrategyOptions& options) {
  TRY_ASSIGN(const int patience, options.whole("patience", 1, 1'000'000, 100));
  return std::unique_ptr<MappingStrategy>(std::make_unique<Tabu>(patience));
}

}  // namespace

MappingEntry tabu_entry() {
  return {{"ta",
           "tabu search out of the most loaded host, from ef",
           "Glover 1989; Page 2009, section 3.3",
           {"patience=NUMBER  iterations without a gain until it ends, default 100"}},
          make_tabu};
}

}  // namespace gleaner::policy
