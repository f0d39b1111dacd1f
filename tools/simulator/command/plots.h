// Plots of one run: who held what (Gantt chart), idle slots over time, unit sizes over requests. Each as CSV,
// as a gnuplot script and, where gnuplot is installed, as SVG. Errors: io.
#pragma once

#include "shared/io/files.h"
#include "tools/simulator/scenario/experiment.h"

namespace gleaner::simulator {

// `stem`: the beginning of the files' names.
[[nodiscard]] Status write_plots(const Detail& detail, const io::Path& directory, const std::string& stem,
                                 const std::string& title);

// host,class,slots,speed,units,items,work,share,dry_at: a line each, with a header.
[[nodiscard]] std::string hosts_csv(const Detail& detail);

}  // namespace gleaner::simulator
