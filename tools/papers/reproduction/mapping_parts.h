// What the section on mapping is made of besides its own file. Internal.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/papers/mapped.h"
#include "tools/papers/reproduction/sections.h"

namespace gleaner::simulator {

// makespan over that of the first strategy, in the mean of the seeds (paired). `grid_of` is told whether it
// is the first.
[[nodiscard]] Result<std::map<std::string, double>> ratios(
    const std::vector<std::string>& strategies, int seeds,
    const std::function<MappedGrid(std::uint64_t seed, bool first)>& grid_of);

// mapping_errors.cpp
[[nodiscard]] Result<ReportTable> table_4_9(const ReproductionOptions& options);
[[nodiscard]] Result<ReportTable> figure_3_13(const ReproductionOptions& options, ReportPlot& plot);

}  // namespace gleaner::simulator
