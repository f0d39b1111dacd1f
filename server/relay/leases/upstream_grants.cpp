// What a relay grants: parts of what its parent leases to it.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server/relay/leases/upstream.h"
#include "server/service/core/work_outcome.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {

Result<const Upstream::Chain*> chain_of(Upstream& upstream, const storage::LeaseRow& lease) {
  const auto known = upstream.chains.find(lease.unit);
  if (known != upstream.chains.end()) return &known->second;
  TRY_ASSIGN(auto statements, protocol::decode<protocol::LeaseChain>(lease.chain));
  std::string digest = crypto::sha256_hex(statements.statements.front().payload);
  return &(upstream.chains[lease.unit] = {std::move(statements), std::move(digest)});
}

Status Upstream::grant(Transaction& tx, const protocol::WorkRequest& /*request*/,
                       const policy::SlotGrant& granted, WorkOutcome& outcome) {
  const Problem& problem = tx.model.problems.at(granted.problem);
  const policy::Stage& stage = problem.stage->view();
  const policy::Unit& unit = *stage.unit(granted.unit);
  const auto* const lease = find_lease(upstream_of(tx.model), granted.problem, problem.row.stage, unit.range);
  if (lease == nullptr || !lease->open)
    return Error{ErrorKind::internal, fmt::format("items {}-{} of problem {} were handed out without a lease",
                                                  unit.range.begin, unit.range.end, granted.problem.value)};
  TRY_ASSIGN(const Chain* const chain, chain_of(upstream_of(tx.model), *lease));
  protocol::RelayGrant grant;
  grant.parent = chain->digest;
  grant.unit = unit.id;
  grant.host = unit.host;
  grant.range = unit.range;
  grant.cost = stage.ledger().costs().of(unit.range);
  if (const Bytes* saved = problem.saved.find(unit.range.begin); saved != nullptr && unit.begun_share > 0)
    grant.begun = protocol::BegunItem{unit.begun_share, *saved};
  grant.commit_seconds = static_cast<std::int64_t>(policy::commit_seconds(
      stage.heartbeat_seconds(tx.now), static_cast<double>(problem.row.commit_seconds)));
  grant.issued_at = tx.now;
  grant.deadline = std::min(unit.deadline, lease->deadline);
  grant.reason = unit.reason;
  FromHere& here = upstream_of(tx.model).from_here[unit.host];
  ++here.units;
  here.link_used_at = tx.now;
  const bool told = std::any_of(outcome.relay_grants.begin(), outcome.relay_grants.end(),
                                [&](const auto& each) { return each.parent == chain->digest; });
  if (!told) outcome.leases.push_back(chain->statements);
  outcome.relay_grants.push_back(std::move(grant));
  outcome.reply.grant_slots.push_back(granted.slot);
  return {};
}

}  // namespace gleaner::service
