// Of which relays and hosts a relay may speak.
#pragma once

#include "server/service/core/model.h"

namespace gleaner::service {

[[nodiscard]] bool is_under(const Model& model, HostId host, HostId relay);
// The relay of whom `asker` speaks: itself, or one under it. forbidden: it may not.
[[nodiscard]] Result<const Host*> relay_of(const Model& model, HostId asker, HostId relay);
// A relay that has not left. Null: it is none.
[[nodiscard]] const Host* active_relay(const Model& model, HostId id);

}  // namespace gleaner::service
