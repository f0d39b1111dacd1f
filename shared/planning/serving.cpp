#include "shared/planning/serving.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gleaner::planning {
namespace {

// Time that one task through a child takes of the relay's ports: x of sending, y of receiving.
struct PortUse {
  double x = 0, y = 0;
  [[nodiscard]] double rate() const { return 1 / std::max({x, y, 1e-300}); }
};

PortUse use_of(const RelayView& view, std::size_t child) {
  const ChildView& each = view.children[child];
  return {each.task_down + view.result_up, each.result_up + view.task_down};
}

// The asking child for which `value` is lowest; the first of equals.
template <typename Value>
std::optional<std::size_t> lowest(const RelayView& view, Value value) {
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t i = 0; i < view.children.size(); ++i) {
    if (view.children[i].requests <= 0) continue;
    const std::optional<double> figure = value(i);
    if (!figure || (best && !(*figure < least))) continue;
    best = i;
    least = *figure;
  }
  return best;
}

std::optional<ServingChoice> choice(std::optional<std::size_t> child, ServingReason reason) {
  if (!child) return std::nullopt;
  return ServingChoice{*child, reason};
}

class Fifo final : public ServingRule {
 public:
  [[nodiscard]] std::optional<ServingChoice> choose(const RelayView& view) const override {
    return choice(lowest(view,
                         [&](std::size_t i) -> std::optional<double> {
                           return static_cast<double>(view.children[i].oldest_request);
                         }),
                  ServingReason::oldest_request);
  }
};

class OnTheFly final : public ServingRule {
 public:
  [[nodiscard]] ServingPlan plan() const override { return ServingPlan::rates; }
  [[nodiscard]] std::optional<ServingChoice> choose(const RelayView& view) const override {
    return choice(lowest(view,
                         [&](std::size_t i) -> std::optional<double> {
                           const ChildView& child = view.children[i];
                           if (!(child.planned_rate > least_planned_rate)) return std::nullopt;
                           return static_cast<double>(child.tasks_given) / child.planned_rate;
                         }),
                  ServingReason::furthest_behind_plan);
  }
};

// A child's turn is over when it has had its bunch; then it is the next one's, and who asks for nothing
// misses nothing: it has had fewer turns when it asks again.
class RoundRobin final : public ServingRule {
 public:
  [[nodiscard]] ServingPlan plan() const override { return ServingPlan::turns; }
  [[nodiscard]] std::optional<ServingChoice> choose(const RelayView& view) const override {
    return choice(lowest(view,
                         [&](std::size_t i) -> std::optional<double> {
                           const ChildView& child = view.children[i];
                           if (child.bunch <= 0) return std::nullopt;
                           return static_cast<double>(child.tasks_given / child.bunch);
                         }),
                  ServingReason::next_in_turn);
  }
};

std::optional<std::size_t> best_link(const RelayView& view) {
  return lowest(view, [&](std::size_t i) -> std::optional<double> { return -use_of(view, i).rate(); });
}

class BandwidthCentric final : public ServingRule {
 public:
  [[nodiscard]] std::optional<ServingChoice> choose(const RelayView& view) const override {
    return choice(best_link(view), ServingReason::best_link);
  }
};

// Theorem 1: two children, one that is cheaper to send to and one that is cheaper to receive from, may use
// both ports fully: u_j x_j + u_k x_k = u_j y_j + u_k y_k = 1.
class Geometric final : public ServingRule {
 public:
  [[nodiscard]] std::optional<ServingChoice> choose(const RelayView& view) const override {
    const auto best = best_link(view);
    if (!best) return std::nullopt;
    double rate = use_of(view, *best).rate();
    std::optional<std::pair<std::size_t, std::size_t>> pair;
    for (std::size_t j = 0; j < view.children.size(); ++j) {
      if (view.children[j].requests <= 0) continue;
      for (std::size_t k = 0; k < view.children.size(); ++k) {
        if (k == j || view.children[k].requests <= 0) continue;
        const auto together = rate_of_pair(use_of(view, j), use_of(view, k));
        if (!together || *together <= rate * (1 + least_gain)) continue;
        rate = *together;
        pair = {j, k};
      }
    }
    if (!pair) return ServingChoice{*best, ServingReason::best_link};
    const auto imbalance = [&](std::size_t child) {
      const PortUse use = use_of(view, child);
      return std::abs(balance_ + use.x - use.y);
    };
    const bool first = imbalance(pair->first) <= imbalance(pair->second);
    return ServingChoice{first ? pair->first : pair->second, ServingReason::balances_ports};
  }
  void served(const RelayView& view, std::size_t child) override {
    const PortUse use = use_of(view, child);
    balance_ += use.x - use.y;
  }

