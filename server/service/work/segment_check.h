// Are a delivered segment's bytes what they claim to be? Its digest, framing and sizes, then the word of the
// application's manager: all that needs no model, so that a front end can say it before the leader hears of
// the segment (server/front). Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/service/work/accept.h"
#include "server/service/work/validations.h"

namespace gleaner::service {

class SegmentCheck {
 public:
  // `manager_failed`: it could not be asked, and why. All must outlive the checks.
  using ManagerFailed = std::function<void(ProblemId problem, const std::string& why)>;
  SegmentCheck(storage::BlobStore& blobs, Managers& managers, Validations::OnPool on_pool,
               ManagerFailed manager_failed)
      : blobs_(blobs),
        validations_(managers, std::move(on_pool)),
        manager_failed_(std::move(manager_failed)) {}

  struct Checked {
    PreparedCommit prepared;             // as it came, or with a refusal
    std::shared_ptr<const Bytes> bytes;  // of a segment that is none; null otherwise
  };
  using Then = std::function<void(Result<Checked>)>;
  // Refusals are values (the client may delete what can never be taken); errors mean "try again". One with
  // large bytes is done when this returns, so that of a request only one is in the memory. On the pool.
  void check(CommitPlace place, Then then);

 private:
  storage::BlobStore& blobs_;
  Validations validations_;
  const ManagerFailed manager_failed_;
};

}  // namespace gleaner::service
