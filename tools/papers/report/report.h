// A section of the reproduction report: published numbers beside ours, cell by cell with a verdict, and
// plots. A section is made in memory by a file of tools/simulator/reproduction and written by
// write_section(): into the directory go <name>.md (a fragment, headings from level 2 on), <name>_<table>.csv
// for every table, <name>_<plot>.csv, .gp and, where gnuplot is installed, <name>_<plot>.svg for every plot.
// The files depend on the section alone. Value types. Errors of write_section: io (what could not be written,
// or what gnuplot said).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::simulator {

// `reported`: nothing published to compare with, or it cannot be judged fairly; say why.
enum class Verdict { reproduced, ordering_reproduced, not_reproduced, reported };
[[nodiscard]] const char* name_of(Verdict verdict);  // "ordering reproduced"

struct ReportRow {
  std::vector<std::string> keys;    // one a key column of the table: {"scene A", "4"}
  std::optional<double> published;  // empty: none was
  std::optional<double> ours;       // empty: cannot be had; say why
  Verdict verdict = Verdict::reported;
  std::string why;  // one sentence; needed unless reproduced
};

struct ReportTable {
  std::string name;                      // of its file: [a-z0-9_]+
  std::string title;                     // "Table 3: requests"
  std::vector<std::string> key_columns;  // {"scene", "machines"}
  int digits = 2;                        // after the point
  std::vector<ReportRow> rows;
  Verdict verdict = Verdict::reported;  // of the table as a whole
  std::string why;                      // one or two sentences
};

struct PlotSeries {
  std::string title;
  std::vector<std::pair<double, double>> points;
  std::string style = "linespoints";  // gnuplot's: lines, points, linespoints, steps, boxes
};

struct ReportPlot {
  std::string name, title, x_label, y_label;  // name: as a table's
  std::vector<PlotSeries> series;
  bool log_x = false, log_y = false;
};

struct ReportSection {
  std::string name, title;   // name: of its files
  std::string introduction;  // source, model, seeds: paragraphs of Markdown
  std::vector<ReportTable> tables;
  std::vector<ReportPlot> plots;
  std::vector<std::string> notes;  // a sentence each: gates, what must not be concluded
};

[[nodiscard]] Status write_section(const ReportSection& section, const io::Path& directory);

}  // namespace gleaner::simulator
