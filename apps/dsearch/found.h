// What the first stage found, of all its items: each query's best hits, its scores' histogram and their
// statistics. Independent of the order in which items are added. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "apps/dsearch/database.h"
#include "apps/dsearch/hits.h"
#include "apps/dsearch/statistics.h"
#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::dsearch {

struct Found {
  struct Query {
    std::vector<Hit> hits;
    Histogram histogram;
    std::optional<Statistics> statistics;
    [[nodiscard]] std::uint64_t records() const;
  };
  std::vector<Query> queries;

  // Of the queries from `first` on.
  void add(std::size_t first, std::vector<QueryHits>&& found, std::int64_t top);
  // The best ones, in order, without those whose E-value is too high.
  void finish(const Settings& settings, const Layout& layout, const DatabaseSize& database);
  [[nodiscard]] std::int64_t hits() const;
};
[[nodiscard]] Bytes encode(const Found& found);
[[nodiscard]] Result<Found> decode_found(std::string_view bytes);

}  // namespace gleaner::dsearch
