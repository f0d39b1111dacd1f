#include "server/policy/ledger/cover.h"

#include <algorithm>

#include "shared/base/check.h"

namespace gleaner::policy {

void Cover::cut_at(std::int64_t item) {
  const auto piece = pieces_.upper_bound(item);
  if (piece == pieces_.end() || piece->second.begin >= item) return;
  pieces_.emplace_hint(piece, item, Piece{piece->second.begin, piece->second.units});
  piece->second.begin = item;
}

void Cover::join(std::int64_t item) {
  const auto left = pieces_.find(item);
  if (left == pieces_.end()) return;
  const auto right = std::next(left);
  if (right == pieces_.end() || right->second.begin != item || left->second.units != right->second.units)
    return;
  right->second.begin = left->second.begin;
  pieces_.erase(left);
}

void Cover::add(UnitId unit, Range range) {
  if (range.empty()) return;
  cut_at(range.begin);
  cut_at(range.end);
  std::int64_t position = range.begin;
  auto next = pieces_.upper_bound(range.begin);
  while (position < range.end) {
    if (next == pieces_.end() || next->second.begin > position) {
      const std::int64_t end = next == pieces_.end() ? range.end : std::min(range.end, next->second.begin);
      pieces_.emplace_hint(next, end, Piece{position, {unit}});
      position = end;
      continue;
    }
    auto& units = next->second.units;
    const auto place = std::lower_bound(units.begin(), units.end(), unit);
    CHECK_TRUE(place == units.end() || *place != unit);
    units.insert(place, unit);
    position = next->first;
    ++next;
  }
  join(range.end);
  join(range.begin);
}

void Cover::remove(UnitId unit, Range range) {
  if (range.empty()) return;
  // Mostly the head of a piece that nobody else holds was delivered.
  if (const auto piece = pieces_.upper_bound(range.begin);
      piece != pieces_.end() && piece->second.begin == range.begin && piece->first >= range.end &&
      piece->second.units.size() == 1) {
    if (piece->second.units.front() != unit) return;
    if (piece->first == range.end) {
      pieces_.erase(piece);
    } else {
      piece->second.begin = range.end;
    }
    return;
  }
  cut_at(range.begin);
  cut_at(range.end);
  auto next = pieces_.upper_bound(range.begin);
  while (next != pieces_.end() && next->second.begin < range.end) {
    auto& units = next->second.units;
    const auto place = std::lower_bound(units.begin(), units.end(), unit);
    if (place != units.end() && *place == unit) units.erase(place);
    next = units.empty() ? pieces_.erase(next) : std::next(next);
  }
  join(range.end);
  join(range.begin);
}

bool Cover::overlaps(Range range) const {
  if (range.empty()) return false;
  const auto piece = first_over(range.begin);
  return piece != pieces_.end() && piece->second.begin < range.end;
}

std::vector<UnitId> Cover::over(Range range) const {
  std::vector<UnitId> units;
  if (range.empty()) return units;
  for (auto piece = first_over(range.begin); piece != pieces_.end() && piece->second.begin < range.end;
       ++piece) {
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
  for (const auto& [end, piece] : pieces_) held.add({piece.begin, end});
  return held;
}

std::size_t Cover::most_holders() const {
  std::size_t most = 0;
  for (const auto& [end, piece] : pieces_) most = std::max(most, piece.units.size());
  return most;
}

}  // namespace gleaner::policy
