#include "server/relay/leases/upstream_model.h"

#include <chrono>
#include <utility>

#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {

bool is_present(const Model& model, ProblemId problem, int stage) {
  const auto found = model.problems.find(problem);
  return found != model.problems.end() && found->second.stage != nullptr && found->second.row.stage == stage;
}

// Accepted here, and in no answer yet: policy::Relay passes it up anew, which costs a repetition at most.
// What it speaks for no more, of leases that are over or that came twice, goes up with the next message.
Status restore_waiting(storage::Store& store, Upstream& upstream, ProblemId problem, int stage,
                       std::vector<policy::RelayLease> leases, policy::Relay& relay) {
  TRY_ASSIGN(const auto accepted, store.accepted(problem, stage));
  RangeSet waiting;
  std::set<SegmentId> counted;
  for (const auto& piece : accepted) {
    if (!upstream.owed.contains(piece.segment)) continue;
    waiting.add(piece.range);
    counted.insert(piece.segment);
  }
  relay.restore(std::move(leases), std::move(waiting));
  for (const auto& [segment, owed] : upstream.owed)
    if (owed.row.problem == problem && owed.row.stage == stage &&
        !(counted.contains(segment) && relay.holds(owed.row.lease)))
      upstream.to_send.insert(segment);
  return {};
}

Status load_owed(storage::Store& store, Upstream& upstream, Timestamp hour_ago) {
  TRY_ASSIGN(auto rows, store.deliveries(hour_ago));
  for (auto& row : rows) {
    if (row.answered_at == Timestamp{}) {
      owe(upstream, std::move(row));
    } else if (!row.acknowledgement.empty()) {
      TRY_ASSIGN(auto statement, protocol::decode<protocol::SignedStatement>(row.acknowledgement));
      upstream.to_tell[row.via].push_back({std::move(statement), row.problem, 0});
    }
  }
  return {};
}

// Its stages must have their accepted items and units.
Status load_all(storage::Store& store, const Model& model, Upstream& upstream, Timestamp now) {
  const Timestamp hour_ago = now - std::chrono::hours{1};  // what was answered since is passed on again
  TRY(load_owed(store, upstream, hour_ago));
  TRY_ASSIGN(auto leases, store.leases());
  std::map<ProblemId, std::vector<policy::RelayLease>> open;
  for (auto& lease : leases) {
    if (lease.open && is_present(model, lease.problem, lease.stage))
      open[lease.problem].push_back({lease.unit, lease.range, lease.handed_end});
    upstream.leases[lease.unit] = std::move(lease);
  }
  for (auto& [id, problem] : model.problems) {
    if (problem.stage == nullptr) continue;
    policy::Relay& relay =
        upstream.relays.try_emplace(id, *problem.stage, policy::RelayRules{}).first->second;
    TRY(restore_waiting(store, upstream, id, problem.row.stage, std::move(open[id]), relay));
  }
  for (const auto& [id, host] : model.hosts)
    if (host.row.mflops > 0 || host.row.speeds != protocol::HostSpeeds{}) upstream.measured.insert(id);
  // Of stages that are over nothing else says when they go up.
  for (const auto& [segment, owed] : upstream.owed)
    if (!is_present(model, owed.row.problem, owed.row.stage)) upstream.to_send.insert(segment);
  return {};
}

}  // namespace

Status Upstream::load(storage::Store& store, Model& model, Timestamp now) {
  return load_all(store, model, *this, now);
}

double performance_of(const Model& model, const Host& host) {
  const auto said = upstream_of(model).performances.find(host.row.id);
  return said != upstream_of(model).performances.end() ? said->second : host.row.mflops * host.usable_cores();
}

}  // namespace gleaner::service
