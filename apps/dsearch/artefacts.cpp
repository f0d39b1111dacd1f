#include "apps/dsearch/artefacts.h"

namespace gleaner::dsearch {
namespace {

constexpr const char* tsv = "text/tab-separated-values";

Status write_summary(const Search& search, Names& names, kit::Output& output) {
  TRY_ASSIGN(const std::string text, summary(search, names));
  TRY(kit::write_file(output.directory() / "report.txt", text));
  output.result("report.txt", "text/plain");
  TRY(kit::write_file(output.directory() / "scores.svg", scores_chart(search)));
  output.result("scores.svg", "image/svg+xml");
  return {};
}

}  // namespace

Status write_scores(const Search& search, kit::Output& output) {
  TRY_ASSIGN(Names names, Names::open());
  std::string table = table_header();
  for (std::size_t query = 0; query < search.found.queries.size(); ++query) {
    std::int64_t rank = 0;
    for (const Hit& hit : search.found.queries[query].hits) {
      Told told{query, ++rank, &hit, {}, nullptr};
      TRY_ASSIGN(told.record, names.of(hit.record));
      table += table_line(search, told);
    }
  }
  TRY(kit::write_file(output.directory() / "hits.tsv", table));
  output.result("hits.tsv", tsv);
  return write_summary(search, names, output);
}

Result<AlignmentReport> AlignmentReport::begin(const Search& search, kit::Output& output) {
  TRY_ASSIGN(Names names, Names::open());
  TRY_ASSIGN(const std::string header, sam_header(search, names));
  AlignmentReport report(search, output, std::move(names));
  const auto directory = output.directory();
  report.table_.open(directory / "hits.tsv", std::ios::binary | std::ios::trunc);
  report.text_.open(directory / "alignments.txt", std::ios::binary | std::ios::trunc);
  report.sam_.open(directory / "alignments.sam", std::ios::binary | std::ios::trunc);
  report.table_ << table_header();
  report.sam_ << header;
  return report;
}

Status AlignmentReport::add(std::int64_t item, const Alignment& alignment, const Wanted& wanted) {
  const auto& queries = search_.found.queries;
  while (query_ < queries.size() &&
         item - first_item_ >= static_cast<std::int64_t>(queries[query_].hits.size()))
    first_item_ += static_cast<std::int64_t>(queries[query_++].hits.size());
  if (query_ == queries.size() || query_ != wanted.query)
    return Error{ErrorKind::internal, "an alignment is of no hit"};
  const Hit& hit = queries[query_].hits[static_cast<std::size_t>(item - first_item_)];
  Told told{query_, item - first_item_ + 1, &hit, {}, &alignment};
  TRY_ASSIGN(told.record, names_.of(hit.record));
  table_ << table_line(search_, told);
  text_ << alignment_text(search_, told, wanted);
  sam_ << sam_line(search_, told);
  if (!table_ || !text_ || !sam_)
    return Error{ErrorKind::io, "cannot write the alignments (is the disk full?)"};
  return {};
}

Status AlignmentReport::finish() {
  for (std::ofstream* file : {&table_, &text_, &sam_}) {
    file->close();
    if (!*file) return Error{ErrorKind::io, "cannot write the alignments (is the disk full?)"};
  }
  output_->result("hits.tsv", tsv);
  output_->result("alignments.txt", "text/plain");
  output_->result("alignments.sam", tsv);
  return write_summary(search_, names_, *output_);
}

}  // namespace gleaner::dsearch
