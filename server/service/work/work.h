// What a computing host asks and tells: one round trip for work takes in its last small results, hears how
// its units stand, and hands out a unit for each slot that can get one. Thread-safe.
#pragma once

#include "server/service/core/kernel.h"
#include "server/service/core/work_outcome.h"
#include "server/service/work/commits.h"
#include "server/service/work/reply_signer.h"
#include "server/service/work/waiting_requests.h"
#include "shared/planning/serving.h"

namespace gleaner::service {

class Work {
 public:
  Work(Kernel& kernel, Commits& commits, const ProjectSecrets& secrets);

  // `rests`, which may be null, is called if it waits at this relay for what the parent may give it: nothing
  // is done for it meanwhile.
  void work(HostId host, protocol::WorkRequest request, Done<protocol::WorkReply> done,
            const std::function<void()>& rests = {});
  // Of a relay: something may have come for those that wait, or their time may be up.
  void serve_waiting();
  // All that wait are answered, and nobody waits any more.
  void stop_waiting();
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  // One whose commits a front end has checked (take_checked), each the request's at its place: all in one
  // operation.
  struct Answer {
    protocol::WorkReply reply;
    std::vector<UnitPlace> units;  // that the grants are of
  };
  void work_checked(HostId host, protocol::WorkRequest request, std::vector<PreparedCommit> commits,
                    Done<Answer> done);
  void heartbeat(HostId host, protocol::HeartbeatRequest request, Done<protocol::HeartbeatReply> done);
  void failure(HostId host, protocol::FailureReport report, StatusDone done);

 private:
  // Results are placed, then checked, then taken with the rest of the request, which is another operation.
  void prepare(HostId host, const std::shared_ptr<protocol::WorkRequest>& request,
               std::vector<protocol::CommitRequest> commits, Done<WorkOutcome> decided);
  // unavailable: a relay that can store nothing, which to its hosts is as good as gone.
  [[nodiscard]] Status may_serve() const;
  // `proofs`: the host can tell what a signature covers.
  void answer(WorkOutcome outcome, bool proofs, const Done<protocol::WorkReply>& done);
  void answer(WaitingRequest request);

  Kernel& kernel_;
  Commits& commits_;
  const ProjectSecrets& secrets_;
  ReplySigner signer_;
  const std::shared_ptr<planning::ServingRule> rule_;  // for operations only
  WaitingRequests waiting_;
};

}  // namespace gleaner::service
