#include "server/policy/relay/relay.h"

#include <algorithm>

namespace gleaner::policy {
namespace {

constexpr std::size_t ended_max = 64;

Timestamp later(Timestamp time, double seconds) {
  return time + from_seconds(seconds);
}

}  // namespace

void Relay::accepted(const std::vector<Range>& ranges) {
  for (const Range range : ranges) waiting_.add(range);
}

void Relay::restore(std::vector<RelayLease> leases, RangeSet waiting) {
  for (const RelayLease& lease : leases) leases_.push_back({lease});
  waiting_ = std::move(waiting);
}

bool Relay::holds(UnitId unit) const {
  return std::any_of(leases_.begin(), leases_.end(),
                     [unit](const Lease& lease) { return lease.unit == unit; });
}

bool Relay::complete(const Lease& lease) const {
  return stage_->ledger().accepted().contains(lease.range);
}

double Relay::ahead(double rate) const {
  return std::max(2 * round_trip_, std::min(rules_.horizon, latest_cost_ / rate / 2));
}

// Of what was cancelled above, say, nothing is here: then it is for hosts that find nothing to say so.
bool Relay::looks_ahead() const {
  return !dry_ && !leases_.empty();
}

bool Relay::wants_more(Timestamp now) const {
  if (now < asks_at_ || leases_.size() >= relay_leases_max) return false;
  const Ledger& ledger = stage_->ledger();
  if (ledger.free().empty()) return idle_ || looks_ahead();
  const double rate = stage_->counts(now).rate;
  return !dry_ && rate > 0 && ledger.free_cost() <= rate * ahead(rate);
}

Timestamp Relay::due(Timestamp now) const {
  if (busy_) return Timestamp::max();
  if (now < silent_until_) return silent_until_;
  if (wants_more(now)) return now;
  for (const Lease& lease : leases_)
    if (complete(lease)) return now;
  const Ledger& ledger = stage_->ledger();
  const bool will_want =
      ledger.free().empty() && (idle_ || looks_ahead()) && leases_.size() < relay_leases_max;
  return std::max(now, will_want ? std::min(speaks_at_, asks_at_) : speaks_at_);
}

// Pieces go up once they are long enough, or have waited for long: a segment costs those above as much,
// however many items it has.
void Relay::pass_up(const Lease& lease, bool all, std::vector<RelayCommit>& commits) const {
  const Range handed{lease.range.begin, lease.handed_end};
  const std::int64_t least = std::max<std::int64_t>(1, handed.size() / rules_.pieces);
  const bool whole = all || complete(lease);
  waiting_.visit_within(handed, [&](Range part) {
    if (whole || part.size() >= least) commits.push_back({lease.unit, part});
  });
}

RelayReport Relay::report_of(const Lease& lease, double free_before, const StageCounts& counts,
                             Timestamp now) const {
  const Ledger& ledger = stage_->ledger();
  RelayReport report;
  report.unit = lease.unit;
  report.begun = lease.range.end;
  double free = free_before;
  ledger.free().visit_within(lease.range, [&](Range part) {
    free += ledger.costs().of(part);
    if (part.end == lease.range.end) report.begun = part.begin;
  });
  // Hosts that hold something come to what is free one after the other: half-way, in the mean.
  const double held = stage_->seconds_held(lease.range, now);
  if (counts.rate > 0)
    report.seconds_left = std::max(held, free > free_before ? free / counts.rate + held / 2 : 0);
  report.rate = counts.rate;
  report.slots = static_cast<int>(std::max<std::int64_t>(1, counts.slots));
  return report;
}

RelayMessage Relay::say(double performance, Timestamp now) {
  RelayMessage message;
  const StageCounts counts = stage_->counts(now);
  double free_before = 0;
  for (Lease& lease : leases_) {
    const bool free = stage_->ledger().free().overlaps(lease.range);
    lease.spent_at = free ? Timestamp::max() : std::min(lease.spent_at, now);
    pass_up(lease, !free && now >= later(lease.spent_at, rules_.deliver), message.commits);
    if (complete(lease)) continue;
    message.reports.push_back(report_of(lease, free_before, counts, now));
    stage_->ledger().free().visit_within(
        lease.range, [&](Range part) { free_before += stage_->ledger().costs().of(part); });
  }
  for (const Lease& lease : ended_) pass_up(lease, true, message.commits);
  for (const RelayCommit& commit : message.commits) under_way_.add(commit.range);
  if (wants_more(now))
    message.ask = {idle_ && stage_->ledger().free().empty(), performance, counts.rate,
                   static_cast<int>(std::max<std::int64_t>(1, counts.slots))};
  busy_ = true;
  said_at_ = now;
  idle_ = false;
  return message;
}

void Relay::end(std::size_t place) {
  if (ended_.size() == ended_max) ended_.erase(ended_.begin());
  ended_.push_back(leases_[place]);
  leases_.erase(leases_.begin() + static_cast<std::ptrdiff_t>(place));
}

void Relay::obey(const protocol::UnitOrder& order, Timestamp now, Changes& changes) {
  const auto found = std::find_if(leases_.begin(), leases_.end(),
                                  [&](const Lease& lease) { return lease.unit == order.unit; });
  if (found == leases_.end()) return;
  const bool over = order.action == protocol::UnitAction::cancel;
  const std::int64_t end = over ? found->range.begin : std::max(order.end, found->range.begin);
  if (end < found->range.end) {
    recorded_->apply(
        TakeAwayEvent{{end, found->range.end}, order.reason.empty() ? "its parent cut it" : order.reason},
        now, changes);
    found->range.end = end;
  }
  if (over) this->end(static_cast<std::size_t>(found - leases_.begin()));
}

void Relay::drop_complete() {
  for (std::size_t i = leases_.size(); i-- > 0;)
    if (complete(leases_[i]) && !waiting_.overlaps(leases_[i].range)) end(i);
}

void Relay::told(const RelayReply& reply, Timestamp now, Changes& changes) {
  busy_ = false;
  round_trip_ = to_seconds(now - said_at_);
  for (const Range range : under_way_.ranges()) waiting_.remove(range);
  under_way_.clear();
  dry_ = reply.dry;
  for (const protocol::UnitOrder& order : reply.orders) obey(order, now, changes);
  if (reply.grant) {
    const RelayGrant& grant = *reply.grant;
    latest_cost_ = stage_->ledger().costs().of(grant.range);
    leases_.push_back({{grant.unit, grant.range, grant.range.end}});
    recorded_->apply(BringEvent{grant.range, reply.stage_seconds}, now);
    accepted(stage_->ledger().accepted().within(grant.range));  // late results of an earlier lease
  }
  if (reply.retry_after > 0) asks_at_ = later(now, reply.retry_after);
  speaks_at_ = later(now, reply.interval);
  drop_complete();
}

void Relay::not_told(Timestamp again) {
  busy_ = false;
  under_way_.clear();
  idle_ = true;
  speaks_at_ = asks_at_ = silent_until_ = again;
}

}  // namespace gleaner::policy
