// The sections of the reproduction report, one a file: each runs the library's own objects under the
// published conditions and sets the published numbers beside what comes out. To add one: a file with a
// function NAME_section(), its line here and in sections.cpp.
//
// A section runs in one thread, from its options alone: the same seed gives the same report.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "shared/base/result.h"
#include "tools/papers/report/report.h"

namespace gleaner::simulator {

struct ReproductionOptions {
  bool full = false;        // more seeds: within an hour; otherwise all sections together within ten minutes
  std::uint64_t seed = 11;  // of the first run
  std::function<void(double share)> progress = [](double) {};  // called now and then with 0..1
};

struct SectionEntry {
  std::string name;  // what the command line and the files call it
  std::string summary;
  Result<ReportSection> (*make)(const ReproductionOptions& options);
};

[[nodiscard]] SectionEntry wis_section();         // wis.cpp
[[nodiscard]] SectionEntry loops_section();       // loops.cpp
[[nodiscard]] SectionEntry dlt_section();         // dlt.cpp
[[nodiscard]] SectionEntry tree_section();        // tree.cpp
[[nodiscard]] SectionEntry estimation_section();  // estimation.cpp
[[nodiscard]] SectionEntry mapping_section();     // mapping.cpp

// All, in the order of the report.
[[nodiscard]] std::span<const SectionEntry> reproduction_sections();

}  // namespace gleaner::simulator
