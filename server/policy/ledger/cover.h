// Which open units hold which items: a map from ranges to the units that hold them, so that copies, late
// results and give-backs find each other without a search over all units. Value type; costs are in the ranges
// touched.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <map>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/range_set.h"

namespace gleaner::policy {

class Cover {
 public:
  void add(UnitId unit, Range range);
  void remove(UnitId unit, Range range);

  // Whether any item of `range` is held.
  [[nodiscard]] bool overlaps(Range range) const;
  // Units that hold any item of `range`, by id, each once.
  [[nodiscard]] std::vector<UnitId> over(Range range) const;
  // Parts of `range` that nobody holds, in order.
  [[nodiscard]] std::vector<Range> gaps(Range range) const;
  // The same, each told to `visit`, which must not change the cover.
  template <typename Visit>
  void visit_gaps(Range range, Visit visit) const {
    if (range.empty()) return;
    std::int64_t position = range.begin;
    for (auto piece = first_over(range.begin); piece != pieces_.end() && piece->second.begin < range.end;
         ++piece) {
      if (piece->second.begin > position) visit(Range{position, piece->second.begin});
      position = piece->first;
    }
    if (position < range.end) visit(Range{position, range.end});
  }
  // Everything held, and the most holders of any one item.
  [[nodiscard]] RangeSet held() const;
  [[nodiscard]] std::size_t most_holders() const;

 private:
  struct Piece {
    std::int64_t begin = 0;
    boost::container::small_vector<UnitId, 1> units;  // by id, never empty; mostly one
  };
  using Pieces = std::map<std::int64_t, Piece>;

  void cut_at(std::int64_t item);
  void join(std::int64_t item);
  // The first that ends behind `item`.
  [[nodiscard]] Pieces::const_iterator first_over(std::int64_t item) const {
    return pieces_.upper_bound(item);
  }

  // By end, because units deliver their items from the front on: mostly a piece becomes shorter in its place.
  // Disjoint; neighbours that touch differ in their units.
  Pieces pieces_;
};

}  // namespace gleaner::policy
