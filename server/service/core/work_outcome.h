// What a request for work came to, before anything is signed.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "server/service/core/model.h"
#include "shared/base/clock.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service {

// What a unit is a part of.
struct UnitPlace {
  UnitId unit;
  ProblemId problem;
  int stage = 0;
  std::int64_t inputs = 0;  // that do not depend on the unit's items
};

struct WorkOutcome {
  // Of the grant at this place, which is the first that names it.
  struct Context {
    std::size_t grant = 0;
    std::shared_ptr<const SharedContext> text;
  };
  protocol::WorkReply reply;
  std::vector<protocol::Acknowledgement> acknowledgements;
  std::vector<protocol::SignedStatement> passed;  // of a relay: what the project has answered
  std::vector<protocol::Grant> grants;
  std::vector<protocol::RelayGrant> relay_grants;  // of a relay, in place of grants
  std::vector<protocol::LeaseChain> leases;        // of these; the relay's own certificate is still to come
  std::vector<Context> contexts;                   // that the host does not have yet
  Duration wait{};                                 // so long, at a relay, for what its parent may give it
};

struct EndedWait {
  std::size_t place = 0;  // among those that wait
  WorkOutcome outcome;
};

}  // namespace gleaner::service
