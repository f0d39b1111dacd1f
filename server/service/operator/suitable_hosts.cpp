#include "server/service/operator/suitable_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/service/operator/fleet_now.h"
#include "shared/base/capability.h"

namespace gleaner::service {
namespace {

struct Reason {
  std::string kind, value, text;
};

constexpr double mebibyte = 1 << 20;

// The first thing in the way; `speaker`: the relay that asks for its work, or the host itself.
std::optional<Reason> obstacle(const Model& model, const Problem& problem, const Host& host,
                               const Host& speaker, Timestamp now) {
  const bundle::Manifest& manifest = problem.manifest;
  // Until it asks for work it is known by its own word alone.
  const bool own_word = speaker.platforms.empty();
  if (manifest.kernel_for(own_word ? std::vector{host.row.platform} : speaker.platforms).empty())
    return Reason{"platform", host.row.platform, "the application has no kernel for " + host.row.platform};
  if (host.usable_memory() > 0 && manifest.memory_bytes > host.usable_memory()) {
    const std::string needed = fmt::format("{:.0f}", static_cast<double>(manifest.memory_bytes) / mebibyte);
    return Reason{"memory", needed, "less than " + needed + " MiB of memory"};
  }
  if (manifest.threads > host.usable_cores()) {
    const std::string needed = std::to_string(manifest.threads);
    return Reason{"cores", needed, "lends fewer than " + needed + " cores"};
  }
  if (speaker.cores_offered == 0)
    return Reason{"silent", "", "has not asked for work since the server started"};
  std::vector<std::string> unmet;
  for (const std::string& need : manifest.needs)
    if (!is_met(need, speaker.capabilities)) unmet.push_back(need);
  if (!unmet.empty())
    return Reason{"need", fmt::format("{}", fmt::join(unmet, ", ")), "lacks " + words_of_needs(unmet)};
  if (!host.row.on_hold.empty()) return Reason{"on hold", "", "on hold"};
  const auto held = model.project->blame().held_from(host.row.id, now);
  if (held && held->first == problem.row.application)
    return Reason{"failures", "", "held back after failures of this application"};
  return std::nullopt;
}

}  // namespace

protocol::ProblemHosts suitable_hosts(const Model& model, const Problem& problem, Timestamp now) {
  protocol::ProblemHosts told;
  told.needs = problem.manifest.needs;
  for (const auto& [platform, kernel] : problem.manifest.kernels) told.platforms.push_back(platform);
  told.memory_bytes = problem.manifest.memory_bytes;
  told.cores = problem.manifest.threads;
  std::map<std::pair<std::string, std::string>, protocol::UnsuitedHosts> groups;
  for (const auto& [id, host] : model.hosts) {
    if (!is_online(model, host, now)) continue;
    ++told.hosts;
    const auto reason = obstacle(model, problem, host, speaker_of(model, host), now);
    if (!reason) {
      ++told.suited;
      continue;
    }
    auto& group = groups[{reason->kind, reason->value}];
    group.kind = reason->kind;
    group.value = reason->value;
    group.text = reason->text;
    if (++group.hosts > protocol::UnsuitedHosts::examples_max) continue;
    group.examples.push_back(id);
    group.names.push_back(host.row.name);
  }
  for (auto& [key, group] : groups) told.unsuited.push_back(std::move(group));
  std::stable_sort(told.unsuited.begin(), told.unsuited.end(),
                   [](const auto& a, const auto& b) { return a.hosts > b.hosts; });
  if (told.unsuited.size() > static_cast<std::size_t>(protocol::ProblemHosts::unsuited_max))
    told.unsuited.resize(static_cast<std::size_t>(protocol::ProblemHosts::unsuited_max));
  return told;
}

}  // namespace gleaner::service
