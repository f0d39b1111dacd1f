// What an administrator sees and does of hosts. Thread-safe.
#pragma once

#include <vector>

#include "server/service/core/kernel.h"
#include "shared/protocol/admin_messages.h"

namespace gleaner::service {

class HostAdministration {
 public:
  explicit HostAdministration(Kernel& kernel) : kernel_(kernel) {}

  void list(Done<std::vector<protocol::HostInfo>> done);
  void show(HostId id, Done<protocol::HostInfo> done);
  // A revoked host's key cannot join again, unless it may return.
  void revoke(HostId id, protocol::RevokeHost request, Done<protocol::HostInfo> done);
  void hold(HostId id, const protocol::HoldHost& request, Done<protocol::HostInfo> done);
  void release(HostId id, Done<protocol::HostInfo> done);
  // invalid: what a tag is.
  void tag(HostId id, protocol::TagHost request, Done<protocol::HostInfo> done);

 private:
  Kernel& kernel_;
};

}  // namespace gleaner::service
