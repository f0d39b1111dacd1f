// What the items of a search mean: cuts the database into chunks, rescores hits and records that a host
// cannot foresee, keeps the best ones, has them aligned, and tells of them.
#pragma once

#include <optional>

#include "apps/dsearch/artefacts.h"
#include "apps/dsearch/database.h"
#include "apps/dsearch/found.h"
#include "apps/dsearch/layout.h"
#include "apps/dsearch/settings.h"
#include "apps/kit/manager.h"

namespace gleaner::dsearch {

class DsearchManager final : public kit::Manager {
 public:
  [[nodiscard]] Status check(const kit::Problem& problem) override;
  [[nodiscard]] Result<std::optional<kit::Stage>> plan(int stage) override;
  [[nodiscard]] Result<kit::Validation> validate(int stage, kit::SegmentReader& segment) override;
  [[nodiscard]] Status combine(int stage, kit::ItemSource& items, kit::Output& output) override;
  [[nodiscard]] Status preview(int stage, kit::ItemSource& items, kit::Output& output) override;

 private:
  [[nodiscard]] Status read_queries(const kit::Problem& problem);
  [[nodiscard]] Status check_sizes() const;
  [[nodiscard]] Result<kit::Stage> plan_scores();
  [[nodiscard]] Result<kit::Stage> plan_alignments();
  [[nodiscard]] Status load_chunk(std::size_t index);
  [[nodiscard]] Status load_found();
  [[nodiscard]] Status check_scores(std::int64_t item, std::string_view bytes, std::int64_t& cells);
  [[nodiscard]] Status check_records(std::int64_t item, std::size_t at, const QueryHits& query,
                                     std::int64_t& cells);
  [[nodiscard]] Result<const Wanted*> wanted(std::int64_t item);
  [[nodiscard]] Status collect(kit::ItemSource& items, kit::Output& output, Found& found);
  [[nodiscard]] Status report_alignments(kit::ItemSource& items, kit::Output& output);
  [[nodiscard]] std::int64_t items(int stage) const;

  Settings settings_;
  std::optional<kit::Problem> problem_;
  std::vector<QueryName> names_;
  DatabaseSize size_;
  Layout layout_;
  bool planned_ = false;  // layout_ has chunks
  std::size_t loaded_ = 0;
  std::optional<Chunk> chunk_;
  std::optional<Found> found_;        // once the first stage was combined
  std::vector<std::int64_t> pieces_;  // likewise
  std::size_t loaded_piece_ = 0;
  std::vector<Wanted> piece_;
};

}  // namespace gleaner::dsearch
