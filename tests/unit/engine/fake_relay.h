// A relay between a FakeServer, whose HTTP stands for the relay's, and the client: real keys, real
// certificates, leases of its own. What a test changes of them, and of what it signs, is the test's.
#pragma once

#include "client/engine/granted.h"
#include "shared/protocol/relay_messages.h"
#include "tests/unit/engine/fake_server.h"

namespace gleaner::engine::testing {

class FakeRelay {
 public:
  FakeRelay(FakeServer& server, HostId id);

  // A part of a lease of the project's, with its chain.
  [[nodiscard]] Granted lease(Range leased, Range part);
  // Of a range that another relay was given, one that another relay signed.
  [[nodiscard]] Granted lease_on(const Granted& above, Range part);
  [[nodiscard]] protocol::SignedStatement signed_certificate() const;
  [[nodiscard]] Granted sign(const protocol::SignedStatement& above, protocol::LeaseChain over,
                             protocol::RelayGrant part) const;
  [[nodiscard]] protocol::RelayGrant part_of(Range range);

  protocol::RelayCertificate certificate;
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  HostId child{7};  // that its parts are for

 private:
  FakeServer& server_;
  std::int64_t next_unit_ = 1001;
};

}  // namespace gleaner::engine::testing
