// A grant as it came: a server's alone, a relay's with what stands behind it up to the project's. Both are
// kept as long as the unit is, and checked anew before each start of a kernel (trust.h). Nothing here is
// trusted. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/base/result.h"
#include "shared/protocol/messages.h"

namespace gleaner::engine {

struct Granted {
  protocol::SignedStatement statement;
  std::optional<protocol::LeaseChain> lease = {};  // of a relay's grant

  // The project's own, which has its context with it or names it.
  [[nodiscard]] protocol::SignedStatement& of_project();
  [[nodiscard]] const protocol::SignedStatement& of_project() const;
};

// A work reply's grants, in order, each of a relay's with the lease that it names; without one if it is not
// there.
[[nodiscard]] std::vector<Granted> granted_in(const protocol::WorkReply& reply);

// What it says; of signatures nothing is looked at. Errors: untrusted.
[[nodiscard]] Result<protocol::Grant> read_granted(const Granted& granted);
// For the report that it is refused; invalid if it cannot be read.
[[nodiscard]] UnitId claimed_unit(const Granted& granted);
// Who signed it, as its certificate says; invalid: no relay.
[[nodiscard]] HostId relay_of(const Granted& granted);
// Those that must have signed its parts, in the order in which they are to be asked for.
[[nodiscard]] std::vector<Bytes> work_keys_of(const Granted& granted);

}  // namespace gleaner::engine
