#include "server/policy/ledger/free_by_cost.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace gleaner::policy {
namespace {

constexpr std::size_t looked_after_max = 1 << 20;
constexpr std::uint32_t word_bits = 64;
constexpr double key_steps = 1e6;

}  // namespace

FreeByCost::FreeByCost(const Costs& costs, const RangeSet& free) : costs_(&costs) {
  items_.resize(static_cast<std::size_t>(costs.items()));
  std::iota(items_.begin(), items_.end(), std::int64_t{0});
  const auto longer = [&](std::int64_t a, std::int64_t b) {
    const std::int64_t first = key_of(a), second = key_of(b);
    return first != second ? first > second : a < b;
  };
  if (items_.size() > looked_after_max) {
    const auto end = items_.begin() + static_cast<std::ptrdiff_t>(looked_after_max);
    std::nth_element(items_.begin(), end, items_.end(), longer);
    items_.resize(looked_after_max);
    items_.shrink_to_fit();
    std::sort(items_.begin(), items_.end());
  }
  place_.resize(items_.size());
  std::iota(place_.begin(), place_.end(), 0U);
  std::sort(place_.begin(), place_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return longer(items_[b], items_[a]); });
  rank_.resize(items_.size());
  for (std::uint32_t rank = 0; rank < place_.size(); ++rank) rank_[place_[rank]] = rank;
  for (std::size_t bits = items_.size(); levels_.empty() || levels_.back().size() > 1;) {
    bits = (bits + word_bits - 1) / word_bits;
    levels_.emplace_back(bits, 0);
  }
  for (const Range range : free.ranges()) add(range);
}

std::int64_t FreeByCost::key(double cost) const {
  return std::llround(std::min(cost / costs_->longest(), 1.0) * key_steps);
}

std::int64_t FreeByCost::key_of(std::int64_t item) const {
  return key(costs_->of({item, item + 1}));
}

void FreeByCost::add(Range range) {
  set(range, true);
}
void FreeByCost::remove(Range range) {
  set(range, false);
}

void FreeByCost::set(Range range, bool free) {
  const auto first = std::lower_bound(items_.begin(), items_.end(), range.begin);
  for (auto next = first; next != items_.end() && *next < range.end; ++next) {
    std::size_t index = rank_[static_cast<std::size_t>(next - items_.begin())];
    for (auto& level : levels_) {
      std::uint64_t& word = level[index / word_bits];
      const std::uint64_t bit = std::uint64_t{1} << (index % word_bits);
      if (free) {
        const bool was_empty = word == 0;
        word |= bit;
        if (!was_empty) break;
      } else {
        word &= ~bit;
        if (word != 0) break;
      }
      index /= word_bits;
    }
  }
}

std::optional<std::uint32_t> FreeByCost::below(std::uint32_t rank) const {
  std::size_t index = rank;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const std::size_t word = index / word_bits, bit = index % word_bits;
    const std::uint64_t lower =
        word < levels_[level].size() ? levels_[level][word] & ((std::uint64_t{1} << bit) - 1) : 0;
    if (lower != 0) {
      index = word * word_bits + (word_bits - 1 - static_cast<std::size_t>(std::countl_zero(lower)));
      while (level-- > 0) {
        const std::uint64_t down = levels_[level][index];
        index = index * word_bits + (word_bits - 1 - static_cast<std::size_t>(std::countl_zero(down)));
      }
      return static_cast<std::uint32_t>(index);
    }
    index = word;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> FreeByCost::lowest() const {
  std::size_t index = 0;
  for (std::size_t level = levels_.size(); level-- > 0;) {
    const std::uint64_t word = levels_[level][index];
    if (word == 0) return std::nullopt;
    index = index * word_bits + static_cast<std::size_t>(std::countr_zero(word));
  }
  return static_cast<std::uint32_t>(index);
}

std::optional<std::int64_t> FreeByCost::longest_up_to(double most) const {
  const std::int64_t limit = key(most);
  const auto end = std::partition_point(place_.begin(), place_.end(),
                                        [&](std::uint32_t place) { return key_of(items_[place]) <= limit; });
  const auto rank = below(static_cast<std::uint32_t>(end - place_.begin()));
  if (!rank) return std::nullopt;
  return items_[place_[*rank]];
}

std::optional<std::int64_t> FreeByCost::longest() const {
  const auto rank = below(static_cast<std::uint32_t>(place_.size()));
  if (!rank) return std::nullopt;
  return items_[place_[*rank]];
}

std::optional<std::int64_t> FreeByCost::shortest() const {
  const auto rank = lowest();
  if (!rank) return std::nullopt;
  return items_[place_[*rank]];
}

bool FreeByCost::agrees_with(const RangeSet& free) const {
  for (std::size_t place = 0; place < items_.size(); ++place) {
    const bool bit = (levels_[0][rank_[place] / word_bits] >> (rank_[place] % word_bits) & 1) != 0;
    if (bit != free.contains(items_[place])) return false;
  }
  return true;
}

}  // namespace gleaner::policy
