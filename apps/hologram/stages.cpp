#include "apps/hologram/stages.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "apps/hologram/waves.h"
#include "apps/kit/packing.h"

namespace gleaner::hologram {
namespace {

static_assert(std::endian::native == std::endian::little, "items are little-endian, and copied as they are");
static_assert(sizeof(Complex) == 8);

constexpr std::int64_t panel = 8;          // columns at a time: a cache line of each row
constexpr std::int64_t panel_padding = 8;  // so that the columns of a panel do not share cache sets

using Direction = Fft::Direction;

class BlockKernel final : public kit::Kernel {
 public:
  explicit BlockKernel(const kit::Problem& problem, Task task)
      : problem_(problem),
        task_(std::move(task)),
        stages_(task_, [this](int stage, std::int64_t item) -> Result<Bytes> {
          TRY_ASSIGN(const std::filesystem::path path, problem_.input_path(block_name(stage, item)));
          return read_block_file(path, task_.layout.input_bytes(stage));
        }) {}
  [[nodiscard]] Result<Bytes> compute(int stage, std::int64_t item, kit::ItemContext& context) override {
    if (item < 0 || item >= task_.layout.items(stage))
      return Error{ErrorKind::invalid, "there is no such stage or block"};
    return stages_.compute(stage, item, context);
  }

 private:
  kit::Problem problem_;
  Task task_;
  Stages stages_;
};

// A line of `count` pixels as the last stage gives them.
void put_pixels(const Complex* from, std::int64_t count, std::int64_t pixel_bytes, char* to) {
  if (pixel_bytes == 8) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(Complex));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const float intensity = from[i].real() * from[i].real() + from[i].imag() * from[i].imag();
    std::memcpy(to + 4 * i, &intensity, sizeof intensity);
  }
}

// A line through the tiles of a block of rows: `tile_pixels` apart, `width` pixels in each.
struct Across {
  std::int64_t tiles, width, tile_pixels, line;
  [[nodiscard]] std::size_t pixel(std::int64_t tile) const {
    return static_cast<std::size_t>(tile * tile_pixels + line * width);
  }
};

// Columns [first, first + count) of rows of `width` complex numbers, each to a buffer of its own, and back.
template <std::int64_t fixed>
void gather(const char* from, std::int64_t rows, std::int64_t width, std::int64_t count, Complex* to,
            std::int64_t stride) {
  const std::int64_t columns = fixed > 0 ? fixed : count;
  for (std::int64_t row = 0; row < rows; ++row, from += width * 8) {
    for (std::int64_t i = 0; i < columns; ++i) std::memcpy(to + i * stride + row, from + 8 * i, 8);
  }
}

template <std::int64_t fixed>
void scatter(const Complex* from, std::int64_t stride, std::int64_t rows, std::int64_t width,
             std::int64_t count, std::int64_t pixel_bytes, char* to) {
  const std::int64_t columns = fixed > 0 ? fixed : count;
  for (std::int64_t row = 0; row < rows; ++row, to += width * pixel_bytes) {
    Complex line[panel];
    for (std::int64_t i = 0; i < columns; ++i) line[i] = from[i * stride + row];
    put_pixels(line, columns, pixel_bytes, to);
  }
}

}  // namespace

Result<Task> open_task(const kit::Problem& problem) {
  Task task;
  TRY_ASSIGN(task.settings, read_settings(problem));
  TRY_ASSIGN(task.pixels, open_pixels(problem, task.settings));
  TRY_ASSIGN(task.layout, Layout::make(task.settings, task.pixels->rows(), task.pixels->columns()));
  return task;
}

std::string block_name(int stage, std::int64_t item) {
  return (Layout::of_columns(stage) ? "columns-" : "rows-") + std::to_string(item);
}

Bytes block_end(std::int64_t image_rows, std::int64_t image_columns) {
  Bytes bytes;
  kit::pack(bytes, static_cast<std::uint32_t>(image_rows));
  kit::pack(bytes, static_cast<std::uint32_t>(image_columns));
  return bytes;
}

