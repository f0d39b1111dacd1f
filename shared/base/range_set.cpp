#include "shared/base/range_set.h"

#include <algorithm>

#include "shared/base/check.h"

namespace gleaner {

void RangeSet::add(Range range) {
  if (range.empty()) return;
  auto next = ranges_.upper_bound(range.begin);
  auto into = ranges_.end();  // the range that `range` continues
  if (next != ranges_.begin()) {
    if (const auto before = std::prev(next); before->second >= range.begin) into = before;
  }
  if (into == ranges_.end()) {
    into = ranges_.emplace_hint(next, range.begin, range.end);
    total_ += range.size();
  } else if (into->second < range.end) {
    total_ += range.end - into->second;
    into->second = range.end;
  }
  while (next != ranges_.end() && next->first <= into->second) {
    total_ -= std::min(next->second, into->second) - next->first;
    into->second = std::max(into->second, next->second);
    next = ranges_.erase(next);
  }
}

void RangeSet::remove(Range range) {
  if (range.empty()) return;
  auto next = ranges_.upper_bound(range.begin);
  if (next != ranges_.begin()) --next;
  while (next != ranges_.end() && next->first < range.end) {
    const Range have{next->first, next->second};
    if (have.end <= range.begin) {
      ++next;
      continue;
    }
    total_ -= intersection(have, range).size();
    if (have.begin < range.begin) {
      next->second = range.begin;
      ++next;
      if (have.end > range.end) ranges_.emplace_hint(next, range.end, have.end);
    } else if (have.end > range.end) {
      auto rest = ranges_.extract(next++);
      rest.key() = range.end;
      ranges_.insert(next, std::move(rest));
    } else {
      next = ranges_.erase(next);
    }
  }
}

bool RangeSet::contains(std::int64_t item) const {
  return contains(Range{item, item + 1});
}

bool RangeSet::contains(Range range) const {
  if (range.empty()) return true;
  auto next = ranges_.upper_bound(range.begin);
  if (next == ranges_.begin()) return false;
  --next;
  return next->second >= range.end;
}

bool RangeSet::overlaps(Range range) const {
  if (range.empty()) return false;
  const auto next = ranges_.lower_bound(range.end);
  return next != ranges_.begin() && std::prev(next)->second > range.begin;
}

std::vector<Range> RangeSet::within(Range range) const {
  std::vector<Range> parts;
  visit_within(range, [&](Range part) { parts.push_back(part); });
  return parts;
}

std::vector<Range> RangeSet::missing(Range range) const {
  std::vector<Range> gaps;
  visit_missing(range, [&](Range gap) { gaps.push_back(gap); });
  return gaps;
}

std::int64_t RangeSet::overlap(Range range) const {
  std::int64_t sum = 0;
  visit_within(range, [&](Range part) { sum += part.size(); });
  return sum;
}

Range RangeSet::from(std::int64_t item) const {
  const auto next = ranges_.upper_bound(item);
  if (next == ranges_.begin() || std::prev(next)->second <= item) return {item, item};
  return {item, std::prev(next)->second};
}

Range RangeSet::front() const {
  CHECK_TRUE(!ranges_.empty());
  return {ranges_.begin()->first, ranges_.begin()->second};
}

std::vector<Range> RangeSet::ranges() const {
  std::vector<Range> all;
  all.reserve(ranges_.size());
  for (const auto& [begin, end] : ranges_) all.push_back({begin, end});
  return all;
}

}  // namespace gleaner
