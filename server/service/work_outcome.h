// What a request for work came to, before anything is signed.
#pragma once

#include <vector>

#include "shared/protocol/messages.h"

namespace gleaner::service {

struct WorkOutcome {
  protocol::WorkReply reply;
  std::vector<protocol::Acknowledgement> acknowledgements;
  std::vector<protocol::Grant> grants;
};

}  // namespace gleaner::service
