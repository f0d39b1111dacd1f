// Writing 8-bit RGB pictures row by row: memory is one row. Errors: io (the disk), internal (libpng's word).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "shared/base/result.h"

namespace gleaner::kit {

class PngWriter {
 public:
  // REQUIRES: 1 <= width, height <= 2^20.
  [[nodiscard]] static Result<PngWriter> create(const std::filesystem::path& path, std::int64_t width,
                                                std::int64_t height);
  PngWriter(PngWriter&&) noexcept;
  PngWriter& operator=(PngWriter&&) noexcept;
  ~PngWriter();  // a picture that was not finished stays broken on the disk

  // The next row from the top; REQUIRES: rgb.size() == 3 * width.
  [[nodiscard]] Status write_row(std::string_view rgb);
  // REQUIRES: all rows were written.
  [[nodiscard]] Status finish();

 private:
  struct State;
  explicit PngWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gleaner::kit
