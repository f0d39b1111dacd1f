#include "tests/unit/engine/fake_relay.h"

#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"

namespace gleaner::engine::testing {

using protocol::StatementType;

FakeRelay::FakeRelay(FakeServer& server, HostId id) : server_(server) {
  certificate.project = server.project_id();
  certificate.relay = id;
  certificate.name = "lab";
  certificate.key = key.public_key();
  certificate.tls_key = crypto::sha256_hex("the key of the relay's port");
  certificate.children = 10;
  certificate.not_before = server.now - std::chrono::hours{1};
  certificate.not_after = server.now + std::chrono::hours{24 * 30};
}

protocol::SignedStatement FakeRelay::signed_certificate() const {
  return server_.sign(StatementType::relay_certificate, protocol::encode(certificate));
}

protocol::RelayGrant FakeRelay::part_of(Range range) {
  protocol::RelayGrant part;
  part.unit = UnitId{next_unit_++};
  part.host = child;
  part.range = range;
  part.cost = static_cast<double>(range.size());
  part.commit_seconds = server_.commit_seconds;
  part.issued_at = server_.now;
  part.deadline = server_.now + std::chrono::hours{12};
  part.reason = "a part of a lease";
  return part;
}

Granted FakeRelay::sign(const protocol::SignedStatement& above, protocol::LeaseChain over,
                        protocol::RelayGrant part) const {
  part.parent = crypto::sha256_hex(above.payload);
  over.statements.insert(over.statements.begin(), {signed_certificate(), above});
  return {crypto::sign_statement(StatementType::relay_grant, protocol::encode(part), key), std::move(over)};
}

Granted FakeRelay::lease(Range leased, Range part) {
  protocol::Grant grant = server_.make_grant(leased);
  grant.host = certificate.relay;
  return sign(server_.says_once ? server_.sign_short_grant(grant) : server_.sign_grant(grant), {},
              part_of(part));
}

Granted FakeRelay::lease_on(const Granted& above, Range part) {
  return sign(above.statement, *above.lease, part_of(part));
}

}  // namespace gleaner::engine::testing
