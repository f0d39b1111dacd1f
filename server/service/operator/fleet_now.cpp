#include "server/service/operator/fleet_now.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/service/work/trust.h"
#include "shared/base/capability.h"
#include "shared/base/limits.h"

namespace gleaner::service {
namespace {

constexpr Duration online_within = Contacts::remembered;
constexpr std::size_t reasons_max = 64;

std::string hosts_text(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " host" : " hosts");
}

std::string ago_text(Duration passed) {
  const auto minutes = std::max<std::int64_t>(1, static_cast<std::int64_t>(to_seconds(passed) / 60));
  if (minutes < 120) return std::to_string(minutes) + " min";
  return minutes < 48 * 60 ? std::to_string(minutes / 60) + " h" : std::to_string(minutes / 1440) + " days";
}

// Hosts online that asked for work since the start; how many of them the application has a kernel for, how
// many meet its needs, and how many both.
struct Suited {
  std::int64_t online = 0, kernel = 0, needs = 0, both = 0;
};
Suited suited_hosts(const Model& model, const Problem& problem, Timestamp now) {
  Suited count;
  std::map<std::vector<std::string>, bool> kernel_for;  // many hosts, few sorts of them
  for (const auto& [id, host] : model.hosts) {
    if (host.row.state != protocol::HostState::active || host.row.children > 0) continue;
    const Host& speaker = speaker_of(model, host);
    if (speaker.cores_offered == 0 || now - speaker.row.last_contact > online_within) continue;
    ++count.online;
    const auto [known, is_new] = kernel_for.try_emplace(speaker.platforms);
    if (is_new) known->second = !problem.manifest.kernel_for(speaker.platforms).empty();
    const bool kernel = known->second;
    const bool needs = are_met(problem.manifest.needs, speaker.capabilities);
    count.kernel += kernel ? 1 : 0;
    count.needs += needs ? 1 : 0;
    count.both += kernel && needs ? 1 : 0;
  }
  return count;
}

std::string needs_text(const Problem& problem, const Suited& count) {
  std::string text;
  if (count.kernel < count.online) {
    std::string platforms;
    for (const auto& [platform, kernel] : problem.manifest.kernels)
      platforms += (platforms.empty() ? "" : ", ") + platform;
    text = fmt::format("has kernels for {}; {} of {} online {} one", platforms, count.kernel,
                       hosts_text(count.online), count.kernel == 1 ? "runs" : "run");
  }
  if (problem.manifest.needs.empty()) return text;
  return text + (text.empty() ? "" : "; ") +
         fmt::format("needs {}; {} of {} online {} it", words_of_needs(problem.manifest.needs), count.needs,
                     hosts_text(count.online), count.needs == 1 ? "has" : "have");
}

}  // namespace

const Host& speaker_of(const Model& model, const Host& host) {
  const Host* speaker = &host;
  for (int depth = 0; depth < limits::relay_depth_max && speaker->row.relay != HostId{}; ++depth) {
    const auto above = model.hosts.find(speaker->row.relay);
    if (above == model.hosts.end()) break;
    speaker = &above->second;
  }
  return *speaker;
}

bool is_online(const Model& model, const Host& host, Timestamp now) {
  if (host.row.state != protocol::HostState::active || host.row.children > 0) return false;
  return now - std::max(host.row.last_contact, speaker_of(model, host).row.last_contact) <= online_within;
}

std::string needs_text(const Model& model, const Problem& problem, Timestamp now) {
  if (problem.manifest.needs.empty() && problem.manifest.kernels.contains("any")) return {};
  return needs_text(problem, suited_hosts(model, problem, now));
}

