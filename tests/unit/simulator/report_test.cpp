// The reproduction report's files.
#include <unistd.h>

#include "tests/catch.h"
#include "tools/papers/report/report.h"

using namespace gleaner;
using namespace gleaner::simulator;

namespace {

class ReportDirectory {
 public:
  ReportDirectory() : path_(io::Path("/tmp") / ("gleaner-report-" + std::to_string(getpid()))) {}
  ~ReportDirectory() { (void)io::real_files().remove_all(path_); }
  [[nodiscard]] const io::Path& path() const { return path_; }
  [[nodiscard]] std::string text(const std::string& name) const {
    auto bytes = io::real_files().read(path_ / name, 1 << 20);
    REQUIRE(bytes.ok());
    return {bytes->begin(), bytes->end()};
  }

 private:
  io::Path path_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a section becomes Markdown, CSV and a plot") {
  ReportSection section;
  section.name = "example";
  section.title = "An example";
  section.introduction = "Two cells.";
  ReportTable table{"table1", "Table 1", {"scene", "machines"}, 1, {}, Verdict::not_reproduced, "one is off"};
  table.rows.push_back({{"A", "4"}, 1.25, 1.26, Verdict::reproduced, {}});
  table.rows.push_back({{"B", "4"}, {}, 2, Verdict::reported, "nothing was printed, \"lost\""});
  section.tables.push_back(table);
  ReportPlot plot{"figure", "Sizes \"of\" units", "request", "items", {}, false, true};
  plot.series.push_back({"wis", {{1, 10}, {2, 5}}, "steps"});
  section.plots.push_back(plot);
  section.notes = {"Nothing is gated."};

  const ReportDirectory directory;
  const Status written = write_section(section, directory.path());
  INFO((written.ok() ? std::string() : written.error().message));
  REQUIRE(written.ok());
  const std::string markdown = directory.text("example.md");
  CHECK(contains(markdown, "## An example\n"));
  CHECK(contains(markdown, "**not reproduced**: one is off"));
  CHECK(contains(markdown, "| A | 4 | 1.2 | 1.3 | reproduced |  |"));
  CHECK(contains(markdown, "| B | 4 | – | 2.0 | reported |"));
  CHECK(contains(markdown, "(example_figure.svg)"));
  CHECK(contains(markdown, "- Nothing is gated."));
  CHECK(contains(directory.text("example_table1.csv"),
                 "scene,machines,published,ours,verdict,why\nA,4,1.25,1.260"));
  CHECK(contains(directory.text("example_table1.csv"), "\"nothing was printed, \"\"lost\"\"\""));
  CHECK(contains(directory.text("example_figure.gp"), "set logscale y"));
  if (io::real_files().exists("/usr/bin/gnuplot")) {
    CHECK(contains(directory.text("example_figure.svg"), "</svg>"));
  }
}

TEST_CASE("a directory that cannot be made is said") {
  ReportSection section;
  section.name = "example";
  const Status written = write_section(section, "/proc/nowhere");
  REQUIRE_FALSE(written.ok());
  CHECK(contains(written.error().message, "/proc/nowhere"));
}
