// The bytes of items: what kernels compute, and managers compute again to check them. One object for a
// problem; memory is one item, its input, and a few lines. Not thread-safe. Errors: io, invalid (an input of
// the wrong size).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "apps/hologram/fft.h"
#include "apps/hologram/layout.h"
#include "apps/hologram/source.h"
#include "apps/kit/kernel.h"

namespace gleaner::hologram {

// The parameters with what follows from them and the hologram.
struct Task {
  Settings settings;
  std::unique_ptr<Pixels> pixels;
  Layout layout;
};
[[nodiscard]] Result<Task> open_task(const kit::Problem& problem);

// The input of an item of stage 1 or 2: "columns-12", "rows-3".
[[nodiscard]] std::string block_name(int stage, std::int64_t item);

// Such an input ends with the hologram's rows and columns: a kernel of a later stage sees nothing else of it.
inline constexpr std::int64_t block_end_bytes = 8;
[[nodiscard]] Bytes block_end(std::int64_t image_rows, std::int64_t image_columns);
// An input of `bytes` bytes, without its end.
[[nodiscard]] Result<Bytes> read_block_file(const std::filesystem::path& path, std::int64_t bytes);

// Reads the input of an item.
using ReadBlock = std::function<Result<Bytes>(int stage, std::int64_t item)>;

class Stages {
 public:
  // REQUIRES: `task` outlives it.
  Stages(const Task& task, ReadBlock read_block);

  // REQUIRES: 0 <= item < layout.items(stage).
  [[nodiscard]] Result<Bytes> compute(int stage, std::int64_t item, kit::ItemContext& context);
  // Is row or column `line` of the block what `bytes` say? REQUIRES: bytes of the right size; of stage 0, a
  // line in the window.
  [[nodiscard]] Result<bool> has_line(int stage, std::int64_t item, std::int64_t line,
                                      std::string_view bytes);

 private:
  // Rows or columns [lines) of the block, each in its place in `out`, a whole item's bytes.
  [[nodiscard]] Status compute_lines(int stage, std::int64_t item, Range lines, kit::ItemContext& context,
                                     Bytes& out);
  [[nodiscard]] Status transform_rows(Place place, Range lines, kit::ItemContext& context, Bytes& out);
  [[nodiscard]] Status transform_columns(Place place, Range lines, kit::ItemContext& context,
                                         std::string_view block, Bytes& out);
  void finish_column(Complex* line, std::int64_t column) const;
  void transform_back(Range lines, kit::ItemContext& context, std::string_view block, Bytes& out) const;
  void prepare_stage(int stage);

  const Task& task_;
  const Layout& layout_;
  ReadBlock read_block_;
  std::optional<Lines> lines_;
  int prepared_ = -1;  // the stage that what follows is for
  std::optional<Fft> first_, second_;
  std::vector<Complex> row_factor_, column_factor_;  // of the plane between the transforms, or behind them
  Complex constant_{1, 0};
  std::optional<Line> buffer_;
};

// The kernel's factory.
[[nodiscard]] Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& problem);

}  // namespace gleaner::hologram
