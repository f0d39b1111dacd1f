#include "apps/kit/segments.h"

#include <algorithm>

#include "apps/kit/channel.h"
#include "apps/kit/words.h"
#include "shared/base/limits.h"
#include "shared/base/paths.h"
#include "shared/base/words.h"

namespace gleaner::kit {
namespace {

constexpr std::size_t length_bytes = 4;

std::uint32_t decode_length(const char* bytes) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return length;
}

}  // namespace

void append_item(Bytes& segment, std::string_view item) {
  CHECK_TRUE(item.size() <= static_cast<std::size_t>(limits::item_bytes_max));
  for (std::size_t i = 0; i < length_bytes; ++i) {
    segment.push_back(static_cast<char>((item.size() >> (8 * i)) & 0xff));
  }
  segment.append(item);
}

std::optional<SegmentReader::View> SegmentReader::next() {
  if (next_ >= range_.end || rest_.size() < length_bytes) return std::nullopt;
  const std::size_t length = decode_length(rest_.data());
  if (length > rest_.size() - length_bytes) return std::nullopt;
  const View view{next_++, rest_.substr(length_bytes, length)};
  rest_.remove_prefix(length_bytes + length);
  return view;
}

Status SegmentReader::framing() const {
  if (next_ < range_.end) {
    return Error{ErrorKind::invalid, "the segment is cut short at item " + std::to_string(next_)};
  }
  if (!rest_.empty()) return Error{ErrorKind::invalid, "the segment has bytes after its last item"};
  return {};
}

Result<ItemSource> ItemSource::open(const std::filesystem::path& list_file) {
  std::ifstream list(list_file);
  if (!list) return Error{ErrorKind::io, "cannot open the list of pieces " + utf8_text(list_file)};
  ItemSource source;
  std::string line;
  while (std::getline(list, line)) {
    Words words(line);
    const auto range = words.range();
    const auto first = words.number();
    const std::filesystem::path path = utf8_path(words.rest());
    const bool in_order =
        range && (source.pieces_.empty() || range->begin >= source.pieces_.back().range.end);
    if (!range || range->empty() || !first || *first > range->begin || path.empty() || !in_order) {
      return Error{ErrorKind::invalid, "the list of pieces has a wrong line: " + one_line(line)};
    }
    source.total_ += range->size();
    source.pieces_.push_back({*range, *first, path});
  }
  if (list.bad()) return Error{ErrorKind::io, "cannot read the list of pieces " + utf8_text(list_file)};
  TRY(source.read_origins(with_suffix(list_file, ".origins")));
  return source;
}

Status ItemSource::read_origins(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return {};
  std::ifstream list(file);
  std::string line;
  while (std::getline(list, line)) {
    Words words(line);
    const auto range = words.range();
    std::string seconds(words.next());
    if (!range || range->empty() || seconds.empty() ||
        (!origins_.empty() && range->begin < origins_.back().range.end))
      return Error{ErrorKind::invalid, "the list of origins has a wrong line: " + one_line(line)};
    origins_.push_back({*range, std::move(seconds), std::string(words.rest())});
  }
  if (!list.eof()) return Error{ErrorKind::io, "cannot read the list of origins " + utf8_text(file)};
  return {};
}

const Origin* ItemSource::origin(std::int64_t item) {
  while (origin_ < origins_.size() && origins_[origin_].range.end <= item) ++origin_;
  return origin_ < origins_.size() && origins_[origin_].range.contains(item) ? &origins_[origin_] : nullptr;
}

Status ItemSource::require_all(std::int64_t items) const {
  std::int64_t expected = 0;
  for (const Piece& piece : pieces_) {
    if (piece.range.begin != expected) break;
    expected = piece.range.end;
  }
  if (expected == items && total_ == items) return {};
  return Error{ErrorKind::invalid, "the pieces do not hold the items 0 to " + std::to_string(items - 1) +
                                       " exactly: they go wrong at " + std::to_string(expected)};
}

Status ItemSource::require_within(std::int64_t items) const {
  if (pieces_.empty() || pieces_.back().range.end <= items) return {};
  return Error{ErrorKind::invalid, "the pieces reach beyond the last item"};
}

Result<std::uint32_t> ItemSource::read_length() {
  char bytes[length_bytes];
  const std::string where = utf8_text(pieces_[piece_].path) + ", item " + std::to_string(index_);
  if (!file_.read(bytes, length_bytes)) return Error{ErrorKind::invalid, "segment cut short: " + where};
  const std::uint32_t length = decode_length(bytes);
  if (length > limits::item_bytes_max) return Error{ErrorKind::invalid, "item larger than 512 MiB: " + where};
  return length;
}

Status ItemSource::open_piece() {
  const Piece& piece = pieces_[piece_];
  file_ = std::ifstream(piece.path, std::ios::binary);
  if (!file_) return Error{ErrorKind::io, "cannot open the segment " + utf8_text(piece.path)};
  for (index_ = piece.first; index_ < piece.range.begin; ++index_) {
    TRY_ASSIGN(const std::uint32_t length, read_length());
    file_.seekg(length, std::ios::cur);
  }
  return {};
}

Result<std::optional<Item>> ItemSource::next() {
  if (piece_ == pieces_.size()) return std::optional<Item>{};
  if (index_ < 0) TRY(open_piece());
  TRY_ASSIGN(const std::uint32_t length, read_length());
  std::optional<Item> item = Item{index_, Bytes(length, '\0')};
  if (!file_.read(item->bytes.data(), length)) {
    return Error{ErrorKind::invalid, "segment cut short: " + utf8_text(pieces_[piece_].path)};
  }
  ++given_;
  if (++index_ == pieces_[piece_].range.end) {
    ++piece_;
    index_ = -1;
    file_.close();
  }
  return item;
}

}  // namespace gleaner::kit
