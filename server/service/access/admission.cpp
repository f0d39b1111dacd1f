#include "server/service/access/admission.h"

#include <fmt/format.h>

#include "server/service/core/ban_registry.h"
#include "shared/base/figures.h"
#include "shared/crypto/keys.h"

namespace gleaner::service {
namespace {

constexpr const char* ask = ": ask the administrator for the present join code";

Error refused(const std::string& why) {
  return {ErrorKind::forbidden, why + ask};
}

}  // namespace

const Host* known_host(const Model& model, const Bytes& host_key, const std::string& machine) {
  for (const HostId id : model.index.with_key(host_key))
    if (const Host& host = model.hosts.at(id); host.row.public_key == host_key && host.row.machine == machine)
      return &host;
  return nullptr;
}

Status check_key(const Model& model, const Bytes& host_key, Timestamp now) {
  if (const auto* ban = ban_of_key(model, host_key, now); ban != nullptr) return banned(*ban);
  for (const HostId id : model.index.with_key(host_key))
    if (const storage::HostRow& row = model.hosts.at(id).row;
        row.public_key == host_key && row.state == protocol::HostState::revoked)
      return Error{
          ErrorKind::forbidden,
          fmt::format("the administrator revoked this computer (host {}), and it may not return: ask "
                      "the administrator",
                      id.value)};
  return {};
}

std::int64_t hosts_of(const Model& model, const storage::CodeRow& code) {
  return model.index.with_code(code.name);
}

std::optional<std::string> closed(const Model& model, const storage::CodeRow& code, Timestamp now) {
  if (code.withdrawn_at != Timestamp{}) return "withdrawn";
  if (code.expires_at != Timestamp{} && code.expires_at <= now) return "expired";
  if (code.hosts_max > 0 && hosts_of(model, code) >= code.hosts_max) return "full";
  return {};
}

Result<const storage::CodeRow*> admit(const Model& model, const Bytes& secret, Joining kind,
                                      const Bytes& host_key, const Host* known, Timestamp now) {
  const Bytes digest = crypto::sha256(secret);
  const storage::CodeRow* code = nullptr;
  for (const auto& [name, row] : model.codes)
    if (equal_constant_time(row.secret_digest, digest)) code = &row;
  if (code == nullptr) return refused("the secret of this join code is not valid here, or no longer");
  if (const auto* ban = ban_of_code(model, code->name, now); ban != nullptr) return banned(*ban);
  TRY(check_key(model, host_key, now));
  if (kind == Joining::relay && code->children == 0)
    return Error{ErrorKind::forbidden,
                 "this join code admits hosts, not relays: an administrator makes one for a relay with "
                 "`gleaner-admin relay allow`"};
  if (kind == Joining::host && code->children > 0)
    return Error{ErrorKind::forbidden,
                 "this join code admits a relay, not a host: ask the administrator for another, or join "
                 "through the relay with its own"};
  const auto why = closed(model, *code, now);
  const bool came_with_it =
      known != nullptr && known->row.code == code->name && (kind == Joining::host || known->row.children > 0);
  if (!why || (*why == "full" && came_with_it)) return code;
  if (*why == "withdrawn") return refused("this join code was withdrawn");
  if (*why == "expired") return refused("this join code expired on " + utc_text(code->expires_at));
  return refused("this join code admits " + counted(code->hosts_max, "host") +
                 ", and as many have joined with it");
}

}  // namespace gleaner::service
