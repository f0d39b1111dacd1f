#include "server/policy/ledger/cover.h"

#include <algorithm>

#include "shared/base/check.h"

namespace gleaner::policy {

void Cover::cut_at(std::int64_t item) {
  auto next = pieces_.upper_bound(item);
  if (next == pieces_.begin()) return;
  const auto piece = std::prev(next);
  if (piece->first == item || piece->second.end <= item) return;
  pieces_.emplace_hint(next, item, Piece{piece->second.end, piece->second.units});
  piece->second.end = item;
}

void Cover::join(std::int64_t item) {
  const auto right = pieces_.find(item);
  if (right == pieces_.end() || right == pieces_.begin()) return;
  const auto left = std::prev(right);
  if (left->second.end != item || left->second.units != right->second.units) return;
  left->second.end = right->second.end;
  pieces_.erase(right);
}

void Cover::add(UnitId unit, Range range) {
  if (range.empty()) return;
  cut_at(range.begin);
  cut_at(range.end);
  std::int64_t position = range.begin;
  auto next = pieces_.lower_bound(range.begin);
  while (position < range.end) {
    if (next == pieces_.end() || next->first > position) {
      const std::int64_t end = next == pieces_.end() ? range.end : std::min(range.end, next->first);
      next = std::next(pieces_.emplace_hint(next, position, Piece{end, {unit}}));
      position = end;
      continue;
    }
    auto& units = next->second.units;
    const auto place = std::lower_bound(units.begin(), units.end(), unit);
    CHECK_TRUE(place == units.end() || *place != unit);
    units.insert(place, unit);
    position = next->second.end;
    ++next;
  }
  join(range.end);
  join(range.begin);
}

void Cover::remove(UnitId unit, Range range) {
  if (range.empty()) return;
  // Mostly the head of a piece that nobody else holds was delivered.
  if (const auto piece = pieces_.find(range.begin);
      piece != pieces_.end() && piece->second.end >= range.end && piece->second.units.size() == 1) {
    if (piece->second.units.front() != unit) return;
    auto rest = pieces_.extract(piece);
    if (rest.mapped().end == range.end) return;
    rest.key() = range.end;
    pieces_.insert(std::move(rest));
    return;
  }
  cut_at(range.begin);
  cut_at(range.end);
  auto next = pieces_.lower_bound(range.begin);
  while (next != pieces_.end() && next->first < range.end) {
    auto& units = next->second.units;
    const auto place = std::lower_bound(units.begin(), units.end(), unit);
    if (place != units.end() && *place == unit) units.erase(place);
    next = units.empty() ? pieces_.erase(next) : std::next(next);
  }
  join(range.end);
  join(range.begin);
}

Cover::Pieces::const_iterator Cover::first_over(std::int64_t item) const {
  auto next = pieces_.upper_bound(item);
  if (next != pieces_.begin() && std::prev(next)->second.end > item) --next;
  return next;
}

bool Cover::overlaps(Range range) const {
  if (range.empty()) return false;
  const auto piece = first_over(range.begin);
  return piece != pieces_.end() && piece->first < range.end;
}

std::vector<UnitId> Cover::over(Range range) const {
  std::vector<UnitId> units;
  if (range.empty()) return units;
  for (auto piece = first_over(range.begin); piece != pieces_.end() && piece->first < range.end; ++piece) {
    units.insert(units.end(), piece->second.units.begin(), piece->second.units.end());
  }
  std::sort(units.begin(), units.end());
  units.erase(std::unique(units.begin(), units.end()), units.end());
  return units;
}

std::vector<Range> Cover::gaps(Range range) const {
  std::vector<Range> gaps;
  visit_gaps(range, [&](Range gap) { gaps.push_back(gap); });
  return gaps;
}

RangeSet Cover::held() const {
  RangeSet held;
  for (const auto& [begin, piece] : pieces_) held.add({begin, piece.end});
  return held;
}

std::size_t Cover::most_holders() const {
  std::size_t most = 0;
  for (const auto& [begin, piece] : pieces_) most = std::max(most, piece.units.size());
  return most;
}

}  // namespace gleaner::policy