 private:
  static constexpr double least_gain = 1e-12, least_skew = 1e-9;

  static std::optional<double> rate_of_pair(const PortUse& j, const PortUse& k) {
    // Observed times carry rounding errors: equal ways down and up are no pair.
    if (!(j.x < j.y * (1 - least_skew)) || !(k.x * (1 - least_skew) > k.y)) return std::nullopt;
    const double det = j.x * k.y - k.x * j.y;
    if (!(det < 0)) return std::nullopt;
    const double uj = (k.y - k.x) / det, uk = (j.x - j.y) / det;
    if (!(uj > 0) || !(uk > 0)) return std::nullopt;
    return uj + uk;
  }

  double balance_ = 0;  // sending minus receiving seconds of all that was served
};

template <typename Rule>
std::unique_ptr<ServingRule> make() {
  return std::make_unique<Rule>();
}

struct Entry {
  ServingRuleInfo info;
  std::unique_ptr<ServingRule> (*make)();
};

const std::vector<Entry>& entries() {
  static const std::string paper = "Banino-Rokkones, Beaumont, Natvig, section 7";
  static const std::vector<Entry> all{
      {{"fifo", "the oldest request first", paper}, make<Fifo>},
      {{"otf", "the child furthest behind the linear program's rates", paper}, make<OnTheFly>},
      {{"round-robin", "bunches in turn, by the linear program", paper}, make<RoundRobin>},
      {{"bc", "the child whose link takes least time of the busier port", paper}, make<BandwidthCentric>},
      {{"geo", "a pair of children that fills both ports where it beats the best link", paper},
       make<Geometric>}};
  return all;
}

}  // namespace

double aged(double observed, double nominal, double age, double lasts) {
  return std::lerp(observed, nominal, std::clamp(age / lasts - 1, 0.0, 1.0));
}

std::string ServingChoice::text() const {
  switch (reason) {
    case ServingReason::oldest_request:
      return "its request is the oldest";
    case ServingReason::furthest_behind_plan:
      return "it has had least of what the optimum gives it";
    case ServingReason::next_in_turn:
      return "it is its turn, of which it has not had all";
    case ServingReason::best_link:
      return "a task for it takes least time of the busier port";
    case ServingReason::balances_ports:
      return "with its partner it fills both ports, and it balances them now";
  }
  return {};
}

const std::vector<ServingRuleInfo>& serving_rules() {
  static const std::vector<ServingRuleInfo> infos = [] {
    std::vector<ServingRuleInfo> list;
    for (const Entry& entry : entries()) list.push_back(entry.info);
    return list;
  }();
  return infos;
}

Result<std::unique_ptr<ServingRule>> make_serving_rule(std::string_view name) {
  std::string names;
  for (const Entry& entry : entries()) {
    if (entry.info.name == name) return entry.make();
    names += (names.empty() ? "" : ", ") + entry.info.name;
  }
  return Error{ErrorKind::invalid,
               "there is no serving rule '" + std::string(name) + "'; choose one of " + names};
}

void TaskThreshold::observe(int tasks, int results, bool starving) {
  reached_ = reached_ || tasks >= value_;
  if (!starving || !reached_ || results >= value_) return;
  if (most_ > 0 && value_ >= most_) return;
  ++value_;
  reached_ = false;
}

void TaskThreshold::result_buffered(int results) {
  if (results > value_ && value_ > 1) --value_;
}

int TaskThreshold::wanted(int tasks, int results, int asked) const {
  if (results > value_) return 0;
  return std::max(0, value_ - tasks - asked);
}

}  // namespace gleaner::planning
