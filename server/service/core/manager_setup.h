// What a manager needs to start: copied out of the model, so that the pool's threads never look into it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "shared/base/ids.h"
#include "shared/protocol/messages.h"

namespace gleaner::service {

struct ManagerSetup {
  ProblemId problem;
  std::string archive;  // digest of the application's bundle
  std::string program;  // in the bundle
  std::string parameters;
  std::vector<protocol::Input> inputs;
};

using HostNames = std::map<HostId, std::string>;

}  // namespace gleaner::service
