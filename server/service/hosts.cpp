// Hosts, as an administrator sees and revokes them.
#include <spdlog/spdlog.h>

#include "server/service/service.h"

namespace gleaner::service {

protocol::HostInfo Service::describe(const Host& host) const {
  const auto& row = host.row;
  protocol::HostInfo info;
  info.id = row.id;
  info.name = row.name;
  info.state = row.state;
  info.platform = row.platform;
  info.cores = row.cores;
  info.memory_bytes = row.memory_bytes;
  info.client_version = row.client_version;
  info.mflops = row.mflops;
  if (row.speeds != protocol::HostSpeeds{}) info.speeds = row.speeds;
  info.items_accepted = row.items_accepted;
  info.cost_accepted = row.cost_accepted;
  info.failures = row.health.failures;
  info.disagreements = row.disagreements;
  info.enrolled_at = row.enrolled_at;
  info.last_contact = row.last_contact;
  info.open_units = static_cast<int>(host.units.size());
  info.state_reason = row.state_reason;
  if (const auto blocked = policy::blocked_for(row.health, now()))
    info.state_reason = "held back after failures: " + row.health.reason;
  return info;
}

void Service::hosts(Done<std::vector<protocol::HostInfo>> done) {
  decide<std::vector<protocol::HostInfo>>(
      [this](Result<std::vector<protocol::HostInfo>>& list) -> Status {
        std::vector<protocol::HostInfo> all;
        for (const auto& [id, host] : model_.hosts) all.push_back(describe(host));
        list = std::move(all);
        return {};
      },
      std::move(done));
}

void Service::host(HostId id, Done<protocol::HostInfo> done) {
  decide<protocol::HostInfo>(
      [this, id](Result<protocol::HostInfo>& info) -> Status {
        const auto found = model_.hosts.find(id);
        info = found == model_.hosts.end()
                   ? Result<protocol::HostInfo>(
                         Error{ErrorKind::not_found, "no host " + std::to_string(id.value) + " here"})
                   : Result<protocol::HostInfo>(describe(found->second));
        return {};
      },
      std::move(done));
}

void Service::revoke_host(HostId id, Done<protocol::HostInfo> done) {
  decide<protocol::HostInfo>(
      [this, id](Result<protocol::HostInfo>& info) -> Status {
        const auto found = model_.hosts.find(id);
        if (found == model_.hosts.end()) {
          info = Error{ErrorKind::not_found, "no host " + std::to_string(id.value) + " here"};
          return {};
        }
        Host& host = found->second;
        for (auto& [problem_id, problem] : model_.problems) {
          if (!problem.stage) continue;
          policy::Changes changes;
          problem.stage->host_left(id, "the administrator revoked the host", now(), changes);
          TRY(store_stage(problem, changes));
        }
        host.row.state = protocol::HostState::revoked;
        host.row.state_reason = "revoked by the administrator";
        TRY(store_->update_host(host.row));
        update_slowest(model_);
        spdlog::info("host {} ({}) is revoked", id.value, host.row.name);
        const std::unique_lock lock(tokens_mutex_);
        tokens_.erase(host.row.token_digest);
        info = describe(host);
        return {};
      },
      std::move(done));
}

}  // namespace gleaner::service
