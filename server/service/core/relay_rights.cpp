#include "server/service/core/relay_rights.h"

#include <fmt/format.h>

#include <algorithm>

namespace gleaner::service {

const Host* active_relay(const Model& model, HostId id) {
  const auto found = model.hosts.find(id);
  const bool good = found != model.hosts.end() && found->second.row.children > 0 &&
                    found->second.row.state == protocol::HostState::active;
  return good ? &found->second : nullptr;
}

bool is_under(const Model& model, HostId host, HostId relay) {
  const auto above = model.index.relays().above(host);
  return std::find(above.begin(), above.end(), relay) != above.end();
}

Result<const Host*> relay_of(const Model& model, HostId asker, HostId relay) {
  if (active_relay(model, asker) == nullptr)
    return Error{ErrorKind::forbidden,
                 "this host is not a relay: an administrator allows one with `gleaner-admin relay allow`"};
  const Host* const found = active_relay(model, relay);
  if (found != nullptr && (relay == asker || is_under(model, relay, asker))) return found;
  return Error{ErrorKind::forbidden,
               fmt::format("host {} is not this relay, nor a relay under it", relay.value)};
}

}  // namespace gleaner::service
