// A host delivers a finished prefix of a unit. In three steps: where does it belong (writer), are the bytes
// what they claim to be (pool; large ones are stored there), take them (writer; accept.h; small ones are
// stored with the row that says so, by the sync of the whole batch). Only then is it acknowledged, by a
// statement that the work key signs. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "server/service/core/kernel.h"
#include "server/service/work/accept.h"
#include "server/service/work/segment_check.h"
#include "server/service/work/upload_accounts.h"
#include "shared/crypto/statements.h"

namespace gleaner::service {

class Commits {
 public:
  Commits(Kernel& kernel, UploadAccounts& uploads, const ProjectSecrets& secrets)
      : kernel_(kernel),
        uploads_(uploads),
        secrets_(secrets),
        check_(
            kernel.blobs(), kernel.managers(),
            [&kernel](std::function<void()> job) { kernel.on_pool(std::move(job)); },
            [this](ProblemId problem, const std::string& why) { say_it_waits(problem, why); }) {}

  // For a front end that is to check results of the unit.
  void place(HostId host, UnitId unit, Done<CheckingPlace> done);
  // unavailable: the disk is nearly full. Asked at most once a second: it is a system call.
  [[nodiscard]] Status has_room();
  // The second step before the first, for small results that a host under a relay signed: then one operation
  // can take all that is left (take_ahead). Absent: one of them is something else, or not as it should be,
  // and they have to be prepared. On the pool.
  [[nodiscard]] std::optional<std::vector<CheckedAhead>> check_ahead(
      HostId host, const std::vector<protocol::CommitRequest>& requests) const;
  // The first two steps; the caller's operation takes the third.
  void prepare(HostId host, std::vector<protocol::CommitRequest> requests,
               Done<std::vector<PreparedCommit>> then);

 private:
  using Prepared = std::function<void(Result<PreparedCommit>)>;
  // Refuses what the host that is said to have computed it did not sign.
  void check_computed(PreparedCommit& prepared) const;
  // Why it is not what a relay gave to that host; empty: it is.
  [[nodiscard]] std::string check_given(const Given& given, HostId host) const;
  // Refuses what this host brings of a unit that is not known here and that the project never signed.
  void check_adopted(PreparedCommit& prepared) const;
  [[nodiscard]] crypto::ProjectTrust trust_of(const crypto::Revocations& revocations) const;
  // What segment_check.h says of it; then large bytes become a blob.
  void check(HostId host, CommitPlace place, Prepared then);
  // The same, where it may wait for an object store on threads that others do not need.
  void check_aside(HostId host, CommitPlace place, Prepared then);
  void say_it_waits(ProblemId problem, const std::string& why);
  [[nodiscard]] Status room_now() const;
  [[nodiscard]] Result<PreparedCommit> keep(HostId host, PreparedCommit prepared, const Bytes& bytes);

  Kernel& kernel_;
  UploadAccounts& uploads_;
  const ProjectSecrets& secrets_;
  SegmentCheck check_;
  std::atomic<SteadyTime> room_until_ = SteadyTime{};  // then it is asked again
};

}  // namespace gleaner::service
