#include "shared/base/range_set.h"

#include <algorithm>

#include "shared/base/check.h"

namespace gleaner {

Range intersection(Range a, Range b) {
  const Range both{std::max(a.begin, b.begin), std::min(a.end, b.end)};
  return both.empty() ? Range{both.begin, both.begin} : both;
}

void RangeSet::add(Range range) {
  if (range.empty()) return;
  auto next = ranges_.upper_bound(range.begin);
  if (next != ranges_.begin()) {
    const auto before = std::prev(next);
    if (before->second >= range.begin) next = before;
  }
  while (next != ranges_.end() && next->first <= range.end) {
    range.begin = std::min(range.begin, next->first);
    range.end = std::max(range.end, next->second);
    total_ -= next->second - next->first;
    next = ranges_.erase(next);
  }
  ranges_.emplace_hint(next, range.begin, range.end);
  total_ += range.size();
}

void RangeSet::remove(Range range) {
  if (range.empty()) return;
  auto next = ranges_.upper_bound(range.begin);
  if (next != ranges_.begin()) --next;
  while (next != ranges_.end() && next->first < range.end) {
    const Range have{next->first, next->second};
    if (!have.overlaps(range)) {
      ++next;
      continue;
    }
    total_ -= have.size();
    next = ranges_.erase(next);
    for (const Range rest : {Range{have.begin, range.begin}, Range{range.end, have.end}}) {
      if (rest.empty()) continue;
      ranges_.emplace(rest.begin, rest.end);
      total_ += rest.size();
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
  return !range.empty() && !within(range).empty();
}

std::vector<Range> RangeSet::within(Range range) const {
  std::vector<Range> parts;
  if (range.empty()) return parts;
  auto next = ranges_.upper_bound(range.begin);
  if (next != ranges_.begin()) --next;
  for (; next != ranges_.end() && next->first < range.end; ++next) {
    const Range part = intersection(range, {next->first, next->second});
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::vector<Range> RangeSet::missing(Range range) const {
  std::vector<Range> gaps;
  std::int64_t position = range.begin;
  for (const Range part : within(range)) {
    if (part.begin > position) gaps.push_back({position, part.begin});
    position = part.end;
  }
  if (position < range.end) gaps.push_back({position, range.end});
  return gaps;
}

std::int64_t RangeSet::overlap(Range range) const {
  std::int64_t sum = 0;
  for (const Range part : within(range)) sum += part.size();
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
