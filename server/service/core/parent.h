// A relay's parent (server/relay), as far as use cases need its answer before they give theirs. Calls block
// for the network: on the thread of Subtree. Thread-safe. Errors: as the parent said, unavailable: try again.
#pragma once

#include <string>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service {

class Parent {
 public:
  virtual ~Parent() = default;

  // Both as last heard, at once: the project's document, and the word of the project that this is a relay.
  [[nodiscard]] virtual protocol::SignedStatement project() = 0;
  [[nodiscard]] virtual protocol::SignedStatement certificate() = 0;

  // HOST:PORT, and when it answered last (0: not yet). At once.
  [[nodiscard]] virtual std::string place() = 0;
  [[nodiscard]] virtual Timestamp heard_at() = 0;

  // Of the project, for a host's proof.
  [[nodiscard]] virtual Result<protocol::EnrolmentNonce> nonce() = 0;
  // A host joins through this relay, or through one under it.
  [[nodiscard]] virtual Result<protocol::RelayHostReply> join(const protocol::EnrolRequest& request) = 0;
  [[nodiscard]] virtual Status left(HostId host) = 0;
  // Of a relay under this one.
  [[nodiscard]] virtual Result<protocol::SignedStatement> certificate_of(HostId relay) = 0;
};

}  // namespace gleaner::service
