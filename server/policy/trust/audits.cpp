#include "server/policy/trust/audits.h"

#include <algorithm>
#include <cmath>

namespace gleaner::policy {

double Audits::samples(HostId host, const Deliveries& of, const Reputation& reputation, Timestamp now) const {
  return reputation.standing(host, application_, now).right + static_cast<double>(of.pending.total());
}

void Audits::ask(HostId host, Deliveries& of, Range items, std::vector<Audit>& audits) {
  of.pending.add(items);
  if (of.last.overlaps(items)) of.last_audited = true;
  if (!audits.empty() && audits.back().range.end == items.begin) {
    audits.back().range.end = items.end;
  } else {
    audits.push_back({items, host});
  }
}

std::int64_t Audits::pick(const RangeSet& items, Random& draw) {
  auto left = static_cast<std::int64_t>(draw.below(static_cast<std::uint64_t>(items.total())));
  for (const Range range : items.ranges()) {
    if (left < range.size()) return range.begin + left;
    left -= range.size();
  }
  return items.front().begin;
}

std::vector<Audit> Audits::accepted(HostId host, Range range, const Reputation& reputation, Random& draw,
                                    Timestamp now) {
  using Kind = Validation::Kind;
  std::vector<Audit> audits;
  if (range.empty() || !wanted()) return audits;
  remove(range, Why::reopened);
  Deliveries& of = deliveries_[host];
  of.unverified.add(range);
  of.last = range;
  of.last_audited = false;
  unverified_[range.begin] = {range.end, host};
  if (validation_.kind == Kind::quorum) {
    ask(host, of, range, audits);
    return audits;
  }
  if (reputation.is_own(host)) return audits;
  // A1: the distance to the next item drawn is geometric, so that a long range costs no more than its draws.
  const double share = validation_.kind == Kind::spot ? validation_.spot : reputation.rules().audit_share;
  const auto distance = [&]() -> std::int64_t {
    if (share >= 1) return 0;
    const double skipped = std::floor(std::log1p(-draw.uniform()) / std::log1p(-share));
    return static_cast<std::int64_t>(std::min(skipped, static_cast<double>(range.size())));
  };
  for (std::int64_t item = range.begin + distance(); item < range.end; item += 1 + distance())
    ask(host, of, {item, item + 1}, audits);
  // A2
  if (validation_.kind == Kind::adaptive && audits.empty() &&
      samples(host, of, reputation, now) < reputation.rules().known_after) {
    const std::int64_t item = draw.between(range.begin, range.end - 1);
    ask(host, of, {item, item + 1}, audits);
  }
  return audits;
}

void Audits::remove(Range range, Why why) {
  auto next = unverified_.upper_bound(range.begin);
  if (next != unverified_.begin() && std::prev(next)->second.first > range.begin) --next;
  while (next != unverified_.end() && next->first < range.end) {
    const Range known{next->first, next->second.first};
    const HostId host = next->second.second;
    const Range part = intersection(known, range);
    next = unverified_.erase(next);
    if (known.begin < part.begin) unverified_[known.begin] = {part.begin, host};
    if (part.end < known.end) next = unverified_.insert({part.end, {known.end, host}}).first;
    Deliveries& of = deliveries_.at(host);
    of.unverified.remove(part);
    of.pending.remove(part);
    if (why == Why::verified && of.last.overlaps(part)) of.last_audited = true;
    if (of.unverified.empty()) deliveries_.erase(host);
  }
}

void Audits::verified(Range range) {
  remove(range, Why::verified);
}

void Audits::reopened(Range range) {
  remove(range, Why::reopened);
}

std::vector<Range> Audits::doubtful(HostId host) const {
  const auto found = deliveries_.find(host);
  return found == deliveries_.end() ? std::vector<Range>{} : found->second.unverified.ranges();
}

bool Audits::is_pending(Range range) const {
  return std::any_of(deliveries_.begin(), deliveries_.end(),
                     [&](const auto& entry) { return entry.second.pending.overlaps(range); });
}

std::vector<Audit> Audits::closing(const Reputation& reputation, Random& draw, Timestamp now) {
  std::vector<Audit> audits;
  if (validation_.kind != Validation::Kind::adaptive) return audits;
  for (auto& [host, of] : deliveries_) {
    if (reputation.is_own(host)) continue;
    if (!of.last_audited) {
      RangeSet last;
      for (const Range part : of.unverified.within(of.last)) last.add(part);
      if (!last.empty()) {
        const std::int64_t item = pick(last, draw);
        ask(host, of, {item, item + 1}, audits);
      }
    }
    RangeSet rest = of.unverified;
    for (const Range range : of.pending.ranges()) rest.remove(range);
    while (!rest.empty() && samples(host, of, reputation, now) < reputation.rules().known_after) {
      const std::int64_t item = pick(rest, draw);
      rest.remove({item, item + 1});
      ask(host, of, {item, item + 1}, audits);
    }
  }
  return audits;
}

}  // namespace gleaner::policy
