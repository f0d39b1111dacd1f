#include "apps/hologram/layout.h"

#include <algorithm>
#include <bit>

#include "shared/base/limits.h"

namespace gleaner::hologram {
namespace {

constexpr std::int64_t block_max = 64;                  // rows of 65536 complex numbers: 32 MiB
constexpr std::int64_t blocks_wanted = 32;              // of a small plane, so that several hosts get some
constexpr std::int64_t block_min = 8;                   // a cache line of complex numbers
constexpr std::int64_t items_max = limits::inputs_max;  // each item of a later stage has an input of its own

std::int64_t block_for(std::int64_t side, std::int64_t views) {
  std::int64_t block = std::clamp(side / blocks_wanted, block_min, block_max);
  while (views * (side / block) > items_max && block < block_max) block *= 2;
  return block;
}

Result<std::int64_t> plane_side(const std::string& key, std::int64_t wanted, std::int64_t image) {
  const auto smallest =
      std::max(side_min, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(image))));
  if (wanted == 0) return smallest;
  if (wanted >= image) return wanted;
  return Error{ErrorKind::invalid, key + ": the hologram has " + std::to_string(image) + ": give at least " +
                                       std::to_string(smallest) + ", or leave it out"};
}

// Where a window of `size` around the centre of a plane of `side` sees an image of `image` pixels that is
// moved by `shift`.
Range visible(std::int64_t side, std::int64_t image, std::int64_t shift, std::int64_t size) {
  const std::int64_t centre = side / 2;
  const std::int64_t image_begin = centre - image / 2 - shift;
  const Range range{std::max({std::int64_t{0}, image_begin, centre - size / 2}),
                    std::min({side, image_begin + image, centre - size / 2 + size})};
  return range.begin < range.end ? range : Range{0, 0};
}

}  // namespace

Result<Layout> Layout::make(const Settings& settings, std::int64_t image_rows, std::int64_t image_columns) {
  Layout layout;
  TRY_ASSIGN(layout.rows_, plane_side("rows", settings.rows, image_rows));
  TRY_ASSIGN(layout.columns_, plane_side("columns", settings.columns, image_columns));
  layout.stages_ = settings.method == Method::convolution ? 3 : 2;
  const bool real = settings.product == Product::amplitude || settings.product == Product::intensity;
  layout.last_pixel_bytes_ = real ? 4 : 8;

  std::vector<Aperture> apertures = settings.apertures;
  if (apertures.empty()) apertures = {{0, 0, layout.rows_, layout.columns_}};
  const auto views = static_cast<std::int64_t>(apertures.size());
  layout.block_rows_ = block_for(layout.rows_, views);
  layout.block_columns_ = block_for(layout.columns_, views);
  if (views * std::max(layout.row_blocks(), layout.column_blocks()) > items_max)
    return Error{ErrorKind::invalid, "apertures: " + std::to_string(views) +
                                         " views of a plane this large are more than 1024 blocks: make "
                                         "it several problems"};
  for (const Aperture& aperture : apertures) {
    View view;
    view.aperture = aperture;
    view.rows = visible(layout.rows_, image_rows, aperture.row_shift, aperture.rows);
    view.columns = visible(layout.columns_, image_columns, aperture.column_shift, aperture.columns);
    if (view.rows.empty() || view.columns.empty())
      return Error{ErrorKind::invalid, "apertures: number " + std::to_string(layout.views_.size() + 1) +
                                           " sees nothing of the hologram"};
    view.blocks = {view.rows.begin / layout.block_rows_, (view.rows.end - 1) / layout.block_rows_ + 1};
    layout.views_.push_back(view);
  }
  return layout;
}

std::int64_t Layout::items(int stage) const {
  if (stage == 0) {
    std::int64_t sum = 0;
    for (const View& view : views_) sum += view.blocks.size();
    return sum;
  }
  if (stage < 0 || stage >= stages_) return 0;
  return static_cast<std::int64_t>(views_.size()) * (of_columns(stage) ? column_blocks() : row_blocks());
}

Place Layout::place(int stage, std::int64_t item) const {
  CHECK_TRUE(item >= 0 && item < items(stage));
  if (stage == 0) {
    std::size_t view = 0;
    for (; item >= views_[view].blocks.size(); ++view) item -= views_[view].blocks.size();
    return {view, views_[view].blocks.begin + item};
  }
  const std::int64_t blocks = of_columns(stage) ? column_blocks() : row_blocks();
  return {static_cast<std::size_t>(item / blocks), item % blocks};
}

Range Layout::window_lines(Place place) const {
  const Range& rows = views_[place.view].rows;
  const std::int64_t first = place.block * block_rows_;
  return {std::max<std::int64_t>(0, rows.begin - first), std::min(block_rows_, rows.end - first)};
}

std::int64_t Layout::item(int stage, Place place) const {
  CHECK_TRUE(stage > 0);
  return static_cast<std::int64_t>(place.view) * (of_columns(stage) ? column_blocks() : row_blocks()) +
         place.block;
}

}  // namespace gleaner::hologram
