// Holograms as files, read a row at a time: binary PGM (8 and 16 bits), TIFF (one channel of 8 or 16 bits,
// uncompressed, in strips) and raw numbers, little-endian, row by row. Pixels of 8 and 16 bits become 0 to 1;
// floating-point numbers that are not finite or beyond 1e9 become 0.
// Errors: invalid (not such a file, or shorter than it says), io. Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

#include "apps/hologram/complex.h"
#include "apps/hologram/settings.h"
#include "shared/base/range_set.h"

namespace gleaner::hologram {

struct ImageLayout {
  Format format = Format::u8;  // never detect
  bool big_endian = false;
  float maximum = 1;  // what stands for 1
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t strip_rows = 0;       // rows of each strip but the last
  std::vector<std::int64_t> strips;  // where they are in the file

  [[nodiscard]] std::int64_t row_bytes() const;
  [[nodiscard]] std::int64_t row_offset(std::int64_t row) const;
};

// Pixels as they are in a file, `count` of them one after the other.
void decode_pixels(const ImageLayout& layout, const char* from, std::int64_t count, Complex* to);

// `count` bytes at `offset`; both are inside the file.
using ReadAt = std::function<Status(std::int64_t offset, char* to, std::int64_t count)>;

// Where the pixels of a file of `size` bytes are; all of them are inside it.
[[nodiscard]] Result<ImageLayout> find_pixels(const Settings& settings, std::int64_t size,
                                              const ReadAt& read);

class ImageFile {
 public:
  [[nodiscard]] static Result<ImageFile> open(const Settings& settings, const std::filesystem::path& path);
  [[nodiscard]] const ImageLayout& layout() const { return layout_; }
  // The pixels of columns [columns), 0 <= row < layout().rows. REQUIRES: room for columns.size().
  [[nodiscard]] Status read_row(std::int64_t row, Range columns, Complex* to);

 private:
  ImageLayout layout_;
  std::ifstream file_;
  std::vector<char> bytes_;
};

}  // namespace gleaner::hologram
