// What people look at: texts, tables, curves and maps of the sums. The same bytes everywhere.
#pragma once

#include <filesystem>
#include <string>

#include "apps/photons/sums.h"

namespace gleaner::photons {

[[nodiscard]] std::string text_report(const Sums& sums);
[[nodiscard]] std::string json_report(const Sums& sums);

// Tables with a heading, tab-separated: over the distance from the source, over the angle to the normal, over
// the depth, over both distance and depth, over a detected photon's path.
[[nodiscard]] std::string radius_table(const Sums& sums);
[[nodiscard]] std::string angle_table(const Sums& sums);
[[nodiscard]] std::string depth_table(const Sums& sums);
[[nodiscard]] std::string fluence_table(const Sums& sums);
[[nodiscard]] std::string path_table(const Sums& sums);

// Physical quantities of cells, for each photon sent. r, z: cell numbers.
[[nodiscard]] Estimate reflected_at(const Sums& sums, std::int64_t r);                 // 1/cm^2
[[nodiscard]] Estimate transmitted_at(const Sums& sums, std::int64_t r);               // 1/cm^2
[[nodiscard]] Estimate absorbed_at(const Sums& sums, std::int64_t r, std::int64_t z);  // 1/cm^3
// The absorption coefficient in the middle of a cell, 1/cm; fluence is what is absorbed over this.
[[nodiscard]] double absorption_at(const Settings& settings, std::int64_t z);

// Curves (SVG), logarithmic.
[[nodiscard]] std::string radius_chart(const Sums& sums);
[[nodiscard]] std::string depth_chart(const Sums& sums);
[[nodiscard]] std::string path_chart(const Sums& sums);

// Maps (PNG), logarithmic over six decades, the source at the top in the middle; layers' borders are lines.
// The second is of where detected photons were, the detector to the right. Errors: io.
[[nodiscard]] Status draw_fluence(const Sums& sums, const std::filesystem::path& path);
[[nodiscard]] Status draw_visits(const Sums& sums, const std::filesystem::path& path);

}  // namespace gleaner::photons
