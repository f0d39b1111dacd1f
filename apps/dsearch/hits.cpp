#include "apps/dsearch/hits.h"

#include <algorithm>
#include <bit>

namespace gleaner::dsearch {
namespace {

constexpr std::size_t hit_bytes = 20;
constexpr std::size_t entry_bytes = 9;
constexpr std::uint8_t length_class_max = 32;

// The unpacker stays failed: more is asked than there is.
template <typename T>
T fail(kit::Unpacker& unpacker) {
  (void)unpacker.take(unpacker.left() + 1);
  return {};
}

Error wrong(const char* why) {
  return {ErrorKind::invalid, why};
}

Status check_hits(const std::vector<Hit>& hits, ChunkRecords records, const Admission& admission) {
  if (hits.size() > static_cast<std::size_t>(admission.top)) return wrong("it has too many hits");
  const Hit* before = nullptr;
  for (const Hit& hit : hits) {
    if (hit.record < records.first || hit.record - records.first >= records.count)
      return wrong("a hit is no record of its chunk");
    if (hit.score < admission.score_min || (before && !(*before < hit)))
      return wrong("its hits are not in order");
    before = &hit;
  }
  return {};
}

Status check_histogram(const Histogram& histogram, ChunkRecords records) {
  std::uint64_t all = 0;
  for (const auto& [key, number] : histogram) {
    if (key.first > length_class_max || number == 0) return wrong("its histogram is none");
    all += number;
  }
  if (all != records.count) return wrong("it did not score all records of its chunk");
  return {};
}

// All records that may be hits are, up to `top`, and the best of them.
bool agree(const QueryHits& query, const Admission& admission) {
  std::map<std::int32_t, std::uint64_t> in_histogram;
  std::uint64_t eligible = 0;
  for (const auto& [key, number] : query.histogram) {
    if (key.first == 0) continue;
    in_histogram[key.second] += number;
    if (key.second >= admission.score_min) eligible += number;
  }
  std::map<std::int32_t, std::uint64_t> in_hits;
  for (const Hit& hit : query.hits) ++in_hits[histogram_score(admission.mode, hit.score)];
  // A step of the histogram tells scores below the bound from those above only for local alignments.
  const bool exact = admission.mode == Mode::local && admission.score_min <= histogram_max;
  if (exact && query.hits.size() != std::min(eligible, static_cast<std::uint64_t>(admission.top)))
    return false;
  if (in_hits.empty()) return true;
  const bool full = query.hits.size() == static_cast<std::size_t>(admission.top);
  for (const auto& [score, number] : in_hits) {
    const auto found = in_histogram.find(score);
    if (found == in_histogram.end() || found->second < number) return false;
    // The last ones of a full list may be some of those with their score.
    const bool last = score == in_hits.begin()->first && (full || !exact);
    if (!last && found->second != number) return false;
  }
  return in_histogram.rbegin()->first == in_hits.rbegin()->first;
}

}  // namespace

std::uint8_t length_class(std::size_t length) {
  return static_cast<std::uint8_t>(std::bit_width(length));
}

std::int32_t histogram_score(Mode mode, std::int32_t score) {
  if (mode == Mode::local) return std::min(score, histogram_max);
  return score >= 0 ? score / histogram_step : -((-score + histogram_step - 1) / histogram_step);
}

void keep_best(std::vector<Hit>& hits, std::int64_t top) {
  const auto count = std::min(static_cast<std::size_t>(top), hits.size());
  std::partial_sort(hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(count), hits.end());
  hits.resize(count);
}

void pack(Bytes& bytes, const std::vector<Hit>& hits) {
  kit::pack(bytes, static_cast<std::uint32_t>(hits.size()));
  for (const Hit& hit : hits) {
    kit::pack(bytes, hit.score);
    kit::pack(bytes, hit.record);
    kit::pack(bytes, hit.query_end);
    kit::pack(bytes, hit.record_end);
  }
}

void pack(Bytes& bytes, const Histogram& histogram) {
  kit::pack(bytes, static_cast<std::uint32_t>(histogram.size()));
  for (const auto& [key, number] : histogram) {
    kit::pack(bytes, key.first);
    kit::pack(bytes, key.second);
    kit::pack(bytes, number);
  }
}

std::vector<Hit> unpack_hits(kit::Unpacker& unpacker) {
  std::vector<Hit> hits;
  const std::size_t count = unpacker.get<std::uint32_t>();
  if (count > unpacker.left() / hit_bytes) return fail<std::vector<Hit>>(unpacker);
  for (std::size_t i = 0; i < count; ++i) {
    Hit hit;
    hit.score = unpacker.get<std::int32_t>();
    hit.record = unpacker.get<std::uint64_t>();
    hit.query_end = unpacker.get<std::uint32_t>();
    hit.record_end = unpacker.get<std::uint32_t>();
    hits.push_back(hit);
  }
  return hits;
}

Histogram unpack_histogram(kit::Unpacker& unpacker) {
  Histogram histogram;
  const std::size_t count = unpacker.get<std::uint32_t>();
  if (count > unpacker.left() / entry_bytes) return fail<Histogram>(unpacker);
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = unpacker.get<std::uint8_t>();
    const auto score = unpacker.get<std::int32_t>();
    const auto number = unpacker.get<std::uint32_t>();
    const std::pair key{bits, score};
    // One spelling only: in order, each once.
    if (!histogram.empty() && histogram.rbegin()->first >= key) return fail<Histogram>(unpacker);
    histogram.emplace_hint(histogram.end(), key, number);
  }
  return histogram;
}

Bytes encode(std::int64_t item, const std::vector<QueryHits>& queries) {
  Bytes bytes;
  kit::pack(bytes, item);
  for (const QueryHits& query : queries) {
    pack(bytes, query.hits);
    pack(bytes, query.histogram);
  }
  return bytes;
}

Result<std::vector<QueryHits>> decode_hits(std::int64_t item, std::size_t queries, ChunkRecords records,
                                           const Admission& admission, std::string_view bytes) {
  kit::Unpacker unpacker(bytes);
  if (unpacker.get<std::int64_t>() != item) return wrong("it is another item's");
  std::vector<QueryHits> all;
  for (std::size_t i = 0; i < queries; ++i) {
    QueryHits query;
    query.hits = unpack_hits(unpacker);
    query.histogram = unpack_histogram(unpacker);
    TRY(check_hits(query.hits, records, admission));
    TRY(check_histogram(query.histogram, records));
    if (!agree(query, admission)) return wrong("its hits and its histogram contradict each other");
    all.push_back(std::move(query));
  }
  if (!unpacker.complete()) return wrong("it is cut short or too long");
  return all;
}

}  // namespace gleaner::dsearch
