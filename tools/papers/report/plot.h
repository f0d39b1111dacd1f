// A plot as files: <stem>.csv with the numbers, <stem>.gp for gnuplot, and <stem>.svg if gnuplot is
// installed. Errors: io.
#pragma once

#include "tools/papers/report/report.h"

namespace gleaner::simulator {

[[nodiscard]] Status write_plot(const ReportPlot& plot, const io::Path& directory, const std::string& stem);

// Runs gnuplot on a script, with `directory` as its working directory. Success without doing anything where
// gnuplot is not installed.
[[nodiscard]] Status run_gnuplot(const io::Path& directory, const std::string& script);

}  // namespace gleaner::simulator
