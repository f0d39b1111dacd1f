// What the manager planned and kernels need to know of it: the queries, the chunks of the database, and which
// item is which. An item of the first stage is a group of queries against a chunk; the groups of one chunk
// follow each other, so that a host needs few chunks. Pure, but for reading a chunk's text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/dsearch/align.h"
#include "apps/dsearch/alphabet.h"
#include "apps/dsearch/hits.h"
#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::dsearch {

inline constexpr std::int64_t query_residues_max = 40'000;  // the largest protein known has 35,991
inline constexpr std::int64_t queries_max = 10'000;
inline constexpr std::int64_t chunks_max = 900;  // each is an input of its own

struct Layout {
  struct Chunk {
    std::uint64_t first = 0;     // record
    std::uint64_t records = 0;   //
    std::uint64_t residues = 0;  //
  };
  Alphabet alphabet = Alphabet::protein;
  std::vector<std::string> queries;      // codes
  std::vector<std::uint32_t> groups{0};  // first query of each, and the end of the last
  std::vector<Chunk> chunks;

  [[nodiscard]] std::int64_t items() const {
    return static_cast<std::int64_t>(chunks.size()) * static_cast<std::int64_t>(groups.size() - 1);
  }
  [[nodiscard]] std::size_t chunk_of(std::int64_t item) const {
    return static_cast<std::size_t>(item) / (groups.size() - 1);
  }
  [[nodiscard]] std::size_t group_of(std::int64_t item) const {
    return static_cast<std::size_t>(item) % (groups.size() - 1);
  }
  [[nodiscard]] std::size_t queries_of(std::int64_t item) const {
    return groups[group_of(item) + 1] - groups[group_of(item)];
  }
  [[nodiscard]] ChunkRecords records_of(std::int64_t item) const {
    const Chunk& chunk = chunks[chunk_of(item)];
    return {chunk.first, chunk.records};
  }
  // Fills `groups`: as many queries as come to about that many residues.
  void group_queries(std::int64_t residues);
};
[[nodiscard]] Bytes encode(const Layout& layout);
[[nodiscard]] Result<Layout> decode_layout(std::string_view bytes);

// The records of a chunk: lengths (4 each), then their residues packed one after the other.
[[nodiscard]] Bytes encode_chunk(Alphabet alphabet, const std::vector<std::string>& records);
struct Chunk {
  std::unique_ptr<const std::string> codes;  // on the heap: a short string's letters would move with it
  std::vector<std::string_view> records;     // of `codes`
};
[[nodiscard]] Result<Chunk> decode_chunk(const Layout& layout, std::size_t index, std::string_view bytes);
[[nodiscard]] std::string chunk_name(std::size_t index);

// A hit that is to be aligned: an item of the second stage. The window is what its alignment can reach.
struct Wanted {
  std::uint32_t query = 0;
  Hit hit;
  std::uint32_t record_length = 0;
  std::uint32_t window_begin = 0;
  std::string window;  // codes
};
[[nodiscard]] Bytes encode(Alphabet alphabet, const std::vector<Wanted>& wanted);
[[nodiscard]] Result<std::vector<Wanted>> decode_wanted(const Layout& layout, std::string_view bytes);
// The hits travel in pieces, of which a unit gets those that it needs; this says which item each begins with.
[[nodiscard]] std::string piece_name(std::size_t index);
[[nodiscard]] Bytes encode_pieces(const std::vector<std::int64_t>& firsts);
[[nodiscard]] Result<std::vector<std::int64_t>> decode_pieces(std::string_view bytes);
// invalid if it is before the first.
[[nodiscard]] Result<std::size_t> piece_of(const std::vector<std::int64_t>& firsts, std::int64_t item);

// The alignment of a wanted hit, in the record's coordinates. Errors as align()'s.
[[nodiscard]] Result<Alignment> align(Mode mode, const Scheme& scheme, const Layout& layout,
                                      const Wanted& wanted, const GoingOn& going_on);
// invalid if it is not an alignment of that hit with that score.
[[nodiscard]] Status check_alignment(Mode mode, const Scheme& scheme, const Layout& layout,
                                     const Wanted& wanted, Alignment alignment);

}  // namespace gleaner::dsearch
