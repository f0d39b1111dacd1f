// Results as the manager meets them (apps/CONTRACT.md, Segments): a segment is the items of a range in order,
// each as a 4-byte little-endian length and its bytes; a list file names the pieces of a stage. Items are
// read one at a time from the disk: memory is one item, whatever the size of the problem. Errors: io, invalid
// (bad framing).
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/encoding.h"
#include "shared/base/range_set.h"
#include "shared/base/result.h"

namespace gleaner::kit {

struct Item {
  std::int64_t index = 0;
  Bytes bytes;
};

// Who computed items [range), in how many seconds each, as text with three decimals; "-": nobody knows.
struct Origin {
  Range range;
  std::string seconds;
  std::string host;
};

// One segment in memory. Iterates: `while (auto item = reader.next())` …, then framing() must be ok.
class SegmentReader {
 public:
  struct View {
    std::int64_t index;
    std::string_view bytes;  // points into the segment
  };
  SegmentReader(Range range, std::string_view segment) : range_(range), rest_(segment), next_(range.begin) {}
  // Nothing at the end of the range or at broken framing.
  [[nodiscard]] std::optional<View> next();
  // Ok if the segment holds exactly the range's items. Ask after next() returned nothing.
  [[nodiscard]] Status framing() const;
  [[nodiscard]] Range range() const { return range_; }

 private:
  Range range_;
  std::string_view rest_;
  std::int64_t next_;
};

// Appends an item with its length; what a segment consists of.
void append_item(Bytes& segment, std::string_view item);

// The items of a list file, in order, and the origins of its file `.origins`, if there is one.
class ItemSource {
 public:
  [[nodiscard]] static Result<ItemSource> open(const std::filesystem::path& list_file);

  // The next item; nothing after the last one.
  [[nodiscard]] Result<std::optional<Item>> next();
  // Ok if the pieces are exactly the items [0, items). For combine.
  [[nodiscard]] Status require_all(std::int64_t items) const;
  // Ok if no piece reaches beyond the items [0, items). For preview.
  [[nodiscard]] Status require_within(std::int64_t items) const;
  // The origin of an item; null: there is none. Items are asked for in ascending order. Points into this.
  [[nodiscard]] const Origin* origin(std::int64_t item);
  [[nodiscard]] std::int64_t total() const { return total_; }
  // Items delivered by next() as a part of all, 0 to 1.
  [[nodiscard]] double fraction() const {
    return total_ ? static_cast<double>(given_) / static_cast<double>(total_) : 1;
  }

 private:
  struct Piece {
    Range range;
    std::int64_t first = 0;
    std::filesystem::path path;
  };
  [[nodiscard]] Status read_origins(const std::filesystem::path& file);
  [[nodiscard]] Status open_piece();
  [[nodiscard]] Result<std::uint32_t> read_length();

  std::vector<Piece> pieces_;
  std::vector<Origin> origins_;
  std::size_t origin_ = 0;  // the first that does not end before what was asked for
  std::int64_t total_ = 0;
  std::int64_t given_ = 0;
  std::size_t piece_ = 0;    // the piece of the next item
  std::int64_t index_ = -1;  // the next item of the open file; -1: open the piece first
  std::ifstream file_;
};

}  // namespace gleaner::kit
