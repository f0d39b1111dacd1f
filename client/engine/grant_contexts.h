// The contexts of grants that a client has: told once by the server, named in its requests, put back into the
// statements that name them. In memory only: units on disk have theirs with them. The newest are kept, within
// limits.h. Nothing here is trusted: a context is found by the digest of its text, and checked with the grant
// (shared/crypto/statements.h). Not thread-safe.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "shared/protocol/messages.h"

namespace gleaner::engine {

class GrantContexts {
 public:
  // Keeps the statement's context, if it has one.
  void learn(const protocol::SignedStatement& statement);
  // Gives it the context that it names and lacks, if that is here.
  void complete(protocol::SignedStatement& statement) const;
  // Their digests, newest first.
  [[nodiscard]] std::vector<std::string> known() const;

 private:
  struct Context {
    std::string digest;
    Bytes text;
  };
  std::deque<Context> contexts_;  // newest first
  std::size_t bytes_ = 0;
};

}  // namespace gleaner::engine
