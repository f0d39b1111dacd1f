// What the client publishes for viewers, which may run as anybody: a file that they can read and that tells
// nothing secret. There is no way back: a viewer cannot say anything to the client. Layout: a head of
// head_bytes, written as a whole ("GLNVIEW1", CRC-32 and length of the text, both 4 bytes little-endian, JSON
// text), then the picture's pixels (red, green, blue, row by row), which are written in place. A head that is
// read while it is written has a wrong checksum: read it again. Private to one version of the programs.
//
// The parser takes arbitrary bytes: lists, texts and sizes beyond the bounds below are refused or cut; texts
// are UTF-8 without control characters. Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/view/given.h"
#include "client/view/picture.h"
#include "shared/base/result.h"

namespace gleaner::view {

inline constexpr std::int64_t head_bytes = 16 << 10;
inline constexpr std::size_t text_bytes_max = 240;  // of each text
inline constexpr std::size_t cores_shown_max = 16;

struct CoreView {
  std::string state;  // as in `gleaner status`
  std::string problem;
  std::int64_t begin = 0, finished = 0, end = 0;
  friend bool operator==(const CoreView&, const CoreView&) = default;
};

struct PictureView {
  std::int64_t number = 0;  // another number: another picture
  std::int64_t change = 0;  // another number: other pixels
  int width = 0, height = 0;
  std::string problem;
  std::string application;  // its title
  std::string meaning;      // of an item
  std::int64_t items = 0;   // in it
  friend bool operator==(const PictureView&, const PictureView&) = default;
};

struct View {
  std::int64_t written = 0;  // microseconds since 1970
  std::string project;
  std::string host;
  std::string mode;            // run, throttle, pause
  std::string reason;          // the sentence of `gleaner why`
  std::int64_t items_run = 0;  // accepted from this computer since its client started
  Given given;
  std::int64_t project_items = 0;            // of the present stage of the problem shown; 0: not known
  std::int64_t project_done_millionths = 0;  // of the whole problem, by all computers
  std::int64_t project_hosts = 0;
  std::vector<CoreView> cores;
  PictureView picture;  // width 0: none yet
  friend bool operator==(const View&, const View&) = default;
};

// At most head_bytes.
[[nodiscard]] Bytes encode_head(const View& view);
// invalid: not such a head, or one that is being written.
[[nodiscard]] Result<View> parse_head(std::string_view bytes);

[[nodiscard]] inline std::int64_t picture_bytes(const PictureView& picture) {
  return std::int64_t{3} * picture.width * picture.height;
}

// One clean line (shared/base/clean_text.h) of at most text_bytes_max bytes.
[[nodiscard]] std::string clean_text(std::string_view text);

}  // namespace gleaner::view
