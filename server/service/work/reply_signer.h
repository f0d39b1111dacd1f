// Signs replies on the pool: those that are ready at the same time under one signature, because a signature
// costs more than all else that is done for a reply there. None can tell what the others say
// (crypto::sign_for_many). Thread-safe.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "server/service/core/kernel.h"
#include "shared/crypto/statements.h"

namespace gleaner::service {

class ReplySigner {
 public:
  // Gets the statements of its reply, signed, in order; on a thread of the pool.
  using Signed = std::function<void(std::vector<protocol::SignedStatement>)>;

  ReplySigner(Kernel& kernel, const crypto::PrivateKey& key) : kernel_(kernel), key_(key) {}

  // For a receiver that can check proofs.
  void sign(std::vector<crypto::UnsignedStatement> statements, Signed done);

 private:
  struct Waiting {
    std::vector<crypto::UnsignedStatement> statements;
    Signed done;
  };
  void sign_some();

  Kernel& kernel_;
  const crypto::PrivateKey& key_;
  std::mutex mutex_;
  std::vector<Waiting> waiting_;  // while there are any, a job of the pool is on its way to them
};

}  // namespace gleaner::service
