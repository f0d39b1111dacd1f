#include "apps/dsearch/layout.h"

#include <algorithm>

#include "apps/kit/packing.h"

namespace gleaner::dsearch {
namespace {

constexpr std::uint64_t records_max = std::uint64_t{1} << 40;
constexpr std::uint64_t window_max = std::uint64_t{1} << 28;

Error damaged(const char* what) {
  return {ErrorKind::invalid, std::string(what) + " is damaged"};
}

void pack_text(Bytes& bytes, Alphabet alphabet, std::string_view codes) {
  kit::pack(bytes, static_cast<std::uint32_t>(codes.size()));
  bytes += pack_codes(alphabet, codes);
}

bool unpack_text(kit::Unpacker& unpacker, Alphabet alphabet, std::uint64_t length_max, std::string& codes) {
  const std::size_t length = unpacker.get<std::uint32_t>();
  if (length > length_max || packed_bytes(alphabet, length) > unpacker.left()) return false;
  return unpack_codes(alphabet, unpacker.take(packed_bytes(alphabet, length)), length, codes);
}

}  // namespace

void Layout::group_queries(std::int64_t residues) {
  groups.assign(1, 0);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const auto length = static_cast<std::int64_t>(queries[i].size());
    if (sum > 0 && sum + length > residues) {
      groups.push_back(static_cast<std::uint32_t>(i));
      sum = 0;
    }
    sum += length;
  }
  groups.push_back(static_cast<std::uint32_t>(queries.size()));
}

Bytes encode(const Layout& layout) {
  Bytes bytes;
  kit::pack(bytes, static_cast<std::uint8_t>(layout.alphabet));
  kit::pack(bytes, static_cast<std::uint32_t>(layout.queries.size()));
  for (const std::string& query : layout.queries) pack_text(bytes, layout.alphabet, query);
  kit::pack(bytes, static_cast<std::uint32_t>(layout.groups.size()));
  for (const std::uint32_t first : layout.groups) kit::pack(bytes, first);
  kit::pack(bytes, static_cast<std::uint32_t>(layout.chunks.size()));
  for (const Layout::Chunk& chunk : layout.chunks) {
    kit::pack(bytes, chunk.first);
    kit::pack(bytes, chunk.records);
    kit::pack(bytes, chunk.residues);
  }
  return bytes;
}

Result<Layout> decode_layout(std::string_view bytes) {
  kit::Unpacker unpacker(bytes);
  Layout layout;
  const auto alphabet = unpacker.get<std::uint8_t>();
  if (alphabet != 1 && alphabet != 2) return damaged("the layout");
  layout.alphabet = static_cast<Alphabet>(alphabet);
  const auto queries = unpacker.get<std::uint32_t>();
  if (queries == 0 || queries > queries_max) return damaged("the layout");
  layout.queries.resize(queries);
  for (std::string& query : layout.queries) {
    if (!unpack_text(unpacker, layout.alphabet, query_residues_max, query) || query.empty())
      return damaged("a query");
  }
  const auto groups = unpacker.get<std::uint32_t>();
  if (groups < 2 || groups > queries + 1) return damaged("the layout");
  layout.groups.clear();
  for (std::uint32_t i = 0; i < groups; ++i) {
    layout.groups.push_back(unpacker.get<std::uint32_t>());
    if (i > 0 && layout.groups[i] <= layout.groups[i - 1]) return damaged("the layout");
  }
  if (layout.groups.front() != 0 || layout.groups.back() != queries) return damaged("the layout");
  const auto chunks = unpacker.get<std::uint32_t>();
  if (chunks == 0 || chunks > chunks_max) return damaged("the layout");
  for (std::uint32_t i = 0; i < chunks; ++i) {
    Layout::Chunk chunk;
    chunk.first = unpacker.get<std::uint64_t>();
    chunk.records = unpacker.get<std::uint64_t>();
    chunk.residues = unpacker.get<std::uint64_t>();
    const std::uint64_t expected = i == 0 ? 0 : layout.chunks.back().first + layout.chunks.back().records;
    if (chunk.first != expected || chunk.records == 0 || chunk.records > records_max)
      return damaged("the layout");
    layout.chunks.push_back(chunk);
  }
  if (!unpacker.complete()) return damaged("the layout");
  return layout;
}

Bytes encode_chunk(Alphabet alphabet, const std::vector<std::string>& records) {
  Bytes bytes;
  std::string all;
  for (const std::string& record : records) {
    kit::pack(bytes, static_cast<std::uint32_t>(record.size()));
    all += record;
  }
  return bytes + pack_codes(alphabet, all);
}

