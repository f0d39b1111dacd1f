// The files that a search leaves: report.txt, hits.tsv, scores.svg, and once hits are aligned alignments.txt
// and alignments.sam. Written as they come, so that memory is one alignment.
#pragma once

#include <fstream>

#include "apps/dsearch/report.h"
#include "apps/kit/manager.h"

namespace gleaner::dsearch {

// Without alignments.
[[nodiscard]] Status write_scores(const Search& search, kit::Output& output);

class AlignmentReport {
 public:
  [[nodiscard]] static Result<AlignmentReport> begin(const Search& search, kit::Output& output);
  // Item `item` of the second stage; in order, some may be missing.
  [[nodiscard]] Status add(std::int64_t item, const Alignment& alignment, const Wanted& wanted);
  [[nodiscard]] Status finish();

 private:
  AlignmentReport(const Search& search, kit::Output& output, Names names)
      : search_(search), output_(&output), names_(std::move(names)) {}
  Search search_;
  kit::Output* output_;
  Names names_;
  std::size_t query_ = 0;        // of the item before
  std::int64_t first_item_ = 0;  // of that query
  std::ofstream table_, text_, sam_;
};

}  // namespace gleaner::dsearch
