#include "server/policy/relay/serve.h"

#include <algorithm>
#include <iterator>

namespace gleaner::policy {
namespace {

void give_back_unknown(RecordedStage& stage, HostId relay, const RelayMessage& message,
                       std::vector<UnitId>& held, Timestamp now, Changes& changes) {
  std::erase_if(held, [&](UnitId id) {
    const Unit* unit = stage.view().unit(id);
    if (unit == nullptr || unit->state != UnitState::open) return true;
    const auto names = [&](const auto& one) { return one.unit == id; };
    if (std::any_of(message.reports.begin(), message.reports.end(), names) ||
        std::any_of(message.commits.begin(), message.commits.end(), names))
      return false;
    stage.apply(GiveBackEvent{relay, id, GiveBack::returned, unit->committed,
                              "the relay does not have it (an answer was lost)"},
                now, changes);
    return true;
  });
}

}  // namespace

RelayServed serve_relay(RecordedStage& stage, HostId relay, const RelayMessage& message,
                        std::vector<UnitId>& held, UnitId unit, bool more_may_come, Timestamp now,
                        Changes& changes) {
  RelayServed served;
  RelayReply& reply = served.reply;
  // What is refused (nothing more is needed) stays refused: it is as good as told.
  for (const RelayCommit& commit : message.commits) {
    CommitOutcome outcome = stage.apply(CommitEvent{relay, commit.unit, commit.range}, now, changes);
    served.accepted.insert(served.accepted.end(), std::make_move_iterator(outcome.accepted.begin()),
                           std::make_move_iterator(outcome.accepted.end()));
  }
  if (message.ask) give_back_unknown(stage, relay, message, held, now, changes);
  for (const RelayReport& report : message.reports)
    reply.orders.push_back(stage.apply(RelayReportEvent{relay, report}, now, changes));
  if (message.ask) {
    const bool free = !stage.view().ledger().free().empty();
    Requester requester;
    requester.host = relay;
    requester.urgent = message.ask->urgent && (free || !more_may_come);
    requester.performance = message.ask->performance;
    requester.unit = unit;
    requester.relay = RelayOffer{message.ask->rate, message.ask->slots};
    const Grant grant = stage.apply(RequestEvent{requester}, now, changes);
    if (grant.unit) {
      reply.grant = RelayGrant{*grant.unit, stage.view().unit(*grant.unit)->range};
      held.push_back(*grant.unit);
    } else {
      reply.retry_after = grant.retry_after;
    }
  }
  reply.interval = stage.view().heartbeat_seconds(now);
  reply.stage_seconds = stage.view().seconds_in_all();
  reply.dry = stage.view().ledger().free().empty() && !more_may_come;
  return served;
}

}  // namespace gleaner::policy
