// A host delivers a finished prefix of a unit. In three steps: where does it belong (writer), are the bytes
// what they claim to be (pool; large ones are stored there), take them (writer; accept.h; small ones are
// stored with the row that says so, by the sync of the whole batch). Only then is it acknowledged, by a
// statement that the work key signs. Thread-safe.
#pragma once

#include <functional>
#include <vector>

#include "server/service/accept.h"
#include "server/service/kernel.h"
#include "server/service/upload_accounts.h"
#include "server/service/validations.h"

namespace gleaner::service {

class Commits {
 public:
  Commits(Kernel& kernel, UploadAccounts& uploads, const ProjectSecrets& secrets)
      : kernel_(kernel), uploads_(uploads), secrets_(secrets), validations_(kernel) {}

  void commit(HostId host, protocol::CommitRequest request, Done<protocol::SignedStatement> done);
  // The first two steps; the caller's operation takes the third.
  void prepare(HostId host, std::vector<protocol::CommitRequest> requests,
               Done<std::vector<PreparedCommit>> then);

 private:
  using Prepared = std::function<void(Result<PreparedCommit>)>;
  // Its digest, framing and sizes, then the manager's word, then large bytes become a blob. One with large
  // bytes is done when this returns, so that of a request only one is in the memory.
  void check(HostId host, CommitPlace place, Prepared then);
  // The same, where it may wait for an object store on threads that others do not need.
  void check_aside(HostId host, CommitPlace place, Prepared then);
  [[nodiscard]] Result<PreparedCommit> keep(HostId host, PreparedCommit prepared, const Bytes& bytes);

  Kernel& kernel_;
  UploadAccounts& uploads_;
  const ProjectSecrets& secrets_;
  Validations validations_;
};

}  // namespace gleaner::service
