#include "client/engine/journal.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "shared/base/limits.h"
#include "shared/base/paths.h"

namespace gleaner::engine {
namespace {

constexpr std::string_view magic = "GLNJ0001";
constexpr std::int64_t header_bytes = 9;
constexpr std::int64_t window_bytes = 1 << 20;
constexpr std::int64_t payload_bytes_max = limits::item_bytes_max + 8;
constexpr std::size_t digest_bytes = 64;
constexpr std::size_t cut_bytes = 8 + 8 + 1 + 8 + 8 + digest_bytes;

template <typename Number>
void put(Bytes& into, Number value) {
  for (std::size_t i = 0; i < sizeof value; ++i)
    into.push_back(static_cast<char>((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xff));
}

template <typename Number>
Number get(std::string_view from, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(from.at(at + i))) << (8 * i);
  return static_cast<Number>(value);
}

std::uint32_t add_checksum(std::uint32_t checksum, std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(checksum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::uint32_t start_checksum(UnitId unit) {
  Bytes id;
  put(id, unit.value);
  return add_checksum(0, id);
}

std::uint32_t begin_checksum(std::uint32_t previous, JournalEntry::Kind kind, std::uint32_t length) {
  Bytes head;
  put(head, static_cast<std::uint8_t>(kind));
  put(head, length);
  return add_checksum(previous, head);
}

// A file seen through a window, so that a journal of a gigabyte needs a megabyte.
class Window {
 public:
  Window(const io::Files& files, const io::Path& path) : files_(files), path_(path) {}
  // Fewer bytes only at the end of the file. bytes <= window_bytes.
  Result<std::string_view> view(std::int64_t offset, std::int64_t bytes) {
    const std::int64_t have = start_ + static_cast<std::int64_t>(window_.size());
    if (offset < start_ || offset + bytes > have) {
      TRY_ASSIGN(window_, files_.read_range(path_, offset, window_bytes));
      start_ = offset;
    }
    return std::string_view(window_).substr(static_cast<std::size_t>(offset - start_),
                                            static_cast<std::size_t>(bytes));
  }

 private:
  const io::Files& files_;
  const io::Path& path_;
  Bytes window_;
  std::int64_t start_ = 0;
};

std::optional<JournalEntry> parse(int kind, std::string_view payload, std::int64_t offset,
                                  std::int64_t bytes) {
  JournalEntry entry;
  switch (kind) {
    case 1:
      if (bytes < 8) return std::nullopt;
      entry.kind = JournalEntry::Kind::item;
      entry.index = get<std::int64_t>(payload, 0);
      entry.offset = offset + 8;
      entry.bytes = bytes - 8;
      return entry;
    case 2:
      if (bytes != static_cast<std::int64_t>(cut_bytes)) return std::nullopt;
      entry.kind = JournalEntry::Kind::cut;
      entry.cut.range = {get<std::int64_t>(payload, 0), get<std::int64_t>(payload, 8)};
      entry.cut.last = payload[16] != 0;
      entry.cut.bytes = get<std::int64_t>(payload, 17);
      entry.cut.compute_seconds = std::bit_cast<double>(get<std::uint64_t>(payload, 25));
      entry.cut.digest = std::string(payload.substr(33, digest_bytes));
      return entry;
    case 3:
    case 4:
    case 6:
      if (bytes != 8) return std::nullopt;
      entry.kind = static_cast<JournalEntry::Kind>(kind);
      entry.index = get<std::int64_t>(payload, 0);
      return entry;
    case 5:
      if (bytes != 0) return std::nullopt;
      entry.kind = JournalEntry::Kind::stopped;
      return entry;
    default:
      return std::nullopt;
  }
}

}  // namespace

Journal::Journal(io::Files& files, io::Path path, UnitId unit)
    : files_(files), path_(std::move(path)), checksum_(start_checksum(unit)) {}

Status Journal::open(const std::function<Status(const JournalEntry&)>& visit) {
  if (!files_.exists(path_)) {
    TRY(files_.write(path_, magic, io::Mode::secret));
    written_ = static_cast<std::int64_t>(magic.size());
    return {};
  }
  TRY_ASSIGN(const std::int64_t size, files_.size(path_));
  Window window(files_, path_);
  TRY_ASSIGN(const std::string_view start, window.view(0, static_cast<std::int64_t>(magic.size())));
  if (start != magic) {
    // Its first write is atomic, so this is damage of the disk, not of a kill: nothing in it can be believed.
    TRY(files_.write(path_, magic, io::Mode::secret));
    written_ = static_cast<std::int64_t>(magic.size());
    return {};
  }
  std::int64_t at = static_cast<std::int64_t>(magic.size());
  while (at + header_bytes <= size) {
    TRY_ASSIGN(const std::string_view head, window.view(at, header_bytes));
    if (static_cast<std::int64_t>(head.size()) < header_bytes) break;
    const auto length = get<std::uint32_t>(head, 0);
    const auto expected = get<std::uint32_t>(head, 4);
    const int kind = get<std::uint8_t>(head, 8);
    if (length > payload_bytes_max || at + header_bytes + length > size) break;
    std::uint32_t checksum = begin_checksum(checksum_, static_cast<JournalEntry::Kind>(kind), length);
    Bytes first;  // of the payload: all that parse() looks at
    for (std::int64_t done = 0; done < length;) {
      const std::int64_t piece = std::min<std::int64_t>(length - done, window_bytes / 2);
      TRY_ASSIGN(const std::string_view bytes, window.view(at + header_bytes + done, piece));
      if (static_cast<std::int64_t>(bytes.size()) < piece)
        return Error{ErrorKind::io, utf8_text(path_) + " shrinks"};
      checksum = add_checksum(checksum, bytes);
      if (done == 0) first = Bytes(bytes.substr(0, cut_bytes));
      done += piece;
    }
    if (checksum != expected) break;
    const std::optional<JournalEntry> entry = parse(kind, first, at + header_bytes, length);
    if (!entry || !visit(*entry).ok()) break;
    checksum_ = checksum;
    at += header_bytes + length;
  }
  written_ = at;
  if (at < size) return cut_off(at);
  return {};
}

// Rewritten beside and renamed: bytes behind the end must never be taken for records of later.
Status Journal::cut_off(std::int64_t end) {
  const io::Path fresh = with_suffix(path_, ".new");
  TRY(files_.remove(fresh));
  for (std::int64_t at = 0; at < end;) {
    TRY_ASSIGN(const Bytes piece, files_.read_range(path_, at, std::min(window_bytes, end - at)));
    TRY(files_.write_at(fresh, at, piece));
    at += static_cast<std::int64_t>(piece.size());
  }
  TRY(files_.sync(fresh));
  return files_.rename(fresh, path_);
}

void Journal::append(JournalEntry::Kind kind, std::string_view head, std::string_view tail) {
  const auto length = static_cast<std::uint32_t>(head.size() + tail.size());
  checksum_ = begin_checksum(checksum_, kind, length);
  // An empty piece must not reach crc32: a null pointer means "give me the initial value" there.
  if (!head.empty()) checksum_ = add_checksum(checksum_, head);
  if (!tail.empty()) checksum_ = add_checksum(checksum_, tail);
  put(buffer_, length);
  put(buffer_, checksum_);
  put(buffer_, static_cast<std::uint8_t>(kind));
  buffer_.append(head).append(tail);
}

std::int64_t Journal::add_item(std::int64_t index, std::string_view bytes) {
  const std::int64_t offset = written_ + buffered() + header_bytes + 8;
  Bytes head;
  put(head, index);
  append(JournalEntry::Kind::item, head, bytes);
  return offset;
}

void Journal::add_cut(const Cut& cut) {
  CHECK_TRUE(cut.digest.size() == digest_bytes);
  Bytes payload;
  put(payload, cut.range.begin);
  put(payload, cut.range.end);
  put(payload, static_cast<std::uint8_t>(cut.last ? 1 : 0));
  put(payload, cut.bytes);
  put(payload, std::bit_cast<std::uint64_t>(cut.compute_seconds));
  payload += cut.digest;
  append(JournalEntry::Kind::cut, payload, {});
}

void Journal::add_acknowledged(std::int64_t end) {
  Bytes payload;
  put(payload, end);
  append(JournalEntry::Kind::acknowledged, payload, {});
}

void Journal::add_held(std::int64_t end) {
  Bytes payload;
  put(payload, end);
  append(JournalEntry::Kind::held, payload, {});
}

void Journal::add_end(std::int64_t end) {
  Bytes payload;
  put(payload, end);
  append(JournalEntry::Kind::end, payload, {});
}

void Journal::add_stopped() {
  append(JournalEntry::Kind::stopped, {}, {});
}

Status Journal::flush() {
  if (buffer_.empty()) return {};
  TRY(files_.write_at(path_, written_, buffer_));
  written_ += buffered();
  buffer_.clear();
  if (buffer_.capacity() > static_cast<std::size_t>(window_bytes)) buffer_.shrink_to_fit();
  return {};
}

Status Journal::sync() {
  TRY(flush());
  return files_.sync(path_);
}

Result<Bytes> Journal::read(std::int64_t offset, std::int64_t bytes) const {
  CHECK_TRUE(offset + bytes <= written_);
  TRY_ASSIGN(Bytes got, files_.read_range(path_, offset, bytes));
  if (static_cast<std::int64_t>(got.size()) != bytes)
    return Error{ErrorKind::io, utf8_text(path_) + " is shorter than it was"};
  return got;
}

}  // namespace gleaner::engine
