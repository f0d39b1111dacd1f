#include "server/policy/journal/player.h"

#include <fmt/format.h>

namespace gleaner::policy {
namespace {

std::string text_of(const std::vector<Range>& ranges) {
  std::string text;
  for (const Range range : ranges) text += fmt::format(" [{}, {})", range.begin, range.end);
  return text.empty() ? " none" : text;
}

struct Player {
  Stage& stage;
  Timestamp now;
  Changes& changes;

  std::string operator()(const RestoreEvent& event) {
    stage.restore(event.accepted, event.units, event.hosts, event.set_aside, event.undecided, now);
    return {};
  }
  std::string operator()(const RequestEvent& event) {
    return policy::text_of(stage.request(event.requester, now, changes));
  }
  std::string operator()(const ReportEvent& event) {
    return policy::text_of(stage.report(event.host, event.report, now, changes));
  }
  std::string operator()(const CommitEvent& event) {
    return policy::text_of(stage.commit(event.host, event.unit, event.range, event.last, now, changes));
  }
  std::string operator()(const GiveBackEvent& event) {
    stage.give_back(event.host, event.unit, event.why, event.item, event.reason, now, changes);
    return {};
  }
  std::string operator()(const HostLeftEvent& event) {
    stage.host_left(event.host, event.reason, now, changes);
    return {};
  }
  std::string operator()(const TickEvent&) {
    stage.tick(now, changes);
    return {};
  }
  std::string operator()(const DisputeEvent& event) {
    stage.dispute(event.range, event.hosts, now, changes,
                  {event.barred.value_or(std::vector<HostId>{}), event.strangers_until});
    return {};
  }
  std::string operator()(const ResolveEvent& event) {
    stage.resolve(event.range, event.decided, now, changes);
    return {};
  }
  std::string operator()(const RejectEvent& event) {
    stage.reject(event.range, event.reason, now, changes);
    return {};
  }
  std::string operator()(const EnoughEvent&) {
    stage.enough(now, changes);
    return {};
  }
  std::string operator()(const SizingEvent& event) {
    const Status status = stage.set_sizing(event.strategy);
    return status.ok() ? "" : status.error().message;
  }
  std::string operator()(const StragglerEvent& event) {
    const auto rule = straggler_from(event.rule);
    if (!rule.ok()) return rule.error().message;
    stage.set_straggler(*rule);
    return {};
  }
  std::string operator()(const RememberEvent& event) {
    stage.remember(event.unit);
    return {};
  }
  std::string operator()(const ExpectEvent& event) {
    stage.expect(event.hosts);
    return {};
  }
  std::string operator()(const AdmitRelayEvent& event) {
    stage.admit_relay(event.host);
    return {};
  }
  std::string operator()(const RelayReportEvent& event) {
    return policy::text_of(stage.report(event.host, event.report, now, changes));
  }
  std::string operator()(const BringEvent& event) {
    stage.bring(event.range, event.seconds);
    return {};
  }
  std::string operator()(const TakeAwayEvent& event) {
    stage.take_away(event.range, event.reason, now, changes);
    return {};
  }
  std::string operator()(const SaveEvent& event) {
    return text_of_save(stage.save(event.host, event.unit, event.item, event.share));
  }
};

}  // namespace

StageAnswer play(Stage& stage, const StageEvent& event, Timestamp now) {
  Changes changes;
  return play(stage, event, now, changes);
}

StageAnswer play(Stage& stage, const StageEvent& event, Timestamp now, Changes& changes) {
  const std::size_t before = changes.decisions.size();
  StageAnswer answer;
  answer.answer = std::visit(Player{stage, now, changes}, event);
  for (std::size_t i = before; i < changes.decisions.size(); ++i)
    answer.decisions.push_back(text_of(changes.decisions[i]));
  return answer;
}

std::string text_of(const Grant& grant) {
  if (grant.unit) return fmt::format("unit {}", grant.unit->value);
  return fmt::format("nothing, again in {} s: {}", grant.retry_after, grant.reason);
}

std::string text_of(const protocol::UnitOrder& order) {
  return fmt::format("{} until {}{}{}", name_of(order.action), order.end, order.reason.empty() ? "" : ": ",
                     order.reason);
}

std::string text_of(const CommitOutcome& outcome) {
  if (!outcome.refusal.empty()) return "refused: " + outcome.refusal;
  std::string text = "accepted" + text_of(outcome.accepted);
  if (!outcome.overlapping.empty()) text += ", had" + text_of(outcome.overlapping);
  return text;
}

std::string text_of_save(bool kept) {
  return kept ? "kept" : "of no use";
}

std::string text_of(const Decision& decision) {
  return fmt::format("{} unit {} of host {} [{}, {}): {}", decision.kind, decision.unit.value,
                     decision.host.value, decision.range.begin, decision.range.end, decision.reason);
}

}  // namespace gleaner::policy
