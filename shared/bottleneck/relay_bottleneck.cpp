#include "shared/bottleneck/relay_bottleneck.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "shared/base/figures.h"
#include "shared/base/limits.h"
#include "shared/planning/bottleneck.h"

namespace gleaner {
namespace {

using planning::Bottleneck;
using protocol::HostInfo;
using protocol::RelayLimit;

// Less than this is no supply: a relay asks when what it has lasts its hosts ten minutes at most, and an
// answer takes a heartbeat.
constexpr double scarce_seconds = 60;
constexpr std::size_t named_max = 5;

std::string joined(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, ", "));
}

bool is_known(double value) {
  return std::isfinite(value) && value > 0;
}

// MFLOP/s of all its cores; 0: not measured.
double speed_of(const HostInfo& host) {
  const double together = host.speeds ? host.speeds->all_cores_mflops : 0;
  const double speed = is_known(together) ? together : host.mflops * std::max(host.cores, 1);
  return is_known(speed) ? speed : 0;
}

double middle_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The relay with the active hosts under it, each behind the relay that it is under.
struct Subtree {
  std::vector<const HostInfo*> hosts;
  std::vector<std::size_t> parents;  // places in `hosts`; of the first one no meaning
  std::vector<bool> relay;

  explicit Subtree(const RelayFigures& figures) {
    std::map<HostId, std::vector<const HostInfo*>> under;
    std::map<HostId, bool> relays;
    for (const auto& each : figures.relays)
      if (each.host) relays[*each.host] = true;
    const HostInfo* top = nullptr;
    for (const HostInfo& host : figures.hosts) {
      if (host.id == figures.relay.host) top = &host;
      if (host.relay && host.state == protocol::HostState::active) under[*host.relay].push_back(&host);
    }
    if (top == nullptr) return;
    add(*top, 0, true);
    for (std::size_t i = 0; i < hosts.size(); ++i)
      for (const HostInfo* host : under[hosts[i]->id])
        if (hosts.size() < figures.hosts.size()) add(*host, i, relays.contains(host->id));
  }
  void add(const HostInfo& host, std::size_t parent, bool is_relay) {
    hosts.push_back(&host);
    parents.push_back(parent);
    relay.push_back(is_relay);
  }
  [[nodiscard]] std::int64_t computing() const { return std::count(relay.begin(), relay.end(), false); }
  // Of those that have measured themselves.
  [[nodiscard]] double speed() const {
    double sum = 0;
    for (std::size_t i = 0; i < hosts.size(); ++i) sum += relay[i] ? 0 : speed_of(*hosts[i]);
    return sum;
  }
};

// MFLOP that an item takes, by the rates that the problem's hosts reached; the relay's own share is that of
// its hosts together. 0: none was measured.
double work_of_item(const RelayFigures& figures, const Subtree& tree) {
  if (!figures.problem || figures.problem->items <= 0 || !is_known(figures.problem->cost)) return 0;
  const auto& problem = *figures.problem;
  std::map<HostId, double> speeds;
  for (const HostInfo& host : figures.hosts) speeds[host.id] = speed_of(host);
  for (const auto& each : figures.relays)
    if (each.host) speeds[*each.host] = 0;  // it computes nothing itself
  std::vector<double> measured;
  for (const auto& share : problem.shares)
    if (is_known(share.rate) && speeds[share.host] > 0) measured.push_back(speeds[share.host] / share.rate);
  for (const auto& share : problem.shares)
    if (measured.empty() && share.host == figures.relay.host && is_known(share.rate) && tree.speed() > 0)
      measured.push_back(tree.speed() / share.rate);
  const double mean_cost = problem.cost / static_cast<double>(problem.items);
  return measured.empty() ? 0 : middle_of(measured) * mean_cost;
}

// What nobody says of items, the relay does, if it has had any.
RelayFigures with_item_bytes(RelayFigures figures) {
  for (const HostInfo& host : figures.hosts) {
    if (host.id != figures.relay.host || !host.item) continue;
    if (!figures.item_bytes) figures.item_bytes = host.item->down;
    if (!figures.result_bytes) figures.result_bytes = host.item->up;
  }
  return figures;
}

double seconds_over(std::optional<double> bytes, double bytes_per_second) {
  return bytes && *bytes > 0 && is_known(bytes_per_second) ? *bytes / bytes_per_second : 0;
}

// In the order of `tree`, behind a parent that computes nothing.
planning::TaskTree task_tree(const RelayFigures& figures, const Subtree& tree, double mflop) {
  constexpr double never = std::numeric_limits<double>::infinity();
  planning::TaskTree tasks;
  tasks.nodes.push_back({never, 0, 0, 0});
  for (std::size_t i = 0; i < tree.hosts.size(); ++i) {
    const HostInfo& host = *tree.hosts[i];
    const double speed = tree.relay[i] ? 0 : speed_of(host);
    const protocol::HostSpeeds link = host.speeds.value_or(protocol::HostSpeeds{});
    tasks.nodes.push_back(
        {speed > 0 ? mflop / speed : never, seconds_over(figures.item_bytes, link.download_bytes_per_second),
         seconds_over(figures.result_bytes, link.upload_bytes_per_second), i == 0 ? 0 : tree.parents[i] + 1});
  }
  return tasks;
}

