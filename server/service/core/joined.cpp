#include "server/service/core/joined.h"

#include "server/service/core/end_host.h"
#include "server/service/core/put_out.h"
#include "shared/base/limits.h"
#include "shared/protocol/copy_name.h"

namespace gleaner::service {

Status check_request(const protocol::EnrolRequest& request) {
  if (request.host_key.size() != 32) return Error{ErrorKind::invalid, "host_key: expected 32 bytes"};
  if (request.cores < 1 || request.cores > 4096)
    return Error{ErrorKind::invalid, "cores: expected 1 to 4096"};
  return {};
}

void fill(storage::HostRow& row, const protocol::EnrolRequest& request, Timestamp now) {
  row.name = request.name.empty() ? "host" : request.name.substr(0, limits::name_length_max);
  row.public_key = request.host_key;
  row.machine = request.machine;
  row.platform = request.platform;
  row.cores = request.cores;
  row.memory_bytes = request.memory_bytes;
  row.client_version = request.client_version;
  if (request.benchmark) {
    row.mflops = request.benchmark->mflops;
    row.benchmark_at = request.benchmark->measured_at;
  }
  row.state = protocol::HostState::active;
  row.state_reason.clear();
  row.last_contact = now;
  row.children = 0;
  row.tls_key.clear();
}

void join_with(storage::HostRow& row, const storage::CodeRow& code, const protocol::EnrolRequest& request,
               const Host* known) {
  if (known == nullptr || row.code != code.name) {
    row.code = code.name;
    row.tags = code.tags;
    row.own = code.own;
  }
  if (!request.relay) return;
  row.name = code.name;
  row.children = code.children;
  row.tls_key = request.relay->tls_key;
}

Status let_go(Transaction& tx, const Host& known, const std::string& reason) {
  Host& host = tx.model.hosts.at(known.row.id);
  TRY(give_back_all(tx, host, reason));
  tx.model.project->dispatch().apply(policy::DropHostEvent{host.row.id}, tx.now);
  tx.effects.add(effect::DropToken{host.row.token_digest});
  return {};
}

Status store_joined(Transaction& tx, storage::HostRow& row, const Host* known,
                    std::optional<HostId> copy_of) {
  if (known != nullptr && known->row.children > 0 && row.children == 0)
    TRY(end_hosts_under(tx, *known, "is an ordinary host now"));
  if (known == nullptr) {
    row.enrolled_at = row.last_contact;
    TRY_ASSIGN(row.id, tx.store.add_host(row));
  }
  const auto original = copy_of ? tx.model.hosts.find(*copy_of) : tx.model.hosts.end();
  const bool same_name = original != tx.model.hosts.end() && original->second.row.name == row.name;
  if (same_name) row.name = protocol::name_of_copy(row.name, row.id);
  if (known != nullptr || same_name) TRY(tx.store.renew_host(row));
  tx.effects.add(effect::Announce{});
  tell_project(tx.model, row);
  const bool counted = known != nullptr && known->row.state == protocol::HostState::active;
  tx.model.contacts.heard(counted ? known->row.last_contact : Timestamp{}, tx.now, tx.now);
  Host& host = tx.model.hosts[row.id];
  host.row = row;
  host.stored_contact = row.last_contact;
  tx.model.index.put(row);
  return forget_put_out(tx, row.id);
}

}  // namespace gleaner::service
