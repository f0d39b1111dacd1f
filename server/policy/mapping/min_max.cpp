// MM and MX with and without communication. Only the host that was just given a task gets later, so a task's
// best host is looked for again only if it was that one.
#include <algorithm>
#include <vector>

#include "server/policy/mapping/heuristics.h"
#include "server/policy/mapping/table.h"

namespace gleaner::policy {
namespace {

constexpr const char* min_max_source = "Ibarra and Kim 1977; Maheswaran et al. 1999; Page 2009, section 3.2";

const char* name_of(Extreme extreme, Communication communication) {
  if (communication == Communication::counted) return extreme == Extreme::least ? "mmc" : "mxc";
  return extreme == Extreme::least ? "mm" : "mx";
}

template <Extreme extreme, Communication communication>
Result<std::unique_ptr<MappingStrategy>> make_min_max(StrategyOptions&) {
  return list_heuristic(
      name_of(extreme, communication),
      +[](const MappingInput& input) { return extreme_finish(input, extreme, communication); });
}

}  // namespace

Schedule extreme_finish(const MappingInput& input, Extreme extreme, Communication communication) {
  const MappingCosts costs(input, communication);
  MappingDraft plan(input, costs);
  struct Open {
    std::size_t task;
    std::size_t host;
    double finish;
  };
  std::vector<Open> open;
  for (const std::size_t task : costs.tasks()) {
    const std::size_t host = plan.best_host(task);
    open.push_back({task, host, plan.finish(task, host)});
  }
  while (!open.empty()) {
    std::size_t chosen = 0;
    for (std::size_t i = 1; i < open.size(); ++i) {
      const bool better = extreme == Extreme::least ? clearly_less(open[i].finish, open[chosen].finish)
                                                    : clearly_less(open[chosen].finish, open[i].finish);
      if (better) chosen = i;
    }
    const std::size_t host = open[chosen].host;
    plan.place(open[chosen].task, host);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(chosen));
    for (Open& other : open) {
      if (other.host != host) continue;
      other.host = plan.best_host(other.task);
      other.finish = plan.finish(other.task, other.host);
    }
  }
  return std::move(plan).done(name_of(extreme, communication));
}

MappingEntry mm_entry() {
  return {{"mm", "min-min: again and again the open task that can finish first", min_max_source, {}},
          make_min_max<Extreme::least, Communication::ignored>};
}

MappingEntry mx_entry() {
  return {{"mx",
           "max-min: again and again the open task whose earliest finish is the latest",
           min_max_source,
           {}},
          make_min_max<Extreme::most, Communication::ignored>};
}

MappingEntry mmc_entry() {
  return {{"mmc", "min-min with communication counted", min_max_source, {}},
          make_min_max<Extreme::least, Communication::counted>};
}

MappingEntry mxc_entry() {
  return {{"mxc", "max-min with communication counted", min_max_source, {}},
          make_min_max<Extreme::most, Communication::counted>};
}

}  // namespace gleaner::policy
