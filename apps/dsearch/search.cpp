#include "apps/dsearch/search.h"

#include "shared/base/limits.h"

namespace gleaner::dsearch {
namespace {

constexpr std::int64_t layout_bytes_max = std::int64_t{1} << 30;
constexpr std::int64_t chunk_bytes_max = std::int64_t{1} << 29;

class SearchKernel final : public kit::Kernel {
 public:
  SearchKernel(const kit::Problem& problem, Settings settings, Layout layout)
      : problem_(problem), settings_(std::move(settings)), layout_(std::move(layout)) {}

  [[nodiscard]] Result<Bytes> compute(int stage, std::int64_t item, kit::ItemContext& context) override {
    if (stage == 0) return score(item, context);
    if (stage == 1) return aligned(item, context);
    return Error{ErrorKind::invalid, "dsearch has two stages: 0 and 1"};
  }

 private:
  Result<Bytes> score(std::int64_t item, kit::ItemContext& context) {
    if (item < 0 || item >= layout_.items()) return Error{ErrorKind::invalid, "there is no such item"};
    const kit::CpuLevel level = kit::cpu_level();
    if (const std::size_t index = layout_.chunk_of(item); !block_ || index != loaded_) {
      block_.reset();
      TRY_ASSIGN(const Bytes bytes, problem_.read_input(chunk_name(index), chunk_bytes_max));
      TRY_ASSIGN(chunk_, decode_chunk(layout_, index, bytes));
      block_.emplace(chunk_.records, settings_.mode == Mode::local && has_lanes(level));
      loaded_ = index;
    }
    return search_chunk(settings_, layout_, *block_, item, level, context);
  }

  Result<Bytes> aligned(std::int64_t item, kit::ItemContext& context) {
    if (!pieces_) {
      TRY_ASSIGN(const Bytes bytes, problem_.read_input("pieces", layout_bytes_max));
      TRY_ASSIGN(pieces_, decode_pieces(bytes));
    }
    TRY_ASSIGN(const std::size_t index, piece_of(*pieces_, item));
    if (wanted_.empty() || index != loaded_piece_) {
      TRY_ASSIGN(const Bytes bytes, problem_.read_input(piece_name(index), chunk_bytes_max));
      TRY_ASSIGN(wanted_, decode_wanted(layout_, bytes));
      loaded_piece_ = index;
    }
    const auto at = static_cast<std::size_t>(item - (*pieces_)[index]);
    if (at >= wanted_.size()) return Error{ErrorKind::invalid, "there is no such hit"};
    const auto going_on = [&](double part) {
      context.progress(part);
      return !context.abandoned();
    };
    TRY_ASSIGN(const Alignment alignment,
               align(settings_.mode, settings_.scheme, layout_, wanted_[at], going_on));
    return encode(item, alignment);
  }

  const kit::Problem problem_;
  const Settings settings_;
  const Layout layout_;
  std::size_t loaded_ = 0;
  Chunk chunk_;
  std::optional<RecordBlock> block_;  // of chunk_
  std::optional<std::vector<std::int64_t>> pieces_;
  std::size_t loaded_piece_ = 0;
  std::vector<Wanted> wanted_;
};

QueryHits hits_of(const Settings& settings, const std::vector<std::string_view>& records,
                  const std::vector<std::int32_t>& scores, std::uint64_t first) {
  QueryHits found;
  for (std::size_t i = 0; i < records.size(); ++i) {
    ++found.histogram[{length_class(records[i].size()), histogram_score(settings.mode, scores[i])}];
    if (!records[i].empty() && scores[i] >= settings.admission.score_min)
      found.hits.push_back({scores[i], first + i, 0, 0});
  }
  keep_best(found.hits, settings.admission.top);
  return found;
}

}  // namespace

Bytes search_chunk(const Settings& settings, const Layout& layout, const RecordBlock& block,
                   std::int64_t item, kit::CpuLevel level, kit::ItemContext& context) {
  const std::size_t group = layout.group_of(item);
  const std::uint64_t first = layout.records_of(item).first;
  std::vector<QueryHits> found;
  std::vector<std::int32_t> scores;
  const auto queries = static_cast<double>(layout.queries_of(item));
  for (std::uint32_t query = layout.groups[group]; query < layout.groups[group + 1]; ++query) {
    Scorer scorer(settings.mode, settings.scheme, layout.queries[query], level);
    scorer.scores(block, scores, [&](double part) {
      context.progress((static_cast<double>(found.size()) + part) / queries);
      return !context.abandoned();
    });
    if (context.abandoned()) return {};
    found.push_back(hits_of(settings, block.records(), scores, first));
    if (settings.mode != Mode::local) continue;
    for (Hit& hit : found.back().hits) {
      const Ends ends = scorer.ends(block.records()[hit.record - first]);
      hit.query_end = ends.query;
      hit.record_end = ends.record;
    }
  }
  return encode(item, found);
}

Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& problem) {
  TRY_ASSIGN(Settings settings, read_settings(problem));
  TRY_ASSIGN(const Bytes bytes, problem.read_input("layout", layout_bytes_max));
  TRY_ASSIGN(Layout layout, decode_layout(bytes));
  if (layout.alphabet != settings.scheme.alphabet())
    return Error{ErrorKind::invalid, "the layout is of another alphabet than the matrix"};
  return std::unique_ptr<kit::Kernel>(
      std::make_unique<SearchKernel>(problem, std::move(settings), std::move(layout)));
}

}  // namespace gleaner::dsearch
