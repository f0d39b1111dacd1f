#include "server/policy/relay/service_order.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "shared/planning/task_tree.h"

namespace gleaner::policy {
namespace {

// What is known of a link holds for as long as the longest unit (R2): what carries anything, carries
// something within that time.
constexpr double link_lasts = 1200;
// Of a planned order: who has waited within that time, units of hosts and all, has been here.
constexpr Duration counted_for = std::chrono::hours{1};

bool is_rate(double rate) {
  return std::isfinite(rate) && rate > 0;
}

// Seconds that so much takes each of them. Of whom no rate is known, they count as the mean; what was not
// seen for long drifts to the best, so that no bad transfer shuts anybody out.
class Times {
 public:
  explicit Times(double amount) : amount_(amount) {}
  // `unseen`: seconds since the rate was.
  void add(double rate, double unseen = 0) {
    const bool known = is_rate(rate);
    times_.push_back(known ? amount_ / rate : -1);
    unseen_.push_back(unseen);
    if (!known) return;
    sum_ += times_.back();
    least_ = std::min(least_, times_.back());
    ++known_;
  }
  [[nodiscard]] double of(std::size_t child) const {
    if (times_[child] >= 0) return planning::aged(times_[child], least_, unseen_[child], link_lasts);
    return known_ > 0 ? sum_ / known_ : 0;
  }

 private:
  double amount_, sum_ = 0, least_ = std::numeric_limits<double>::infinity();
  int known_ = 0;
  std::vector<double> times_, unseen_;
};

}  // namespace

ServiceOrder::ServiceOrder(planning::ServingRule& rule, const RelayTraffic& relay,
                           std::vector<WaitingChild> waiting, Timestamp now)
    : rule_(rule), waiting_(std::move(waiting)), now_(now), given_(waiting_.size()) {
  look_at_links(relay);
  if (rule_.plan() == planning::ServingPlan::none) return;
  plan(relay.item_seconds);
  count_together();
}

void ServiceOrder::look_at_links(const RelayTraffic& relay) {
  // Before anything has moved: as if as much went each way.
  const bool none = !(relay.item_down_bytes > 0) && !(relay.item_up_bytes > 0);
  const double down_bytes = none ? 1 : relay.item_down_bytes, up_bytes = none ? 1 : relay.item_up_bytes;
  if (is_rate(relay.link.down)) view_.task_down = down_bytes / relay.link.down;
  if (is_rate(relay.link.up)) view_.result_up = up_bytes / relay.link.up;
  Times down(down_bytes), up(up_bytes);
  for (const WaitingChild& each : waiting_) {
    const double unused = std::max(0.0, to_seconds(now_ - each.here.link_used_at));
    down.add(each.link.down, unused);
    up.add(each.link.up, unused);
  }
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    planning::ChildView child;
    child.requests = waiting_[i].slots;
    child.oldest_request = waiting_[i].number;
    child.task_down = down.of(i);
    child.result_up = up.of(i);
    child.tasks_given = waiting_[i].here.units;
    view_.children.push_back(child);
  }
}

// What the linear program gives each of them. Whose benchmark is not known counts as the mean.
void ServiceOrder::plan(double item_seconds) {
  Times compute(1);
  for (const WaitingChild& each : waiting_) compute.add(each.performance);
  double sum = 0;
  for (std::size_t i = 0; i < waiting_.size(); ++i) sum += compute.of(i);
  const double scale =
      item_seconds > 0 && sum > 0 ? item_seconds * static_cast<double>(waiting_.size()) / sum : 1;
  constexpr double never = 1e12;
  planning::TaskTree tree{{{never, 0, 0, 0}}};
  for (std::size_t i = 0; i < waiting_.size(); ++i)
    tree.nodes.push_back(
        {sum > 0 ? compute.of(i) * scale : 1, view_.children[i].task_down, view_.children[i].result_up, 0});
  auto best = planning::best_throughput(tree);
  if (!best.ok()) trouble_ = best.error().message;
  std::vector<std::int64_t> bunches(tree.nodes.size(), 1);
  // Rates are of items, turns of units: how many is a matter of the rates' proportions, ten for the fastest.
  const double fastest = best.ok() ? *std::max_element(best->own.begin(), best->own.end()) : 0;
  if (fastest > 0) {
    for (double& rate : best->own) rate /= fastest;
    bunches = planning::round_robin_period(tree, *best).bunch;
  }
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    planning::ChildView& child = view_.children[i];
    child.planned_rate = best.ok() ? best->passed[i + 1] : 1;
    if (!(child.planned_rate > planning::least_planned_rate)) child.planned_rate = 0;
    // Whose part of a period rounds to nothing has a turn all the same.
    child.bunch = child.planned_rate > 0 ? std::max<std::int64_t>(1, bunches[i + 1]) : 0;
  }
}

// Who was not here has no claim on what others had meanwhile: it begins where the one of them stands who is
// next.
void ServiceOrder::count_together() {
  double next = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < waiting_.size(); ++i)
    if (share(i) > 0 && was_here(i)) next = std::min(next, turn(i));
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (!(share(i) > 0)) continue;
    FromHere& here = waiting_[i].here;
    if (!was_here(i) && std::isfinite(next))
      here.units = std::max<std::int64_t>(here.units, std::llround(next * share(i)));
    view_.children[i].tasks_given = here.units;
    here.counted_at = now_;
  }
}

bool ServiceOrder::was_here(std::size_t child) const {
  return now_ - waiting_[child].here.counted_at <= counted_for;
}

// Of the plan; 0: it is to have nothing.
double ServiceOrder::share(std::size_t child) const {
  const planning::ChildView& its = view_.children[child];
  return rule_.plan() == planning::ServingPlan::turns ? static_cast<double>(its.bunch) : its.planned_rate;
}

// By the plan it is served when this is lowest. Turns are whole, shares are not.
double ServiceOrder::turn(std::size_t child) const {
  const double turn = static_cast<double>(view_.children[child].tasks_given) / share(child);
  return rule_.plan() == planning::ServingPlan::turns ? std::floor(turn) : turn;
}

std::optional<planning::ServingChoice> ServiceOrder::next(bool free) {
  for (std::size_t i = 0; i < waiting_.size() && !free; ++i)
    if (!waiting_[i].over) nothing_for(i);
  return rule_.choose(view_);
}

void ServiceOrder::served(std::size_t child) {
  rule_.served(view_, child);
  --view_.children[child].requests;
  ++view_.children[child].tasks_given;
  ++given_[child];
}

std::size_t ServiceOrder::left() const {
  return static_cast<std::size_t>(
      std::count_if(view_.children.begin(), view_.children.end(),
                    [](const planning::ChildView& each) { return each.requests > 0; }));
}

}  // namespace gleaner::policy
