// A host joins: it shows the enrolment secret and its own key, and gets a token.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "server/service/service.h"
#include "shared/base/limits.h"

namespace gleaner::service {
namespace {

Status check_request(const protocol::EnrolRequest& request, const Bytes& secret) {
  if (!equal_constant_time(request.secret, secret))
    return Error{ErrorKind::forbidden,
                 "the enrolment secret is wrong: ask the administrator for the present join code"};
  if (request.host_key.size() != 32) return Error{ErrorKind::invalid, "host_key: expected 32 bytes"};
  if (request.cores < 1 || request.cores > 4096)
    return Error{ErrorKind::invalid, "cores: expected 1 to 4096"};
  return {};
}

}  // namespace

void Service::enrol(protocol::EnrolRequest request, Done<protocol::EnrolReply> done) {
  if (const Status checked = check_request(request, secrets_.enrolment_secret); !checked.ok())
    return done(checked.error());
  decide<protocol::EnrolReply>(
      [this, request = std::move(request)](Result<protocol::EnrolReply>& reply) -> Status {
        // The same key on the same machine is the same host (its state was lost, or the reply was): a new
        // token, the old one ends. The same key on another machine is a cloned disk: a new host.
        Host* known = nullptr;
        for (auto& [id, host] : model_.hosts)
          if (host.row.public_key == request.host_key && host.row.machine == request.machine) known = &host;
        if (known != nullptr && known->row.state == protocol::HostState::revoked) {
          reply = Error{ErrorKind::forbidden, "this host was revoked by the administrator"};
          return {};
        }
        const std::string token = to_base64url(crypto::random_secret(32));
        storage::HostRow row = known != nullptr ? known->row : storage::HostRow{};
        const Bytes old_digest = row.token_digest;
        row.name = request.name.empty() ? "host" : request.name.substr(0, limits::name_length_max);
        row.public_key = request.host_key;
        row.machine = request.machine;
        row.token_digest = crypto::sha256(token);
        row.platform = request.platform;
        row.cores = request.cores;
        row.memory_bytes = request.memory_bytes;
        row.client_version = request.client_version;
        if (request.benchmark) {
          row.mflops = request.benchmark->mflops;
          row.benchmark_at = request.benchmark->measured_at;
        }
        row.state = protocol::HostState::active;
        row.last_contact = now();
        if (known != nullptr) {
          TRY(store_->update_host(row));
        } else {
          row.enrolled_at = row.last_contact;
          TRY_ASSIGN(row.id, store_->add_host(row));
        }
        Host& host = model_.hosts[row.id];
        host.row = row;
        host.stored_contact = row.last_contact;
        update_slowest(model_);
        {
          const std::unique_lock lock(tokens_mutex_);
          tokens_.erase(old_digest);
          tokens_[row.token_digest] = row.id;
        }
        spdlog::info("host {} ({}) {}: {} cores, {}", row.id.value, row.name,
                     known != nullptr ? "joined again" : "joined", row.cores, row.platform);
        reply = protocol::EnrolReply{row.id, token};
        return {};
      },
      std::move(done));
}

}  // namespace gleaner::service
