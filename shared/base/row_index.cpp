#include "shared/base/row_index.h"

namespace gleaner {
namespace {

constexpr std::string_view magic = "glnrows1";

void append(Bytes& to, std::int64_t number) {
  const auto bits = static_cast<std::uint64_t>(number);
  for (int shift = 0; shift < 64; shift += 8) to += static_cast<char>(bits >> shift & 0xff);
}

// Negative beyond what a file can have. REQUIRES: eight bytes.
std::int64_t number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t bits = 0;
  for (std::size_t i = 8; i > 0; --i) bits = bits << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
  return static_cast<std::int64_t>(bits);
}

Error damaged() {
  return {ErrorKind::untrusted, "the index of rows.tar is damaged: download all rows"};
}

}  // namespace

Bytes row_index(const std::vector<std::int64_t>& begins, std::int64_t end) {
  Bytes index;
  index.reserve((begins.size() + 3) * row_index_entry_bytes);
  for (const std::int64_t begin : begins) append(index, begin);
  append(index, end);
  append(index += magic, static_cast<std::int64_t>(begins.size()));
  return index;
}

Result<RowIndexPlace> find_row_index(std::string_view tail, std::int64_t archive_bytes) {
  if (tail.size() != row_index_end_bytes || !tail.starts_with(magic))
    return Error{ErrorKind::not_found,
                 "rows.tar has no index, because an older gleaner-admin signed its application: download all "
                 "rows, and sign the application again before the next problem"};
  const std::int64_t rows = number_at(tail, magic.size());
  const std::int64_t entries_max = (archive_bytes - row_index_end_bytes) / row_index_entry_bytes;
  if (rows < 1 || rows >= entries_max) return damaged();
  return RowIndexPlace{rows, archive_bytes - row_index_end_bytes - (rows + 1) * row_index_entry_bytes};
}

Result<std::vector<std::int64_t>> read_row_index(std::string_view entries, const RowIndexPlace& place) {
  std::vector<std::int64_t> offsets;
  for (std::size_t at = 0; at + row_index_entry_bytes <= entries.size(); at += row_index_entry_bytes) {
    const std::int64_t offset = number_at(entries, at);
    if (offset < (offsets.empty() ? 0 : offsets.back()) || offset > place.offset) return damaged();
    offsets.push_back(offset);
  }
  return offsets;
}

}  // namespace gleaner
