// What a computing host asks and tells: one round trip for work takes in its last small results, hears how
// its units stand, and hands out a unit for each slot that can get one. Thread-safe.
#pragma once

#include "server/service/commits.h"
#include "server/service/kernel.h"

namespace gleaner::service {

class Work {
 public:
  Work(Kernel& kernel, Commits& commits, const ProjectSecrets& secrets)
      : kernel_(kernel), commits_(commits), secrets_(secrets) {}

  void work(HostId host, protocol::WorkRequest request, Done<protocol::WorkReply> done);
  void heartbeat(HostId host, protocol::HeartbeatRequest request, Done<protocol::HeartbeatReply> done);
  void failure(HostId host, protocol::FailureReport report, StatusDone done);

 private:
  Kernel& kernel_;
  Commits& commits_;
  const ProjectSecrets& secrets_;
};

}  // namespace gleaner::service