Result<Chunk> decode_chunk(const Layout& layout, std::size_t index, std::string_view bytes) {
  const Layout::Chunk& expected = layout.chunks.at(index);
  if (expected.records > bytes.size() / 4) return damaged("a chunk of the database");
  kit::Unpacker lengths(bytes.substr(0, 4 * expected.records));
  Chunk chunk;
  auto unpacked = std::make_unique<std::string>();
  if (!unpack_codes(layout.alphabet, bytes.substr(4 * expected.records), expected.residues, *unpacked))
    return damaged("a chunk of the database");
  const std::string_view codes = *unpacked;
  chunk.codes = std::move(unpacked);
  std::size_t at = 0;
  while (lengths.left() > 0) {
    const std::size_t length = lengths.get<std::uint32_t>();
    if (length > codes.size() - at) return damaged("a chunk of the database");
    chunk.records.push_back(codes.substr(at, length));
    at += length;
  }
  if (at != codes.size()) return damaged("a chunk of the database");
  return chunk;
}

std::string chunk_name(std::size_t index) {
  return "chunk-" + std::to_string(index);
}

std::string piece_name(std::size_t index) {
  return "hits-" + std::to_string(index);
}

Bytes encode_pieces(const std::vector<std::int64_t>& firsts) {
  Bytes bytes;
  for (const std::int64_t first : firsts) kit::pack(bytes, first);
  return bytes;
}

Result<std::vector<std::int64_t>> decode_pieces(std::string_view bytes) {
  kit::Unpacker unpacker(bytes);
  std::vector<std::int64_t> firsts;
  while (unpacker.left() > 0) {
    firsts.push_back(unpacker.get<std::int64_t>());
    const bool rising = firsts.size() == 1 ? firsts[0] == 0 : firsts[firsts.size() - 2] < firsts.back();
    if (!rising) return damaged("the list of pieces");
  }
  if (!unpacker.complete() || firsts.empty()) return damaged("the list of pieces");
  return firsts;
}

Result<std::size_t> piece_of(const std::vector<std::int64_t>& firsts, std::int64_t item) {
  if (item < 0) return Error{ErrorKind::invalid, "there is no such item"};
  return static_cast<std::size_t>(std::upper_bound(firsts.begin(), firsts.end(), item) - firsts.begin() - 1);
}

Bytes encode(Alphabet alphabet, const std::vector<Wanted>& wanted) {
  Bytes bytes;
  for (const Wanted& one : wanted) {
    kit::pack(bytes, one.query);
    kit::pack(bytes, one.hit.score);
    kit::pack(bytes, one.hit.record);
    kit::pack(bytes, one.hit.query_end);
    kit::pack(bytes, one.hit.record_end);
    kit::pack(bytes, one.record_length);
    kit::pack(bytes, one.window_begin);
    pack_text(bytes, alphabet, one.window);
  }
  return bytes;
}

Result<std::vector<Wanted>> decode_wanted(const Layout& layout, std::string_view bytes) {
  kit::Unpacker unpacker(bytes);
  std::vector<Wanted> all;
  while (unpacker.left() > 0) {
    Wanted one;
    one.query = unpacker.get<std::uint32_t>();
    one.hit.score = unpacker.get<std::int32_t>();
    one.hit.record = unpacker.get<std::uint64_t>();
    one.hit.query_end = unpacker.get<std::uint32_t>();
    one.hit.record_end = unpacker.get<std::uint32_t>();
    one.record_length = unpacker.get<std::uint32_t>();
    one.window_begin = unpacker.get<std::uint32_t>();
    if (one.query >= layout.queries.size() ||
        !unpack_text(unpacker, layout.alphabet, window_max, one.window) || one.window.empty() ||
        one.window_begin + one.window.size() > one.record_length)
      return damaged("the list of hits");
    all.push_back(std::move(one));
  }
  return all;
}

Result<Alignment> align(Mode mode, const Scheme& scheme, const Layout& layout, const Wanted& wanted,
                        const GoingOn& going_on) {
  const Ends ends{wanted.hit.score, wanted.hit.query_end, wanted.hit.record_end - wanted.window_begin};
  TRY_ASSIGN(Alignment alignment,
             align(mode, scheme, layout.queries[wanted.query], wanted.window, ends, going_on));
  alignment.record_begin += wanted.window_begin;
  alignment.record_end += wanted.window_begin;
  return alignment;
}

Status check_alignment(Mode mode, const Scheme& scheme, const Layout& layout, const Wanted& wanted,
                       Alignment alignment) {
  const Error wrong{ErrorKind::invalid, "it is not the alignment of that hit"};
  if (alignment.score != wanted.hit.score || alignment.record_begin < wanted.window_begin ||
      alignment.record_end < wanted.window_begin)
    return wrong;
  if (mode == Mode::local &&
      (alignment.query_end != wanted.hit.query_end + 1 || alignment.record_end != wanted.hit.record_end + 1))
    return wrong;
  alignment.record_begin -= wanted.window_begin;
  alignment.record_end -= wanted.window_begin;
  TRY_ASSIGN(const std::int32_t score,
             rescore(mode, scheme, layout.queries[wanted.query], wanted.window, alignment));
  if (score != alignment.score) return Error{ErrorKind::invalid, "its steps have another score than it says"};
  return {};
}

}  // namespace gleaner::dsearch
