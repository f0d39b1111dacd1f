#include "client/engine/granted.h"

#include <algorithm>

#include "shared/crypto/relay_chain.h"
#include "shared/protocol/codec.h"

namespace gleaner::engine {

using protocol::StatementType;

namespace {

const protocol::LeaseChain* lease_of(const protocol::SignedStatement& statement,
                                     const std::vector<protocol::LeaseChain>& leases) {
  const auto part = protocol::decode<protocol::RelayGrant>(statement.payload);
  if (!part.ok()) return nullptr;
  const auto found = std::find_if(leases.begin(), leases.end(), [&part](const auto& lease) {
    return lease.statements.size() > 1 && crypto::sha256_hex(lease.statements[1].payload) == part->parent;
  });
  return found == leases.end() ? nullptr : &*found;
}

}  // namespace

const protocol::SignedStatement& Granted::of_project() const {
  return lease && !lease->statements.empty() ? lease->statements.back() : statement;
}

protocol::SignedStatement& Granted::of_project() {
  return lease && !lease->statements.empty() ? lease->statements.back() : statement;
}

std::vector<Granted> granted_in(const protocol::WorkReply& reply) {
  std::vector<Granted> all;
  for (const protocol::SignedStatement& statement : reply.grants) {
    all.push_back({statement});
    if (statement.type != StatementType::relay_grant || !reply.leases) continue;
    if (const auto* lease = lease_of(statement, *reply.leases); lease != nullptr) all.back().lease = *lease;
  }
  return all;
}

Result<protocol::Grant> read_granted(const Granted& granted) {
  if (granted.statement.type != StatementType::relay_grant) return crypto::read_grant(granted.statement);
  return crypto::read_relayed_grant(granted.statement, granted.lease.value_or(protocol::LeaseChain{}));
}

UnitId claimed_unit(const Granted& granted) {
  const std::string& payload = granted.statement.payload;
  if (granted.statement.type == StatementType::relay_grant) {
    const auto part = protocol::decode<protocol::RelayGrant>(payload);
    return part.ok() ? part->unit : UnitId{};
  }
  const auto grant = protocol::decode<protocol::Grant>(payload);
  return grant.ok() ? grant->unit : UnitId{};
}

HostId relay_of(const Granted& granted) {
  if (!granted.lease || granted.lease->statements.empty()) return {};
  const auto certificate =
      protocol::decode<protocol::RelayCertificate>(granted.lease->statements.front().payload);
  return certificate.ok() ? certificate->relay : HostId{};
}

std::vector<Bytes> work_keys_of(const Granted& granted) {
  std::vector<Bytes> keys = {granted.of_project().key};
  if (granted.lease)
    for (const protocol::SignedStatement& one : granted.lease->statements)
      if (one.type == StatementType::relay_certificate) keys.push_back(one.key);
  return keys;
}

}  // namespace gleaner::engine
