// What a request for work came to, before anything is signed.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "server/service/model.h"
#include "shared/protocol/messages.h"

namespace gleaner::service {

// What a unit is a part of.
struct UnitPlace {
  UnitId unit;
  ProblemId problem;
  int stage = 0;
};

struct WorkOutcome {
  // Of the grant at this place, which is the first that names it.
  struct Context {
    std::size_t grant = 0;
    std::shared_ptr<const SharedContext> text;
  };
  protocol::WorkReply reply;
  std::vector<protocol::Acknowledgement> acknowledgements;
  std::vector<protocol::Grant> grants;
  std::vector<Context> contexts;  // that the host does not have yet
};

}  // namespace gleaner::service
