// The hologram in parts of some rows, so that a host fetches those that its blocks of rows need and no
// others: made by the manager, read by kernels of stage 0. A part is rows as the file has them;
// `hologram.parts` says how they are to be read. Errors: invalid (damaged), io.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "apps/hologram/image_file.h"
#include "apps/hologram/layout.h"
#include "apps/hologram/source.h"
#include "apps/kit/manager.h"

namespace gleaner::hologram {

inline constexpr const char* parts_name = "hologram.parts";

struct Parts {
  ImageLayout image;      // without strips
  std::int64_t rows = 0;  // of each part but the last
};
[[nodiscard]] Bytes encode(const Parts& parts);
[[nodiscard]] Result<Parts> decode_parts(std::string_view bytes);

// From the first to the last item of stage 0 whose window has some of these rows of the hologram; empty: none
// has.
[[nodiscard]] Range items_of_rows(const Layout& layout, std::int64_t image_rows, Range rows);

// Writes the parts of the input into `directory`, which is made; the inputs of stage 0.
[[nodiscard]] Result<std::vector<kit::StageInput>> write_parts(const Settings& settings, const Layout& layout,
                                                               const std::filesystem::path& input,
                                                               const std::filesystem::path& directory);

// The pixels of a kernel whose inputs are parts.
[[nodiscard]] Result<std::unique_ptr<Pixels>> open_parts(const kit::Problem& problem);

}  // namespace gleaner::hologram
