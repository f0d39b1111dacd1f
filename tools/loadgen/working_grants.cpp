// What simulated hosts are given: read, and checked as clients do, each for itself or with the lease that it
// is a part of.
#include "shared/crypto/relay_chain.h"
#include "shared/protocol/codec.h"
#include "tools/loadgen/working.h"

namespace gleaner::loadgen {

// A host keeps the context that it was told last; a grant that comes without is given it.
void Working::take_context(HostState& state, protocol::SignedStatement& grant) {
  if (grant.context)
    state.context = &contexts_.emplace(crypto::sha256_hex(*grant.context), *grant.context).first->first;
  else if (state.context != nullptr)
    grant.context = contexts_.at(*state.context);
}

// Those of a relay with what they are parts of.
void Working::take_grants(std::size_t host, protocol::WorkReply& reply, bool verify) {
  std::map<std::string, const protocol::LeaseChain*> chains;
  if (reply.leases)
    for (auto& chain : *reply.leases) {
      if (chain.statements.size() < 2) continue;
      take_context(states_[host], chain.statements.back());
      chains.emplace(crypto::sha256_hex(chain.statements[1].payload), &chain);
    }
  for (auto& statement : reply.grants) {
    if (statement.type != protocol::StatementType::relay_grant) {
      take_context(states_[host], statement);
      take_grant(host, statement, nullptr, verify);
      continue;
    }
    const auto part = protocol::decode<protocol::RelayGrant>(statement.payload);
    const auto chain = part.ok() ? chains.find(part->parent) : chains.end();
    if (chain == chains.end())
      blame(tally_.contradictions, "a relay's grant is a part of nothing that came with it");
    else
      take_grant(host, statement, chain->second, verify);
  }
}

Result<protocol::Grant> Working::read(std::size_t host, const protocol::SignedStatement& statement,
                                      const protocol::LeaseChain* chain, bool verify) const {
  const HostId id = enrolled_[host].id;
  const Timestamp now = system_clock().now();
  if (chain != nullptr)
    return verify ? crypto::check_relayed_grant(statement, *chain, trust_, id, now)
                  : crypto::read_relayed_grant(statement, *chain);
  return verify ? crypto::check_grant(statement, trust_, id, now)
                : protocol::decode<protocol::Grant>(statement.payload);
}

void Working::take_grant(std::size_t host, const protocol::SignedStatement& statement,
                         const protocol::LeaseChain* chain, bool verify) {
  const auto grant = read(host, statement, chain, verify);
  if (!grant.ok()) return blame(verify ? tally_.untrusted : tally_.contradictions, grant.error().message);
  if (verify) {
    const Timestamp now = system_clock().now();
    if (const Status application = check_application(*grant, now); !application.ok())
      return blame(tally_.untrusted, application.error().message);
  }
  if (options_.mode == Mode::cycle && !fits_inline(options_.results, grant->range))
    return blame(tally_.oversized, "unit " + std::to_string(grant->unit.value) + " has " +
                                       std::to_string(grant->range.size()) +
                                       " items, too many to deliver with a request: use the strategy "
                                       "ss,mode=paper, or a smaller --payload");
  ++tally_.given;
  states_[host].held.push_back({grant->unit, grant->range, grant->problem, grant->stage});
}

// One application serves many grants: what held for the last one is compared, which costs nothing.
Status Working::check_application(const protocol::Grant& grant, Timestamp now) {
  std::string statements = grant.application.payload + grant.application.key + grant.application.signature +
                           grant.signer.payload + grant.signer.key + grant.signer.signature;
  if (statements == trusted_application_) return {};
  TRY(crypto::check_application(grant.application, grant.signer, trust_.root_key, trust_.project, now));
  trusted_application_ = std::move(statements);
  return {};
}

}  // namespace gleaner::loadgen
