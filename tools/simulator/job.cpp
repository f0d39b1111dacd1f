#include "tools/simulator/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "shared/base/random.h"
#include "tools/simulator/fluid.h"

namespace gleaner::simulator {
namespace {

constexpr double hump_width = 0.15;  // standard deviation, in parts of the range
constexpr double hump_height = 10;
constexpr std::int64_t items_max = 1'000'000'000;
constexpr std::int64_t costed_items_max = 200'000'000;
constexpr double tail_items_per_slot = 12;

}  // namespace

const char* name_of(Profile profile) {
  switch (profile) {
    case Profile::uniform:
      return "uniform";
    case Profile::hump:
      return "hump";
    case Profile::heavy:
      return "heavy";
    case Profile::wild:
      return "wild";
    case Profile::tail:
      return "tail";
  }
  return "unknown";
}

Result<Profile> profile_from(std::string_view text) {
  for (const Profile profile : profiles) {
    if (text == name_of(profile)) return profile;
  }
  return Error{ErrorKind::invalid,
               fmt::format("there is no profile '{}'; choose uniform, hump, heavy, wild or tail", text)};
}

Work make_work(Profile profile, std::int64_t items, std::uint64_t seed) {
  Work work;
  if (profile == Profile::uniform) return work;
  Random random(seed);
  work.costs.reserve(static_cast<std::size_t>(items));
  for (std::int64_t i = 0; i < items; ++i) {
    const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(items) - 0.5;
    double cost = 1;
    switch (profile) {
      case Profile::uniform:
        break;
      case Profile::hump:
        cost = 1 + (hump_height - 1) * std::exp(-0.5 * std::pow(place / hump_width, 2));
        break;
      case Profile::heavy:
        cost = std::exp(random.normal(0, 1.3));
        break;
      case Profile::wild:
        cost = std::exp(random.normal(0, 1.5));
        break;
      case Profile::tail:
        cost = random.chance(0.02) ? 4 + 2 * random.uniform() : 1;
        break;
    }
    work.costs.push_back(cost);
  }
  if (profile == Profile::wild) return work;
  work.hints = work.costs;
  if (profile == Profile::heavy) {
    for (double& hint : work.hints) hint *= 0.95 + 0.1 * random.uniform();
  }
  return work;
}

namespace {

Result<std::int64_t> items_for(const JobSetup& setup, const std::vector<GridHost>& hosts, double total) {
  double slots = 0;
  for (const GridHost& host : hosts) slots += host.slots;
  const double wanted =
      setup.profile == Profile::tail ? tail_items_per_slot * slots : total / setup.item_seconds;
  if (!(total > 0) || !(wanted >= 0.5)) {
    return Error{
        ErrorKind::invalid,
        fmt::format("the hosts of seed {} deliver {:.3g} s of work within {:.6g} s: take more hosts, "
                    "a longer time or shorter items",
                    setup.seed, total, setup.ideal_seconds)};
  }
  const auto most = setup.profile == Profile::uniform ? items_max : costed_items_max;
  if (wanted > static_cast<double>(most)) {
    return Error{ErrorKind::too_large,
                 fmt::format("{:.3g} items are more than {}: make the items longer", wanted, most)};
  }
  return std::max<std::int64_t>(1, std::llround(wanted));
}

// `unit`: seconds of a slot of unit speed in the hosts' unit of work.
Status set_problem(const JobSetup& setup, std::int64_t items, const std::vector<GridHost>& hosts, double unit,
                   GridProblem& problem, double& ideal_seconds) {
  double item_seconds = setup.item_seconds;
  if (items > 0) {
    problem.items = items;
    ideal_seconds = fluid_time(hosts, static_cast<double>(items) * item_seconds / unit);
    if (!std::isfinite(ideal_seconds))
      return Error{ErrorKind::invalid, fmt::format("the hosts of seed {} never get so far", setup.seed)};
  } else {
    const double total = delivered(hosts, setup.ideal_seconds).work * unit;
    TRY_ASSIGN(problem.items, items_for(setup, hosts, total));
    item_seconds = total / static_cast<double>(problem.items);
    ideal_seconds = setup.ideal_seconds;
  }
  Work work;
  if (setup.given.costs.empty()) {
    work = make_work(setup.profile, problem.items, setup.seed ^ 0x9e3779b97f4a7c15U);
  } else if (static_cast<std::int64_t>(setup.given.costs.size()) != problem.items) {
    return Error{ErrorKind::invalid, fmt::format("{} costs for {} items: give one an item",
                                                 setup.given.costs.size(), problem.items)};
  } else {
    work = setup.given;
  }
  const double mean = work.costs.empty() ? 1
                                         : std::accumulate(work.costs.begin(), work.costs.end(), 0.0) /
                                               static_cast<double>(problem.items);
  for (double& cost : work.costs) cost /= mean;
  for (double& hint : work.hints) hint /= mean;
  problem.costs = std::move(work.costs);
  problem.hint_costs = std::move(work.hints);
  problem.hints = !problem.hint_costs.empty() || problem.costs.empty();
  problem.item_seconds = item_seconds;
  problem.transfer_seconds = setup.transfer_share * item_seconds;
  return {};
}

}  // namespace

Status set_job(const JobSetup& setup, std::int64_t items, GridInstance& instance) {
  TRY(set_problem(setup, items, instance.hosts, 1, instance, instance.ideal_seconds));
  // A mean item is the unit of work from here on.
  for (GridHost& host : instance.hosts) host.speed /= instance.item_seconds;
  instance.benchmark_known = true;
  return {};
}

Status add_job(const JobSetup& setup, std::int64_t items, GridInstance& instance) {
  GridProblem problem;
  double alone = 0;
  TRY(set_problem(setup, items, instance.hosts, instance.item_seconds, problem, alone));
  const double scale = problem.item_seconds / instance.item_seconds;
  if (problem.costs.empty() && scale != 1) {
    problem.costs.assign(static_cast<std::size_t>(problem.items), 1);
    problem.hints = false;
  }
  for (double& cost : problem.costs) cost *= scale;
  instance.more.push_back(std::move(problem));
  instance.ideal_seconds += alone;
  return {};
}

}  // namespace gleaner::simulator