FleetNow fleet_now(const Model& model, Timestamp now) {
  FleetNow fleet;
  for (const auto& [id, host] : model.hosts) {
    if (host.row.state != protocol::HostState::active || host.row.children > 0) continue;
    ++fleet.joined;
    const Host& speaker = speaker_of(model, host);
    const Timestamp heard = std::max(host.row.last_contact, speaker.row.last_contact);
    fleet.last_contact = std::max(fleet.last_contact, heard);
    if (now - heard > online_within) continue;
    ++fleet.online;
    if (speaker.cores_offered > 0) fleet.platforms.insert(speaker.platforms);
    const bool on_hold = !host.row.on_hold.empty();
    if (!on_hold) fleet.cores += host.usable_cores();
    if (!on_hold && host.row.mflops > 0) {
      fleet.cores_measured += host.usable_cores();
      fleet.mflops_measured += host.row.mflops * host.usable_cores();
    }
    if (const auto held = model.project->blame().held_from(id, now)) ++fleet.held[held->first];
    if (!speaker.units.empty()) {
      ++fleet.busy;
      continue;
    }
    if (on_hold) {
      ++fleet.on_hold;
      continue;
    }
    const std::string& reason = host.row.state_reason;
    if (!reason.empty() && (fleet.reasons.size() < reasons_max || fleet.reasons.count(reason) > 0))
      ++fleet.reasons[reason];
  }
  return fleet;
}

// A slot that has units of two problems is busy in both their stages; the shares count it once, but know of
// silence only while problems compete.
SlotsNow slots_now(const Model& model, Timestamp now) {
  SlotsNow slots;
  for (const auto& [id, problem] : model.problems) {
    if (!problem.stage) continue;
    const auto counts = problem.stage->view().counts(now);
    slots.busy += counts.busy;
    slots.watts += counts.watts;
  }
  const std::int64_t held = model.project->dispatch().shares().slots_held();
  if (held >= slots.busy) return slots;
  slots.watts *= static_cast<double>(held) / static_cast<double>(slots.busy);
  slots.busy = held;
  return slots;
}

std::string waits_for(const Model& model, const Problem& problem, const FleetNow& fleet, Timestamp now) {
  if (!problem.stage || problem.stage->view().complete()) return {};
  if (fleet.joined == 0) return "no host has joined yet: `gleaner-admin status` shows the join code";
  if (fleet.online == 0)
    return fmt::format("none of {} has reported for {}", hosts_text(fleet.joined),
                       ago_text(now - fleet.last_contact));
  // Another pass over the hosts, of each problem that waits: only where there may be something that all lack.
  const bool no_kernel = std::none_of(fleet.platforms.begin(), fleet.platforms.end(), [&](const auto& each) {
    return !problem.manifest.kernel_for(each).empty();
  });
  if (!problem.manifest.needs.empty() || no_kernel)
    if (const Suited count = suited_hosts(model, problem, now); count.online > 0 && count.both == 0)
      return needs_text(problem, count);
  const auto counts = problem.stage->view().counts(now);
  if (counts.accepted + counts.set_aside == counts.items &&
      !problem.stage->view().ledger().disputed().empty())
    return opinions_waited_for(model, problem, now);
  if (const auto held = fleet.held.find(problem.row.application); held != fleet.held.end())
    return fmt::format("{} of {} online held back after failures of {}", held->second,
                       hosts_text(fleet.online), problem.application_name);
  if (fleet.on_hold > 0 && fleet.on_hold + fleet.busy == fleet.online)
    return fmt::format("{} of {} online on hold: `gleaner-admin host release` releases them", fleet.on_hold,
                       hosts_text(fleet.online));
  if (fleet.busy == fleet.online)
    return fleet.busy == 1 ? "the one host online computes other problems"
                           : "all hosts online compute other problems";
  const auto most = std::max_element(fleet.reasons.begin(), fleet.reasons.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == fleet.reasons.end())
    return counts.units == 0 ? "hosts are online, and none has asked for work of it yet"
                             : "no host online has a unit of it now";
  return fmt::format("{} of {} online: {}", most->second, hosts_text(fleet.online), most->first);
}

}  // namespace gleaner::service
