#include "server/policy/journal/recorded_stage.h"

#include "server/policy/journal/lines.h"
#include "server/policy/journal/player.h"

namespace gleaner::policy {

RecordedStage::RecordedStage(const StageSetup& setup, Sink sink, Observer observer)
    : stage_(setup), sink_(std::move(sink)), observer_(std::move(observer)) {
  if (sink_) sink_(setup_line(setup));
}

void RecordedStage::restore(const std::vector<Range>& accepted, const std::vector<Unit>& units,
                            const std::vector<HostRecord>& hosts, const std::vector<Range>& set_aside,
                            const std::vector<Range>& undecided, Timestamp now) {
  stage_.restore(accepted, units, hosts, set_aside, undecided, now);
  if (sink_.has_room(restore_bytes_least(units.size(), hosts.size())))
    record(RestoreEvent{accepted, units, hosts, set_aside, undecided}, {}, now, {}, 0);
}

Grant RecordedStage::request(const Requester& requester, Timestamp now, Changes& changes) {
  const std::size_t before = changes.decisions.size();
  Grant grant = stage_.request(requester, now, changes);
  if (sink_) record(RequestEvent{requester}, text_of(grant), now, changes, before);
  observe(changes, now);
  return grant;
}

protocol::UnitOrder RecordedStage::report(HostId host, const protocol::UnitReport& report, Timestamp now,
                                          Changes& changes) {
  const std::size_t before = changes.decisions.size();
  protocol::UnitOrder order = stage_.report(host, report, now, changes);
  if (sink_) record(ReportEvent{host, report}, text_of(order), now, changes, before);
  observe(changes, now);
  return order;
}

protocol::UnitOrder RecordedStage::report(HostId host, const RelayReport& report, Timestamp now,
                                          Changes& changes) {
  const std::size_t before = changes.decisions.size();
  protocol::UnitOrder order = stage_.report(host, report, now, changes);
  if (sink_) record(RelayReportEvent{host, report}, text_of(order), now, changes, before);
  observe(changes, now);
  return order;
}

CommitOutcome RecordedStage::commit(HostId host, UnitId unit, Range range, bool last, Timestamp now,
                                    Changes& changes) {
  const std::size_t before = changes.decisions.size();
  CommitOutcome outcome = stage_.commit(host, unit, range, last, now, changes);
  if (sink_) record(CommitEvent{host, unit, range, last}, text_of(outcome), now, changes, before);
  observe(changes, now);
  return outcome;
}

void RecordedStage::give_back(HostId host, UnitId unit, Stage::GiveBack why, std::int64_t item,
                              const std::string& reason, Timestamp now, Changes& changes) {
  const std::size_t before = changes.decisions.size();
  stage_.give_back(host, unit, why, item, reason, now, changes);
  if (sink_) record(GiveBackEvent{host, unit, why, item, reason}, {}, now, changes, before);
  observe(changes, now);
}

void RecordedStage::tick(Timestamp now, Changes& changes) {
  const std::size_t before = changes.decisions.size();
  stage_.tick(now, changes);
  if (sink_) record(TickEvent{}, {}, now, changes, before);
  observe(changes, now);
}

void RecordedStage::host_left(HostId host, const std::string& reason, Timestamp now, Changes& changes) {
  const std::size_t before = changes.decisions.size();
  stage_.host_left(host, reason, now, changes);
  if (sink_) record(HostLeftEvent{host, reason}, {}, now, changes, before);
  observe(changes, now);
}

void RecordedStage::dispute(Range range, const std::vector<HostId>& hosts, Timestamp now, Changes& changes,
                            const Unasked& unasked) {
  const std::size_t before = changes.decisions.size();
  stage_.dispute(range, hosts, now, changes, unasked);
  DisputeEvent event{range, hosts};
  if (!unasked.hosts.empty()) event.barred = unasked.hosts;
  event.strangers_until = unasked.strangers_until;
  if (sink_) record(std::move(event), {}, now, changes, before);
  observe(changes, now);
}

void RecordedStage::resolve(Range range, bool decided, Timestamp now, Changes& changes) {
  const std::size_t before = changes.decisions.size();
  stage_.resolve(range, decided, now, changes);
  if (sink_) record(ResolveEvent{range, decided}, {}, now, changes, before);
  observe(changes, now);
}

void RecordedStage::reject(Range range, const std::string& reason, Timestamp now, Changes& changes) {
  const std::size_t before = changes.decisions.size();
  stage_.reject(range, reason, now, changes);
  if (sink_) record(RejectEvent{range, reason}, {}, now, changes, before);
  observe(changes, now);
}

void RecordedStage::enough(Timestamp now, Changes& changes) {
  const std::size_t before = changes.decisions.size();
  stage_.enough(now, changes);
  if (sink_) record(EnoughEvent{}, {}, now, changes, before);
  observe(changes, now);
}

void RecordedStage::remember(const Unit& unit, Timestamp now) {
  stage_.remember(unit);
  if (sink_) record(RememberEvent{unit}, {}, now, {}, 0);
}

void RecordedStage::expect(const std::vector<IdleHost>& hosts, Timestamp now) {
  stage_.expect(hosts);
  if (sink_) record(ExpectEvent{hosts}, {}, now, {}, 0);
}

void RecordedStage::admit_relay(HostId host, Timestamp now) {
  stage_.admit_relay(host);
  if (sink_) record(AdmitRelayEvent{host}, {}, now, {}, 0);
}

void RecordedStage::bring(Range range, double seconds, Timestamp now) {
  stage_.bring(range, seconds);
  if (sink_) record(BringEvent{range, seconds}, {}, now, {}, 0);
}

void RecordedStage::take_away(Range range, const std::string& reason, Timestamp now, Changes& changes) {
  const std::size_t before = changes.decisions.size();
  stage_.take_away(range, reason, now, changes);
  if (sink_) record(TakeAwayEvent{range, reason}, {}, now, changes, before);
  observe(changes, now);
}

bool RecordedStage::save(HostId host, UnitId unit, std::int64_t item, double share, Timestamp now) {
  const bool kept = stage_.save(host, unit, item, share);
  if (sink_) record(SaveEvent{host, unit, item, share}, text_of_save(kept), now, {}, 0);
  return kept;
}

Status RecordedStage::set_sizing(const std::string& text, Timestamp now) {
  Status status = stage_.set_sizing(text);
  if (sink_) record(SizingEvent{text}, status.ok() ? "" : status.error().message, now, {}, 0);
  return status;
}

void RecordedStage::set_straggler(Straggler rule, Timestamp now) {
  stage_.set_straggler(rule);
  if (sink_) record(StragglerEvent{name_of(rule)}, {}, now, {}, 0);
}

StageAnswer RecordedStage::play(const StageEvent& event, Timestamp now) {
  Changes changes;
  StageAnswer answer = policy::play(stage_, event, now, changes);
  if (sink_) sink_(entry_line({now, event, answer}));
  observe(changes, now);
  return answer;
}

void RecordedStage::record(StageEvent event, std::string answer, Timestamp now, const Changes& changes,
                           std::size_t before) {
  JournalEntry entry{now, std::move(event), {std::move(answer), {}}};
  for (std::size_t i = before; i < changes.decisions.size(); ++i)
    entry.answer.decisions.push_back(text_of(changes.decisions[i]));
  sink_(entry_line(entry));
}

}  // namespace gleaner::policy
