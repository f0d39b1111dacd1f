#include "tools/simulator/grid_loop.h"

namespace gleaner::simulator {
namespace {

constexpr double tail_share = 0.95;

}  // namespace

void GridLoop::at_server(const Message& message) {
  const HostId host{static_cast<std::int64_t>(message.host) + 1};
  policy::Changes changes;
  Reply reply;
  reply.host = message.host;
  for (const Commit& part : message.commits) commit(host, part, changes);
  for (const protocol::UnitReport& report : message.reports) {
    reply.orders.push_back(recorded_.report(host, report, stamp(), changes));
  }
  if (message.failure) {
    recorded_.give_back(host, message.failure->unit, policy::Stage::GiveBack::failed,
                        message.failure->range.begin, "the kernel crashed", stamp(), changes);
  }
  if (message.slot) request(message, reply, changes);
  recorded_.tick(stamp(), changes);
  reply.interval = stage().heartbeat_seconds(stamp());
  if (instance_.keep_decisions) {
    run_.decisions.insert(run_.decisions.end(), changes.decisions.begin(), changes.decisions.end());
  }
  run_.decided += static_cast<std::int64_t>(message.commits.size() + message.reports.size()) +
                  (message.slot ? 1 : 0) + (message.failure ? 1 : 0);
  if (instance_.check_every > 0) {
    if (++received_ % instance_.check_every == 0) {
      stage().check_invariants();
    } else {
      stage().check_changed(changes);
    }
  }
  over_ = over();
  push({now_ + instance_.request_delay / 2, ++order_, {}, std::make_unique<Reply>(std::move(reply))});
}

// Everything is accepted, or the rest is set aside and no dispute over what was accepted goes on.
bool GridLoop::over() const {
  if (stage().complete()) return true;
  if (stage().accepted().total() + stage().set_aside().total() < instance_.items) return false;
  return !liars_ || stage().open_units().empty();
}

void GridLoop::commit(HostId host, const Commit& commit, policy::Changes& changes) {
  const auto outcome = recorded_.commit(host, commit.unit, commit.range, commit.last, stamp(), changes);
  for (const Range range : outcome.accepted) {
    accepted_work_ += job_.costs.of(range);
    if (instance_.check_every == 0) continue;
    CHECK_TRUE(!accepted_.overlaps(range));  // nothing is accepted twice
    accepted_.add(range);
  }
  if (liars_ && outcome.refusal.empty()) {
    opinions_.deliver(commit.range, host, commit.wrong ? commit.unit.value : 0);
    judge(outcome.overlapping);
  }
  if (run_.t95 == 0 && accepted_work_ >= tail_share * job_.costs.total()) run_.t95 = now_;
}

// As the live server does with overlapping results (service/review.cpp).
void GridLoop::judge(const std::vector<Range>& ranges) {
  for (const Range range : ranges) {
    for (const auto& finding : opinions_.review(range, instance_.rules.opinions_max)) {
      policy::StageEvent event = policy::ResolveEvent{finding.range, true};
      if (finding.kind == policy::VerdictKind::agree) continue;
      if (finding.kind == policy::VerdictKind::need_another) {
        event = policy::DisputeEvent{finding.range, finding.hosts};
      } else if (finding.kind == policy::VerdictKind::undecided) {
        event = policy::ResolveEvent{finding.range, false};
      }
      static_cast<void>(recorded_.play(event, stamp()));
    }
  }
}

void GridLoop::request(const Message& message, Reply& reply, policy::Changes& changes) {
  const GridHost& real = instance_.hosts[message.host];
  policy::Requester requester;
  requester.host = HostId{static_cast<std::int64_t>(message.host) + 1};
  requester.slot = *message.slot;
  requester.urgent = message.urgent;
  requester.slots = real.slots;
  requester.performance = real.performance > 0 ? real.performance : real.speed;
  requester.unit = UnitId{next_unit_};
  const policy::Grant grant = recorded_.request(requester, stamp(), changes);
  reply.slot = message.slot;
  reply.urgent = message.urgent;
  reply.retry_after = grant.retry_after;
  if (!grant.unit) return;
  ++next_unit_;
  ++run_.grants;
  const policy::Unit* granted = stage().unit(*grant.unit);
  reply.unit = *grant.unit;
  reply.range = granted->range;
  reply.kind = granted->kind;
  if (instance_.sample_seconds > 0)
    run_.grants_made.push_back(
        {now_, static_cast<std::uint32_t>(message.host), granted->range.size(), granted->kind});
}

void GridLoop::restart() {
  std::vector<policy::Unit> units;
  for (const policy::Unit* unit : stage().open_units()) units.push_back(*unit);
  std::vector<policy::HostRecord> records;
  for (const policy::HostRecord* record : stage().hosts()) records.push_back(*record);
  const auto accepted = stage().accepted().ranges(), set_aside = stage().set_aside().ranges();
  recorded_ = policy::RecordedStage(stage_setup(instance_), instance_.log);
  recorded_.restore(accepted, units, records, set_aside, stamp());
  if (instance_.check_every > 0) stage().check_invariants();
}

}  // namespace gleaner::simulator