Result<Bytes> read_block_file(const std::filesystem::path& path, std::int64_t bytes) {
  TRY_ASSIGN(Bytes block, kit::read_file(path, bytes + block_end_bytes));
  if (static_cast<std::int64_t>(block.size()) != bytes + block_end_bytes)
    return Error{ErrorKind::invalid, "the input " + path.filename().string() + " has " +
                                         std::to_string(block.size()) + " bytes, not " +
                                         std::to_string(bytes + block_end_bytes)};
  block.resize(static_cast<std::size_t>(bytes));
  return block;
}

Stages::Stages(const Task& task, ReadBlock read_block)
    : task_(task), layout_(task.layout), read_block_(std::move(read_block)) {}

void Stages::prepare_stage(int stage) {
  if (prepared_ == stage) return;
  const Settings& settings = task_.settings;
  const bool convolution = settings.method == Method::convolution;
  const std::int64_t rows = layout_.rows();
  const std::int64_t columns = layout_.columns();
  const Direction there = convolution || settings.distance > 0 ? Direction::forward : Direction::backward;
  first_.reset();
  second_.reset();
  if (Layout::of_columns(stage)) {
    first_.emplace(rows, there);
    if (convolution) {
      second_.emplace(rows, Direction::backward);
      row_factor_ = transfer(settings, rows, settings.row_pitch);
      column_factor_ = transfer(settings, columns, settings.column_pitch);
      constant_ = path_phase(settings) / static_cast<float>(rows * columns);
    } else {
      row_factor_ = chirp(settings, rows, direct_pitch(settings, rows, settings.row_pitch));
      column_factor_ = chirp(settings, columns, direct_pitch(settings, columns, settings.column_pitch));
      const double scale =
          settings.row_pitch * settings.column_pitch / (settings.wavelength * settings.distance);
      constant_ = times(path_phase(settings), Complex(0, static_cast<float>(-scale)));  // 1 / i
    }
    buffer_.emplace(panel * (rows + panel_padding));
  } else {
    first_.emplace(columns, stage == 0 ? there : Direction::backward);
    buffer_.emplace(columns);
    if (stage == 0 && !lines_) lines_.emplace(settings, layout_, *task_.pixels);
  }
  prepared_ = stage;
}

Result<Bytes> Stages::compute(int stage, std::int64_t item, kit::ItemContext& context) {
  Bytes out(static_cast<std::size_t>(layout_.item_bytes(stage)), '\0');
  const std::int64_t lines = Layout::of_columns(stage) ? layout_.block_columns() : layout_.block_rows();
  TRY(compute_lines(stage, item, {0, lines}, context, out));
  return out;
}

Result<bool> Stages::has_line(int stage, std::int64_t item, std::int64_t line, std::string_view bytes) {
  CHECK_TRUE(static_cast<std::int64_t>(bytes.size()) == layout_.item_bytes(stage));
  kit::ItemContext quiet;
  Bytes expected(bytes);  // what is not of the line agrees
  TRY(compute_lines(stage, item, {line, line + 1}, quiet, expected));
  return expected == bytes;
}

Status Stages::compute_lines(int stage, std::int64_t item, Range lines, kit::ItemContext& context,
                             Bytes& out) {
  prepare_stage(stage);
  const Place place = layout_.place(stage, item);
  if (stage == 0) return transform_rows(place, lines, context, out);
  TRY_ASSIGN(const Bytes block, read_block_(stage, item));
  const std::int64_t expected = layout_.input_bytes(stage);
  if (static_cast<std::int64_t>(block.size()) != expected)
    return Error{ErrorKind::invalid, "the input " + block_name(stage, item) + " has " +
                                         std::to_string(block.size()) + " bytes, not " +
                                         std::to_string(expected)};
  if (Layout::of_columns(stage)) return transform_columns(place, lines, context, block, out);
  transform_back(lines, context, block, out);
  return {};
}

