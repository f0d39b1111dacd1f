#include "tools/simulator/opinions.h"

namespace gleaner::simulator {

void Opinions::cut_at(std::int64_t item) {
  auto after = pieces_.upper_bound(item);
  if (after == pieces_.begin()) return;
  const auto piece = std::prev(after);
  if (piece->first == item || piece->second.end <= item) return;
  Piece tail = piece->second;
  piece->second.end = item;
  pieces_.emplace(item, std::move(tail));
}

void Opinions::cut(Range range) {
  cut_at(range.begin);
  cut_at(range.end);
}

void Opinions::deliver(Range range, HostId host, std::int64_t answer) {
  if (range.empty()) return;
  cut(range);
  std::int64_t item = range.begin;
  auto next = pieces_.lower_bound(item);
  while (item < range.end) {
    if (next != pieces_.end() && next->first == item) {
      next->second.given.emplace_back(host, answer);
      item = next->second.end;
      ++next;
    } else {
      const std::int64_t end = next == pieces_.end() ? range.end : std::min(range.end, next->first);
      pieces_.emplace_hint(next, item, Piece{end, answer, false, {{host, answer}}});
      item = end;
    }
  }
}

std::optional<Opinions::Finding> Opinions::review(Range range, const policy::VerdictTerms& terms,
                                                  const Witness& witness) {
  cut(range);
  for (auto at = pieces_.lower_bound(range.begin); at != pieces_.end() && at->first < range.end; ++at) {
    Piece& piece = at->second;
    if (piece.settled || piece.given.size() < 2) continue;
    Finding finding{{at->first, piece.end}, {}, {}};
    for (const auto& [host, answer] : piece.given) finding.opinions.push_back(witness(host));
    finding.verdict = policy::judge(
        finding.opinions,
        [&](std::size_t a, std::size_t b) { return piece.given[a].second == piece.given[b].second; }, terms);
    if (finding.verdict.kind == policy::VerdictKind::decided) {
      piece.accepted = piece.given[finding.verdict.right.front()].second;
      piece.settled = true;
    }
    piece.settled = piece.settled || finding.verdict.kind == policy::VerdictKind::undecided;
    return finding;
  }
  return std::nullopt;
}

void Opinions::forget(Range range) {
  cut(range);
  pieces_.erase(pieces_.lower_bound(range.begin), pieces_.lower_bound(range.end));
}

std::int64_t Opinions::wrong_items() const {
  std::int64_t items = 0;
  for (const auto& [begin, piece] : pieces_) {
    if (piece.accepted != 0) items += piece.end - begin;
  }
  return items;
}

}  // namespace gleaner::simulator
