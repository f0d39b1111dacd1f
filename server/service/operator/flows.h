// Flows, for people who look at them: the plan that gleaner-admin told, and how far its problems are.
// Thread-safe.
#pragma once

#include <string>

#include "server/service/core/kernel.h"
#include "shared/protocol/console_messages.h"

namespace gleaner::service {

class Flows {
 public:
  explicit Flows(Kernel& kernel) : kernel_(kernel) {}

  // Instead of the one of that name. invalid: core/flows.h.
  void put(protocol::FlowInfo flow, Done<protocol::FlowInfo> done);
  // not_found: nobody told of it, or it is long ago. O(problems).
  void show(const std::string& name, Done<protocol::FlowInfo> done);

 private:
  Kernel& kernel_;
};

}  // namespace gleaner::service
