#include "server/service/core/end_host.h"

#include <fmt/format.h>

#include <utility>

#include "server/service/core/put_out.h"
#include "server/service/core/stage_changes.h"

namespace gleaner::service {

Status give_back_all(Transaction& tx, Host& host, const std::string& reason) {
  for (auto& [id, problem] : tx.model.problems) {
    if (!problem.stage) continue;
    policy::Changes changes;
    problem.stage->apply(policy::HostLeftEvent{host.row.id, reason}, tx.now, changes);
    TRY(store_stage(tx, problem, changes));
  }
  return {};
}

Status end_hosts_under(Transaction& tx, const Host& relay, const std::string& why) {
  for (const HostId child : tx.model.index.relays().under(relay.row.id)) {
    Host& host = tx.model.hosts.at(child);
    host.row.state_reason =
        fmt::format("was under the relay {} (host {}), which {}", relay.row.name, relay.row.id.value, why);
    TRY(end_host(tx, host, protocol::HostState::left, "the host's relay is one no more"));
  }
  return {};
}

Status end_host(Transaction& tx, Host& host, protocol::HostState state, const std::string& reason) {
  TRY(give_back_all(tx, host, reason));
  TRY(end_hosts_under(tx, host, state == protocol::HostState::revoked ? "was revoked" : "has left"));
  TRY(forget_relay_of_put_out(tx, host.row.id));
  tx.model.project->forget_failures(host.row.id);
  if (host.row.state == protocol::HostState::active) tx.model.contacts.forget(host.row.last_contact);
  host.row.state = state;
  host.row.relay = HostId{};
  tell_project(tx.model, host.row);
  tx.model.project->dispatch().apply(policy::DropHostEvent{host.row.id}, tx.now);
  TRY(tx.store.update_host(host.row));
  tx.model.index.put(host.row);
  tx.effects.add(effect::RefuseToken{host.row.token_digest, host.row.state_reason});
  tx.effects.add(effect::Announce{});
  return {};
}

Status put_out_host(Transaction& tx, Host& host, protocol::HostState state, std::string state_reason,
                    const std::string& reason) {
  host.row.state_reason = std::move(state_reason);
  TRY(note_put_out(tx, host.row.id));
  return end_host(tx, host, state, reason);
}

}  // namespace gleaner::service
