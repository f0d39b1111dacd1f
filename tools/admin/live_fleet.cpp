#include "tools/admin/live_fleet.h"

#include <algorithm>
#include <cmath>

#include "shared/base/limits.h"
#include "tools/admin/figures.h"

namespace gleaner::admin {
namespace {

constexpr double recent_seconds = 300;        // as the server counts its active hosts
constexpr double average_after_seconds = 60;  // shorter histories say little

bool is_rate(double rate) {
  return std::isfinite(rate) && rate > 0 && 1 / rate >= 1 / limits::plan_number_max &&
         1 / rate <= limits::plan_number_max;
}

LiveFleet star(double load, const LiveLinks& links) {
  LiveFleet live;
  live.fleet.tree = planning::LoadTree::dispatcher("server");
  live.fleet.cost = {load, links.load_seconds, links.result_seconds, links.duplex};
  return live;
}

double left_of(const protocol::ProblemInfo& problem) {
  return problem.cost - problem.cost_accepted;
}

bool at_work(const protocol::HostShare& share) {
  return is_rate(share.rate) && share.last_contact_seconds <= recent_seconds;
}

// The costs are given for the whole load over a link of z = 1.
void add_host(LiveFleet& live, const LiveLinks& links, HostId host, double rate, const std::string& name) {
  const bool costly = live.fleet.cost.tcm > 0 || live.fleet.cost.tsol > 0;
  const auto found = links.relative.find(host);
  live.fleet.tree.add(0, 1 / rate, !costly ? 0 : found == links.relative.end() ? 1 : found->second, name);
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Status check_size(std::size_t hosts) {
  if (hosts < static_cast<std::size_t>(limits::plan_nodes_max)) return {};
  return Error{ErrorKind::too_large, "the project has " + count_text(static_cast<std::int64_t>(hosts)) +
                                         " hosts; at most " + count_text(limits::plan_nodes_max - 1) +
                                         " are planned for"};
}

}  // namespace

Result<LiveLinks> measured_links(const std::vector<protocol::HostInfo>& hosts, double load_bytes,
                                 double result_bytes) {
  std::vector<double> down, up;
  for (const auto& host : hosts) {
    if (!host.speeds) continue;
    if (is_rate(host.speeds->download_bytes_per_second))
      down.push_back(host.speeds->download_bytes_per_second);
    if (is_rate(host.speeds->upload_bytes_per_second)) up.push_back(host.speeds->upload_bytes_per_second);
  }
  if (down.empty() && up.empty())
    return Error{
        ErrorKind::not_found,
        "no host has measured its link yet (they do when they fetch or deliver something large): give "
        "--load-seconds and --result-seconds instead"};
  // One number stands for a link in these models: the way down, which the load takes.
  const double typical = median_of(down.empty() ? up : down);
  LiveLinks links;
  links.load_seconds = load_bytes / typical;
  links.result_seconds = result_bytes / (up.empty() ? typical : median_of(up));
  for (const auto& host : hosts)
    if (host.speeds && is_rate(host.speeds->download_bytes_per_second))
      links.relative[host.id] = typical / host.speeds->download_bytes_per_second;
  return links;
}

Result<LiveFleet> live_fleet(const std::vector<protocol::HostInfo>& hosts, double mflop,
                             const LiveLinks& links) {
  TRY(check_size(hosts.size()));
  LiveFleet live = star(mflop, links);
  live.load = figure_text(mflop) + " Mflop";
  std::int64_t away = 0, unknown = 0;
  for (const auto& host : hosts) {
    const double together = host.speeds ? host.speeds->all_cores_mflops : 0;
    const double rate = together > 0 ? together : host.mflops * std::max(host.cores, 1);
    if (host.state != protocol::HostState::active)
      ++away;
    else if (!is_rate(rate))
      ++unknown;
    else
      add_host(live, links, host.id, rate, host.name);
  }
  if (away > 0) live.remarks.push_back(counted(away, "host") + " left or revoked: not counted");
  if (unknown > 0) live.remarks.push_back(counted(unknown, "host") + " without a benchmark yet: not counted");
  if (live.fleet.tree.size() == 1)
    return Error{ErrorKind::not_found,
                 "no active host has a benchmark yet: there is nothing to plan with (a fleet file describes "
                 "hosts that are not there)"};
  return live;
}

Result<LiveFleet> live_fleet(const protocol::ProblemInfo& problem, const LiveLinks& links) {
  TRY(check_size(std::max(problem.shares.size(), static_cast<std::size_t>(problem.shares_total))));
  const std::string name = "problem " + std::to_string(problem.id.value) + " (" + problem.name + ")";
  const double left = left_of(problem);
  using State = protocol::ProblemState;
  if (problem.state == State::finished || problem.state == State::cancelled || problem.state == State::failed)
    return Error{ErrorKind::conflict,
                 name + " is " + protocol::name_of(problem.state) + ": there is nothing to plan"};
  if (!(left > 0))
    return Error{ErrorKind::conflict,
                 name + " has nothing to hand out now (it is " + protocol::name_of(problem.state) + ")"};
  LiveFleet live = star(std::clamp(left, 1 / limits::plan_number_max, limits::plan_number_max), links);
  live.load = "what is left of " + name + ", stage " + std::to_string(problem.stage + 1) + ": " +
              percent_text(left, problem.cost);
  std::int64_t away = 0;
  for (const auto& share : problem.shares) {
    if (at_work(share))
      add_host(live, links, share.host, share.rate, share.name);
    else
      ++away;
  }
  if (away > 0)
    live.remarks.push_back(counted(away, "host") +
                           " without a report for five minutes or without a measured rate: not counted");
  if (live.fleet.tree.size() == 1)
    return Error{ErrorKind::conflict,
                 "no host at work has delivered anything for " + name +
                     " yet: there is nothing measured to go by; try again in some minutes"};
  return live;
}

Forecast forecast(const protocol::ProblemInfo& problem, double planned) {
  Forecast forecast;
  const double left = left_of(problem);
  for (const auto& share : problem.shares) forecast.rate_of_hosts += at_work(share) ? share.rate : 0;
  forecast.rate_of_minute = std::max(problem.rate, 0.0);
  if (problem.elapsed_seconds >= average_after_seconds)
    forecast.rate_average = problem.cost_accepted / problem.elapsed_seconds;
  forecast.seconds = forecast.low = forecast.high = planned;
  for (const double rate : {forecast.rate_of_hosts, forecast.rate_of_minute, forecast.rate_average}) {
    if (!is_rate(rate)) continue;
    forecast.low = std::min(forecast.low, left / rate);
    forecast.high = std::max(forecast.high, left / rate);
  }
  return forecast;
}

}  // namespace gleaner::admin
