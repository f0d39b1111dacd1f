#include "apps/dsearch/found.h"

#include <bit>

#include "apps/kit/packing.h"

namespace gleaner::dsearch {
namespace {

Error damaged() {
  return {ErrorKind::io, "the list of what was found is damaged"};
}

}  // namespace

std::uint64_t Found::Query::records() const {
  std::uint64_t all = 0;
  for (const auto& [key, number] : histogram) all += number;
  return all;
}

void Found::add(std::size_t first, std::vector<QueryHits>&& found, std::int64_t top) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    Query& query = queries.at(first + i);
    for (const auto& [key, number] : found[i].histogram) query.histogram[key] += number;
    query.hits.insert(query.hits.end(), found[i].hits.begin(), found[i].hits.end());
    if (query.hits.size() > 4 * static_cast<std::size_t>(top)) keep_best(query.hits, top);
  }
}

void Found::finish(const Settings& settings, const Layout& layout, const DatabaseSize& database) {
  for (std::size_t i = 0; i < queries.size(); ++i) {
    Query& query = queries[i];
    keep_best(query.hits, settings.admission.top);
    const auto length = static_cast<std::int64_t>(layout.queries.at(i).size());
    query.statistics = statistics_of(settings, query.histogram, database.classes, length);
    if (!query.statistics) continue;
    std::erase_if(query.hits, [&](const Hit& hit) {
      return query.statistics->expected(hit.score, length, database.residues) > settings.evalue_max;
    });
  }
}

std::int64_t Found::hits() const {
  std::size_t all = 0;
  for (const Query& query : queries) all += query.hits.size();
  return static_cast<std::int64_t>(all);
}

Bytes encode(const Found& found) {
  Bytes bytes;
  kit::pack(bytes, static_cast<std::uint32_t>(found.queries.size()));
  for (const Found::Query& query : found.queries) {
    const Statistics statistics = query.statistics.value_or(Statistics{});
    kit::pack(bytes, static_cast<std::uint8_t>(!query.statistics ? 0 : statistics.fitted ? 2 : 1));
    kit::pack(bytes, std::bit_cast<std::uint64_t>(statistics.lambda));
    kit::pack(bytes, std::bit_cast<std::uint64_t>(statistics.k));
    pack(bytes, query.hits);
    pack(bytes, query.histogram);
  }
  return bytes;
}

Result<Found> decode_found(std::string_view bytes) {
  kit::Unpacker unpacker(bytes);
  const auto queries = unpacker.get<std::uint32_t>();
  if (queries > queries_max) return damaged();
  Found found;
  for (std::uint32_t i = 0; i < queries; ++i) {
    Found::Query query;
    const auto kind = unpacker.get<std::uint8_t>();
    Statistics statistics;
    statistics.lambda = std::bit_cast<double>(unpacker.get<std::uint64_t>());
    statistics.k = std::bit_cast<double>(unpacker.get<std::uint64_t>());
    statistics.fitted = kind == 2;
    if (kind != 0) query.statistics = statistics;
    query.hits = unpack_hits(unpacker);
    query.histogram = unpack_histogram(unpacker);
    found.queries.push_back(std::move(query));
  }
  if (!unpacker.complete()) return damaged();
  return found;
}

}  // namespace gleaner::dsearch