std::vector<std::string> unknowns(const RelayFigures& figures, const Subtree& tree) {
  std::vector<std::string> all;
  if (!figures.item_bytes) all.emplace_back("the download of an item (--item-bytes)");
  if (!figures.result_bytes) all.emplace_back("the size of a result (--result-bytes)");
  std::int64_t links = 0;
  std::vector<std::string> slow;
  for (std::size_t i = 0; i < tree.hosts.size(); ++i) {
    const HostInfo& host = *tree.hosts[i];
    const protocol::HostSpeeds link = host.speeds.value_or(protocol::HostSpeeds{});
    const bool down = is_known(link.download_bytes_per_second), up = is_known(link.upload_bytes_per_second);
    if (i > 0 && !(down && up)) ++links;
    if (i == 0 && !down) all.emplace_back("the relay's link down");
    if (i == 0 && !up) all.emplace_back("the relay's link up");
    if (!tree.relay[i] && speed_of(host) == 0) slow.push_back(host.name);
  }
  if (links > 0) all.push_back("the link of " + counted(links, "host") + " under it");
  if (!slow.empty()) all.push_back("the speed of " + joined(slow));
  return all;
}

std::int64_t items_held(const RelayFigures& figures) {
  std::int64_t items = 0;
  for (const auto& unit : figures.units)
    if (unit.state == "open") items += std::max<std::int64_t>(0, unit.range.size() - unit.delivered);
  return items;
}

std::string items_per_second(double rate) {
  return figure_text(rate) + " items/s";
}

std::string names_text(const std::vector<std::string>& names) {
  if (names.size() <= named_max) return joined(names);
  const std::vector<std::string> first(names.begin(), names.begin() + named_max);
  return fmt::format("{} and {} more", joined(first), names.size() - named_max);
}

void explain_limit(const Bottleneck& limit, const Subtree& tree, RelayLimit& said) {
  const std::string could = ", and its hosts could compute " + items_per_second(limit.computing);
  if (limit.what == Bottleneck::What::computing) {
    said.limit = "hosts";
    said.sentence = fmt::format("its {}: together they compute {}, and the links could carry more",
                                counted(tree.computing(), "host"), items_per_second(limit.rate));
  } else if (limit.node > 1) {
    const HostInfo& below = *tree.hosts[limit.node - 1];
    said.limit = "relay-below";
    said.sentence = fmt::format("the relay {} (host {}) under it, whose links carry too little: {}",
                                below.name, below.id.value, items_per_second(limit.rate) + could);
  } else if (limit.node == 1 && !limit.own_link) {
    said.limit = "hosts-links";
    said.sentence = "the links to its hosts: " + items_per_second(limit.rate) + could;
  } else if (limit.what == Bottleneck::What::sending && limit.node == 1) {
    said.limit = "link-up";
    said.sentence = "its link up, which carries the results of " + items_per_second(limit.rate) + could;
  } else {
    said.limit = "link-down";
    said.sentence = "its link down, which carries the data of " + items_per_second(limit.rate) + could;
  }
}

}  // namespace

Result<RelayLimit> explain_relay(const RelayFigures& told) {
  const RelayFigures figures = with_item_bytes(told);
  const Subtree tree(figures);
  if (tree.hosts.size() > static_cast<std::size_t>(limits::plan_optimum_nodes_max))
    return Error{ErrorKind::too_large,
                 fmt::format("{} has {} hosts under it; the linear program is solved for up to {}",
                             figures.relay.name, tree.hosts.size() - 1, limits::plan_optimum_nodes_max - 1)};
  RelayLimit said;
  said.relay = figures.relay.name;
  const std::string begin = figures.relay.name + " is limited by ";
  const auto done = [&](const std::string& limit, const std::string& sentence) {
    said.limit = limit;
    said.sentence = sentence + ".";
    return said;
  };
  if (tree.hosts.empty())
    return done("hosts", figures.relay.name + " has not joined yet (" + figures.relay.state + ")");
  if (tree.computing() == 0)
    return done("hosts",
                "No host is under " + figures.relay.name + ": `gleaner-relay code` prints their join code");
  said.never_measured = unknowns(figures, tree);
  const std::int64_t held = items_held(figures);
  const double mflop = work_of_item(figures, tree);
  if (mflop <= 0 || tree.speed() <= 0) {
    said.never_measured.emplace_back(figures.problem
                                         ? "the speed of hosts with items of " + figures.problem->name
                                         : "any problem: it has had no unit");
    if (held == 0) return done("work", begin + "its supply of work: it holds none");
    if (tree.speed() <= 0)
      return done(
          "unknown",
          "The bottleneck of " + figures.relay.name +
              " is not known yet: none of its hosts has reported its speed. Each measures itself in its "
              "first minutes, and the relay passes that on within a minute");
    return done("unknown",
                "The bottleneck of " + figures.relay.name +
                    " is not known yet: the first results show the speed of its hosts, and the first "
                    "64 KiB that of their links");
  }

  const planning::TaskTree tasks = task_tree(figures, tree, mflop);
  TRY_ASSIGN(const auto best, planning::best_throughput(tasks));
  const Bottleneck limit = planning::bottleneck_of(tasks, best, 1);
  said.items_per_second = limit.rate;
  said.computing_items_per_second = limit.computing;
  said.work_seconds = static_cast<double>(held) / limit.rate;
  if (held == 0)
    return done("work", begin + "its supply of work: it holds none, and its hosts could do " +
                            items_per_second(limit.rate));
  if (*said.work_seconds < scarce_seconds)
    return done("work",
                begin + fmt::format("its supply of work: it holds {}, which last its hosts {:.0f} s at {}",
                                    counted(held, "item"), *said.work_seconds, items_per_second(limit.rate)));
  explain_limit(limit, tree, said);
  for (const std::size_t node : limit.left_out) said.left_out.push_back(tree.hosts[node - 1]->name);
  said.sentence = begin + said.sentence + ".";
  if (!said.left_out.empty())
    said.sentence += fmt::format(" These hosts add no throughput: {}.", names_text(said.left_out));
  return said;
}

}  // namespace gleaner
