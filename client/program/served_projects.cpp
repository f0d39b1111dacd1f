#include "client/program/served_projects.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>

namespace gleaner::program {
namespace {

Result<engine::Identity> confirmed(const engine::ProjectDirectory& directory, const engine::Machine& machine,
                                   const engine::JoinFacts& facts, const std::string& agent) {
  io::Files& files = io::real_files();
  TRY_ASSIGN(const engine::Identity stored, engine::load_or_pending(files, directory));
  const auto http = io::make_curl_client(stored.code.root_fingerprint, agent);
  return engine::confirm_machine(*http, files, machine, directory, facts, system_clock().now());
}

}  // namespace

Result<std::vector<ServedProject>> served_projects(const engine::StateDirectory& state,
                                                   const engine::Machine& machine,
                                                   const engine::JoinFacts& facts) {
  io::Files& files = io::real_files();
  const std::string agent = "gleaner-client/" + facts.client_version;
  TRY(engine::migrate_state(files, state));
  TRY_ASSIGN(const auto directories, engine::joined_projects(files, state));
  std::vector<ServedProject> all;
  std::optional<Error> trouble;
  for (const engine::ProjectDirectory& directory : directories) {
    auto identity = confirmed(directory, machine, facts, agent);
    if (!identity.ok()) {
      if (directories.size() > 1)
        spdlog::error("nothing is computed for the project in {}: {}", directory.root.string(),
                      identity.error().message);
      trouble = identity.error();
      continue;
    }
    ServedProject served{directory, *identity};
    served.workers = std::make_unique<engine::ThreadWorkers>(
        [fingerprint = identity->code.root_fingerprint, agent, rates = served.rates, link = served.link] {
          return engine::metered(io::make_curl_client(fingerprint, agent, rates), link);
        });
    all.push_back(std::move(served));
  }
  if (!all.empty()) return all;
  return trouble.value_or(engine::none_joined(state));
}

void take_rates(const std::vector<ServedProject>& projects, const engine::Wishes& wishes) {
  const auto part = [&projects](std::int64_t all) {
    return all == 0 ? 0 : std::max<std::int64_t>(1, all / static_cast<std::int64_t>(projects.size()));
  };
  for (const ServedProject& project : projects) {
    project.rates->download = part(wishes.download_bytes_per_second);
    project.rates->upload = part(wishes.upload_bytes_per_second);
  }
}

}  // namespace gleaner::program
