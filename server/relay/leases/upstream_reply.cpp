// What the parent's answer to a message comes to.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "server/relay/leases/upstream_message.h"
#include "server/relay/leases/upstream_results.h"
#include "server/relay/leases/upstream_stage.h"
#include "server/service/core/dispatch_terms.h"
#include "server/service/core/stage_changes.h"
#include "shared/crypto/keys.h"
#include "shared/crypto/relay_chain.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {

// A parent that holds a result and brings no answer, which may have been lost on its way, is told it again:
// after so many of its heartbeat intervals, then ever later, as hosts do (client/engine/deliveries.cpp).
constexpr int first_patience = 15;
constexpr Duration longest_patience = std::chrono::hours{6};

Status cut_lease(Transaction& tx, storage::LeaseRow& lease, const protocol::UnitOrder& order) {
  const bool over = order.action == protocol::UnitAction::cancel;
  const std::int64_t end = over ? lease.range.begin : std::max(order.end, lease.range.begin);
  if (!over && end >= lease.range.end) return {};
  lease.range.end = std::min(lease.range.end, end);
  lease.open = !over;
  return tx.store.put_lease(lease);
}

// Its administrator paused it above, or lets it go on.
Status pause(Transaction& tx, Problem& problem, bool paused) {
  using protocol::ProblemState;
  const ProblemState state = paused ? ProblemState::paused : ProblemState::running;
  if (problem.row.state == state) return {};
  problem.row.state = state;
  problem.row.message = paused ? "the project has paused it" : "";
  tell_dispatch(tx, problem);
  return tx.store.update_problem(problem.row);
}

// Those of the parent, and that what has run out is over: no host takes a part of it, whatever the parent
// says. The date is not doubted here: nothing finished is lost, and the parent leases the rest anew.
std::vector<protocol::UnitOrder> orders_of(const Transaction& tx, const protocol::WorkReply& reply) {
  std::vector<protocol::UnitOrder> orders = reply.units;
  for (const auto& [unit, lease] : upstream_of(tx.model).leases)
    if (lease.open && lease.deadline <= tx.now)
      orders.push_back({unit, protocol::UnitAction::cancel, lease.range.begin, "its lease has run out"});
  return orders;
}

Status take_orders(Transaction& tx, const protocol::WorkReply& reply,
                   std::map<ProblemId, policy::RelayReply>& replies) {
  Upstream& upstream = upstream_of(tx.model);
  for (const protocol::UnitOrder& order : orders_of(tx, reply)) {
    const auto found = upstream.leases.find(order.unit);
    if (found == upstream.leases.end() || !found->second.open) continue;
    storage::LeaseRow& lease = found->second;
    TRY(cut_lease(tx, lease, order));
    const auto problem = tx.model.problems.find(lease.problem);
    if (problem == tx.model.problems.end() || problem->second.stage == nullptr ||
        problem->second.row.stage != lease.stage)
      continue;
    replies[lease.problem].orders.push_back(order);
    if (order.action != protocol::UnitAction::cancel)
      TRY(pause(tx, problem->second, order.action == protocol::UnitAction::pause));
  }
  return {};
}

const LeasedStage* find_stage(const std::vector<LeasedStage>& stages, const protocol::Grant& grant) {
  const auto found = std::find_if(stages.begin(), stages.end(), [&](const LeasedStage& stage) {
    return stage.description.problem == grant.problem && stage.description.stage == grant.stage;
  });
  return found == stages.end() ? nullptr : &*found;
}