Status Stages::transform_rows(Place place, Range lines, kit::ItemContext& context, Bytes& out) {
  Complex* const buffer = buffer_->data();
  const Range window = layout_.window_lines(place);  // the others are zero already
  for (std::int64_t line = lines.begin; line < lines.end && !context.abandoned(); ++line) {
    context.progress(static_cast<double>(line - lines.begin) / static_cast<double>(lines.size()));
    if (!window.contains(line)) continue;
    TRY(lines_->fill(place.view, place.block * layout_.block_rows() + line, buffer));
    first_->run(buffer);
    const Across across{layout_.column_blocks(), layout_.block_columns(), layout_.tile_pixels(), line};
    for (std::int64_t tile = 0; tile < across.tiles; ++tile)
      std::memcpy(out.data() + across.pixel(tile) * 8, buffer + tile * across.width,
                  static_cast<std::size_t>(across.width) * 8);
  }
  return {};
}

Status Stages::transform_columns(Place place, Range lines, kit::ItemContext& context, std::string_view block,
                                 Bytes& out) {
  const std::int64_t rows = layout_.rows();
  const std::int64_t width = layout_.block_columns();
  const std::int64_t stride = rows + panel_padding;
  const std::int64_t pixel_bytes = layout_.pixel_bytes(1);
  Complex* const buffer = buffer_->data();
  for (std::int64_t line = lines.begin; line < lines.end && !context.abandoned(); line += panel) {
    context.progress(static_cast<double>(line - lines.begin) / static_cast<double>(lines.size()));
    const std::int64_t count = std::min(panel, lines.end - line);
    const char* const from = block.data() + line * 8;
    char* const to = out.data() + line * pixel_bytes;
    if (count == panel) {
      gather<panel>(from, rows, width, count, buffer, stride);
    } else {
      gather<0>(from, rows, width, count, buffer, stride);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      Complex* const column = buffer + i * stride;
      first_->run(column);
      finish_column(column, place.block * width + line + i);
      if (second_) second_->run(column);
    }
    if (count == panel) {
      scatter<panel>(buffer, stride, rows, width, count, pixel_bytes, to);
    } else {
      scatter<0>(buffer, stride, rows, width, count, pixel_bytes, to);
    }
  }
  return {};
}

// Times the transfer function, or the output chirp.
void Stages::finish_column(Complex* line, std::int64_t column) const {
  const Complex factor = times(constant_, column_factor_[static_cast<std::size_t>(column)]);
  const Complex* const across = row_factor_.data();
  const std::int64_t rows = layout_.rows();
  for (std::int64_t row = 0; row < rows; ++row) line[row] = times(line[row], times(across[row], factor));
}

void Stages::transform_back(Range lines, kit::ItemContext& context, std::string_view block,
                            Bytes& out) const {
  Complex* const buffer = buffer_->data();
  const std::int64_t pixel_bytes = layout_.pixel_bytes(2);
  for (std::int64_t line = lines.begin; line < lines.end && !context.abandoned(); ++line) {
    context.progress(static_cast<double>(line - lines.begin) / static_cast<double>(lines.size()));
    const Across across{layout_.column_blocks(), layout_.block_columns(), layout_.tile_pixels(), line};
    for (std::int64_t tile = 0; tile < across.tiles; ++tile)
      std::memcpy(buffer + tile * across.width, block.data() + across.pixel(tile) * 8,
                  static_cast<std::size_t>(across.width) * 8);
    first_->run(buffer);
    for (std::int64_t tile = 0; tile < across.tiles; ++tile)
      put_pixels(buffer + tile * across.width, across.width, pixel_bytes,
                 out.data() + across.pixel(tile) * static_cast<std::size_t>(pixel_bytes));
  }
}

Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& problem) {
  TRY_ASSIGN(Task task, open_task(problem));
  return std::unique_ptr<kit::Kernel>(std::make_unique<BlockKernel>(problem, std::move(task)));
}

}  // namespace gleaner::hologram
