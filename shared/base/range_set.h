// Sets of items as ordered, disjoint, non-touching half-open ranges: what is free, what is accepted.
// Costs are in the number of ranges, not of items. Value type; not thread-safe.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

namespace gleaner {

// Items [begin, end). Empty when end <= begin.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t size() const { return end > begin ? end - begin : 0; }
  [[nodiscard]] bool empty() const { return end <= begin; }
  [[nodiscard]] bool contains(std::int64_t item) const { return item >= begin && item < end; }
  [[nodiscard]] bool contains(Range other) const { return other.begin >= begin && other.end <= end; }
  [[nodiscard]] bool overlaps(Range other) const { return begin < other.end && other.begin < end; }
  friend auto operator<=>(const Range&, const Range&) = default;
};

[[nodiscard]] inline Range intersection(Range a, Range b) {
  const Range both{std::max(a.begin, b.begin), std::min(a.end, b.end)};
  return both.empty() ? Range{both.begin, both.begin} : both;
}

class RangeSet {
 public:
  RangeSet() = default;
  explicit RangeSet(Range range) { add(range); }

  void add(Range range);
  void remove(Range range);
  void clear() {
    ranges_.clear();
    total_ = 0;
  }

  // Items in the set, and how many ranges they form.
  [[nodiscard]] std::int64_t total() const { return total_; }
  [[nodiscard]] std::size_t count() const { return ranges_.size(); }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] bool contains(std::int64_t item) const;
  [[nodiscard]] bool contains(Range range) const;  // all of it; an empty range is contained
  [[nodiscard]] bool overlaps(Range range) const;

  // The parts of `range` that are in the set, and those that are not, in order.
  [[nodiscard]] std::vector<Range> within(Range range) const;
  [[nodiscard]] std::vector<Range> missing(Range range) const;
  // The same, each told to `visit`, which must not change the set.
  template <typename Visit>
  void visit_within(Range range, Visit visit) const;
  template <typename Visit>
  void visit_missing(Range range, Visit visit) const;
  // Items of `range` in the set.
  [[nodiscard]] std::int64_t overlap(Range range) const;
  // From `item` to the end of the range it is in; empty if it is in none.
  [[nodiscard]] Range from(std::int64_t item) const;
  // The first range; REQUIRES: !empty().
  [[nodiscard]] Range front() const;
  [[nodiscard]] std::vector<Range> ranges() const;

  friend bool operator==(const RangeSet&, const RangeSet&) = default;

 private:
  std::map<std::int64_t, std::int64_t> ranges_;  // begin -> end
  std::int64_t total_ = 0;
};

template <typename Visit>
void RangeSet::visit_within(Range range, Visit visit) const {
  if (range.empty()) return;
  auto next = ranges_.upper_bound(range.begin);
  if (next != ranges_.begin()) --next;
  for (; next != ranges_.end() && next->first < range.end; ++next) {
    const Range part = intersection(range, {next->first, next->second});
    if (!part.empty()) visit(part);
  }
}

template <typename Visit>
void RangeSet::visit_missing(Range range, Visit visit) const {
  std::int64_t position = range.begin;
  auto next = ranges_.upper_bound(range.begin);
  if (next != ranges_.begin()) position = std::max(position, std::prev(next)->second);
  for (; next != ranges_.end() && next->first < range.end; ++next) {
    if (next->first > position) visit(Range{position, next->first});
    position = next->second;
  }
  if (position < range.end) visit(Range{position, range.end});
}

}  // namespace gleaner