Status take_lease(Transaction& tx, const LeasedUnit& leased, const std::vector<LeasedStage>& stages,
                  std::map<ProblemId, policy::RelayReply>& replies) {
  const protocol::Grant& grant = leased.grant;
  const LeasedStage* const stage = find_stage(stages, grant);
  if (stage == nullptr) {
    tx.effects.warn(fmt::format("refused unit {} of the parent: the parent did not describe its stage",
                                grant.unit.value));
    return {};
  }
  TRY_ASSIGN(const bool taken, begin_leased_stage(tx, *stage, grant));
  if (!taken) return {};
  TRY(lose_answered(tx, grant.problem, grant.stage, grant.range));
  storage::LeaseRow row;
  row.unit = grant.unit;
  row.problem = grant.problem;
  row.stage = grant.stage;
  row.range = grant.range;
  row.handed_end = grant.range.end;
  row.deadline = grant.deadline;
  protocol::LeaseChain chain{{leased.statement}};
  chain.statements.insert(chain.statements.end(), leased.above.begin(), leased.above.end());
  row.chain = protocol::encode(chain);
  TRY(tx.store.put_lease(row));
  double input_bytes = 0;
  for (const auto& input : grant.inputs)
    if (input.range) input_bytes += static_cast<double>(input.bytes);  // the others move once
  upstream_of(tx.model).item_down_bytes = input_bytes / static_cast<double>(grant.range.size());
  upstream_of(tx.model).chains.erase(row.unit);
  upstream_of(tx.model).leases[row.unit] = std::move(row);
  replies[grant.problem].grant = policy::RelayGrant{grant.unit, grant.range};
  tx.effects.info(fmt::format("unit {}: items {}-{} of problem {} ({}) are leased: {}", grant.unit.value,
                              grant.range.begin, grant.range.end, grant.problem.value, grant.problem_name,
                              grant.reason));
  return {};
}

// Of those that were sent, some are answered or held; the others are said again, not at once.
void take_held(Transaction& tx, const UpMessage& message, const protocol::WorkReply& reply) {
  Upstream& upstream = upstream_of(tx.model);
  std::set<std::tuple<UnitId, std::int64_t, std::int64_t, std::string>> held;
  if (reply.held)
    for (const auto& one : *reply.held) held.insert({one.unit, one.range.begin, one.range.end, one.digest});
  bool left = message.in_vain;
  for (std::size_t i = 0; i < message.results.size(); ++i) {
    const auto owed = upstream.owed.find(message.results[i].segment);
    if (owed == upstream.owed.end()) continue;
    const auto& commit = message.request.commits[i];
    if (held.contains({commit.unit, commit.range.begin, commit.range.end, commit.digest})) {
      Owed& its = owed->second;
      its.held_since = tx.now;
      its.patience = its.patience == Duration{0} ? first_patience * from_seconds(reply.interval_seconds)
                                                 : 2 * its.patience;
      its.patience = std::min<Duration>(its.patience, longest_patience);
      upstream.to_send.erase(owed->first);
    } else {
      left = true;
    }
  }
  constexpr Duration again = std::chrono::seconds{10};
  upstream.sends_at = left ? tx.now + again : tx.now;
}

// As policy::Relay has let it go: nothing of it is lacking, or its parent ended it.
Status end_complete(Transaction& tx, ProblemId id) {
  Upstream& upstream = upstream_of(tx.model);
  const auto problem = tx.model.problems.find(id);
  if (problem == tx.model.problems.end() || problem->second.stage == nullptr) return {};
  const auto& accepted = problem->second.stage->view().ledger().accepted();
  for (auto& [unit, lease] : upstream.leases) {
    if (!lease.open || lease.problem != id || lease.stage != problem->second.row.stage ||
        !accepted.contains(lease.range))
      continue;
    const bool owes =
        std::any_of(upstream.owed.begin(), upstream.owed.end(),
                    [id = lease.unit](const auto& entry) { return entry.second.row.lease == id; });
    if (owes) continue;
    lease.open = false;
    TRY(tx.store.put_lease(lease));
  }
  return {};
}

}  // namespace

