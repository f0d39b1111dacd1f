// The free items of a stage in order of their cost hints, to hand out long ones first
// [server/policy/POLICY.md, R3]: the longest that costs at most so much, the shortest, the longest. Holds the
// longest items only (a million at most): the others are never long. Value type; a free item more or less
// costs O(log n), a search O(log n).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "server/policy/ledger/costs.h"
#include "shared/base/range_set.h"

namespace gleaner::policy {

class FreeByCost {
 public:
  // `costs` must outlive it.
  FreeByCost(const Costs& costs, const RangeSet& free);

  void add(Range range);
  void remove(Range range);

  // The costliest free item of cost <= `cost`; of equal ones the first. Nothing: there is none.
  [[nodiscard]] std::optional<std::int64_t> longest_up_to(double cost) const;
  [[nodiscard]] std::optional<std::int64_t> longest() const;
  [[nodiscard]] std::optional<std::int64_t> shortest() const;
  // Whether every item of the stage is in here; if not, those that are not are shorter than all that are.
  [[nodiscard]] bool all() const { return static_cast<std::int64_t>(items_.size()) == costs_->items(); }
  // Whether it holds exactly those items of `free` that it looks after. Costs O(n).
  [[nodiscard]] bool agrees_with(const RangeSet& free) const;

 private:
  // In millionths of the longest: costs are differences of sums, equal ones are so only nearly.
  [[nodiscard]] std::int64_t key(double cost) const;
  [[nodiscard]] std::int64_t key_of(std::int64_t item) const;
  void set(Range range, bool free);
  // The highest set rank below `rank`; the lowest set one.
  [[nodiscard]] std::optional<std::uint32_t> below(std::uint32_t rank) const;
  [[nodiscard]] std::optional<std::uint32_t> lowest() const;

  const Costs* costs_;
  std::vector<std::int64_t> items_;   // looked after, in order
  std::vector<std::uint32_t> rank_;   // of each, by cost (ties: the first item ranks highest)
  std::vector<std::uint32_t> place_;  // by rank: index into items_
  // Bit r of level 0: the item of rank r is free. Bit i of level k + 1: word i of level k is not 0.
  std::vector<std::vector<std::uint64_t>> levels_;
};

}  // namespace gleaner::policy