Result<std::vector<LeasedUnit>> read_leases(const protocol::WorkReply& reply) {
  std::vector<LeasedUnit> units;
  for (const auto& statement : reply.grants) {
    LeasedUnit unit{statement, {}, {}};
    if (statement.type == protocol::StatementType::grant) {
      TRY_ASSIGN(unit.grant, protocol::decode<protocol::Grant>(statement.payload));
    } else {
      TRY_ASSIGN(const auto grant, protocol::decode<protocol::RelayGrant>(statement.payload));
      const auto chain = std::find_if(
          reply.leases ? reply.leases->begin() : std::vector<protocol::LeaseChain>::const_iterator{},
          reply.leases ? reply.leases->end() : std::vector<protocol::LeaseChain>::const_iterator{},
          [&](const protocol::LeaseChain& each) {
            return each.statements.size() > 1 &&
                   crypto::sha256_hex(each.statements[1].payload) == grant.parent;
          });
      if (!reply.leases || chain == reply.leases->end())
        return Error{ErrorKind::untrusted, "a relay granted what it does not say it has"};
      TRY_ASSIGN(unit.grant, crypto::read_relayed_grant(statement, *chain));
      unit.above = chain->statements;
    }
    units.push_back(std::move(unit));
  }
  return units;
}

Status take_reply(Transaction& tx, const UpMessage& message, const protocol::WorkReply& reply,
                  const std::vector<LeasedUnit>& leases, const std::vector<LeasedStage>& stages) {
  Upstream& upstream = upstream_of(tx.model);
  upstream.trouble.clear();
  std::map<ProblemId, policy::RelayReply> replies;
  for (const ProblemId id : message.said) replies[id];
  TRY(take_orders(tx, reply, replies));  // before the answers, which depend on what is leased
  for (const auto& statement : reply.acknowledgements) TRY(take_answer(tx, statement));
  take_held(tx, message, reply);
  upstream.says_unable_at = tx.now + from_seconds(reply.interval_seconds);
  constexpr Duration measured_pause = std::chrono::minutes{1};  // links are measured anew all the time
  if (message.request.measured) {
    for (const auto& one : *message.request.measured) upstream.measured.erase(one.host);
    if (upstream.measured.empty()) upstream.tells_measured_at = tx.now + measured_pause;
  }
  for (const auto& leased : leases) TRY(take_lease(tx, leased, stages, replies));
  const bool got = !leases.empty();
  // Another problem's turn: what this one wants it asks again soon.
  constexpr double turn_seconds = 2;
  if (!got) upstream.asks_at = tx.now + from_seconds(std::max(1.0, reply.retry_after_seconds));
  for (auto& [id, answer] : replies) {
    const auto relay = upstream.relays.find(id);
    if (relay == upstream.relays.end()) continue;
    const auto problem = tx.model.problems.find(id);
    const bool asked = std::find(message.asked.begin(), message.asked.end(), id) != message.asked.end();
    answer.interval = reply.interval_seconds;
    if (asked && !answer.grant) answer.retry_after = got ? turn_seconds : reply.retry_after_seconds;
    const protocol::StageNews* news = nullptr;
    if (reply.stages)
      for (const auto& each : *reply.stages)
        if (each.problem == id && each.stage == problem->second.row.stage) news = &each;
    answer.stage_seconds = news != nullptr ? news->seconds : 0;
    answer.dry = news != nullptr ? news->dry : asked && !got;
    policy::Changes changes;
    relay->second.told(answer, tx.now, changes);
    TRY(store_stage(tx, problem->second, changes));
    TRY(end_complete(tx, id));
  }
  return {};
}

void take_silence(Transaction& tx, const UpMessage& message, const std::string& why, Timestamp again) {
  Upstream& upstream = upstream_of(tx.model);
  if (upstream.trouble.empty()) tx.effects.warn("no contact with the parent: " + why);
  upstream.trouble = why;
  upstream.asks_at = upstream.sends_at = upstream.says_unable_at = upstream.tells_measured_at = again;
  upstream.missed = true;
  for (const ProblemId id : message.said)
    if (const auto relay = upstream.relays.find(id); relay != upstream.relays.end())
      relay->second.not_told(again);
}

}  // namespace gleaner::service
