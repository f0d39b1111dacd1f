#include "apps/dsearch/dsearch_manager.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "apps/kit/packing.h"

namespace gleaner::dsearch {
namespace {

// In the working directory, so that they last.
constexpr const char* layout_file = "layout.bin";
constexpr const char* size_file = "database.bin";
constexpr const char* found_file = "found.bin";
constexpr const char* pieces_file = "pieces.bin";

constexpr std::int64_t own_file_max = std::int64_t{1} << 34;
constexpr std::int64_t queries_residues_max = 100'000'000;
constexpr std::int64_t hits_in_all_max = 200'000;
constexpr std::int64_t windows_max = std::int64_t{1} << 30;  // residues of all hits' windows
constexpr std::int64_t pair_cells_max = std::int64_t{1}
                                        << 36;  // one item, and no host should need minutes for it
constexpr std::int64_t align_cells_max = std::int64_t{1} << 32;  // likewise, residue by residue
constexpr std::int64_t gap_cost_max = std::int64_t{1} << 29;     // of leaving out a whole record
constexpr std::int64_t piece_residues = 1 << 20;
constexpr std::int64_t chunks_wanted = 64;
constexpr std::int64_t chunk_residues_min = 1 << 16;
constexpr std::int64_t chunk_residues_default_max = 4 << 20;
constexpr std::int64_t checked_cells = 500'000'000;  // of one segment

const Error no_such_stage{ErrorKind::invalid, "dsearch has two stages: 0 and 1"};

Bytes encode(const DatabaseSize& size) {
  Bytes bytes;
  for (const std::int64_t value : {size.records, size.residues, size.longest}) kit::pack(bytes, value);
  for (const auto* classes : {&size.classes.records, &size.classes.residues}) {
    for (const std::int64_t value : *classes) kit::pack(bytes, value);
  }
  return bytes;
}

Result<DatabaseSize> decode_size(std::string_view bytes) {
  kit::Unpacker unpacker(bytes);
  DatabaseSize size;
  for (std::int64_t* value : {&size.records, &size.residues, &size.longest})
    *value = unpacker.get<std::int64_t>();
  for (auto* classes : {&size.classes.records, &size.classes.residues}) {
    for (std::int64_t& value : *classes) value = unpacker.get<std::int64_t>();
  }
  if (!unpacker.complete()) return Error{ErrorKind::io, std::string(size_file) + " is damaged"};
  return size;
}

Result<std::filesystem::path> needed_input(const kit::Problem& problem, const char* name) {
  auto path = problem.input_path(name);
  if (!path.ok() && path.error().kind == ErrorKind::not_found) {
    return Error{ErrorKind::invalid,
                 std::string("give the inputs `query` and `database` as FASTA files (they may be "
                             "gzipped): `") +
                     name + "` is missing"};
  }
  return path;
}

}  // namespace

// ---- A new problem ------------------------------------------------------------------------------

Status DsearchManager::check(const kit::Problem& problem) {
  TRY_ASSIGN(settings_, read_settings(problem));
  problem_ = problem;
  planned_ = false;
  chunk_.reset();
  found_.reset();
  piece_.clear();
  TRY(read_queries(problem));
  TRY_ASSIGN(const std::filesystem::path database, needed_input(problem, "database"));
  const Alphabet alphabet = settings_.scheme.alphabet();
  if (std::filesystem::exists(layout_file)) {  // planned before a restart
    TRY_ASSIGN(const Bytes size, kit::read_file(size_file, own_file_max));
    TRY_ASSIGN(size_, decode_size(size));
    TRY_ASSIGN(const Bytes layout, kit::read_file(layout_file, own_file_max));
    TRY_ASSIGN(layout_, decode_layout(layout));
    planned_ = true;
    return {};
  }
  TRY_ASSIGN(size_, measure_database(database, alphabet));
  return check_sizes();
}

Status DsearchManager::read_queries(const kit::Problem& problem) {
  TRY_ASSIGN(const std::filesystem::path path, needed_input(problem, "query"));
  FastaLimits limits;
  limits.record_residues = query_residues_max;
  limits.records = queries_max;
  limits.residues = queries_residues_max;
  layout_ = Layout{};
  layout_.alphabet = settings_.scheme.alphabet();
  names_.clear();
  TRY(read_fasta(path, layout_.alphabet, "input query", limits, [&](Record&& record) -> Status {
    if (record.codes.empty())
      return Error{ErrorKind::invalid, "input query: " + record.name + " has no residues"};
    layout_.queries.push_back(std::move(record.codes));
    names_.push_back({std::move(record.name), std::move(record.description)});
    return {};
  }));
  if (names_.empty()) return Error{ErrorKind::invalid, "input query: it has no record: is this FASTA?"};
  const auto queries = static_cast<std::int64_t>(names_.size());
  if (queries * settings_.admission.top > hits_in_all_max) {
    return Error{ErrorKind::invalid, "top: " + std::to_string(queries) + " queries with " +
                                         std::to_string(settings_.admission.top) +
                                         " hits each are more than " + std::to_string(hits_in_all_max) +
                                         " alignments: lower it"};
  }
  return {};
}

Status DsearchManager::check_sizes() const {
  std::int64_t longest = 0;
  for (const std::string& query : layout_.queries)
    longest = std::max(longest, static_cast<std::int64_t>(query.size()));
  const bool local = settings_.mode == Mode::local;
  if (longest * size_.longest > (local ? pair_cells_max : align_cells_max)) {
    return Error{ErrorKind::invalid, "input database: its longest record, " + std::to_string(size_.longest) +
                                         " residues, is too long for a query of " + std::to_string(longest) +
                                         (local ? ": split it" : ": split it, or take mode \"sw\"")};
  }
  if (!local && settings_.scheme.extend() * size_.longest > gap_cost_max)
    return Error{ErrorKind::invalid, "gap_extend: too high for a record of " + std::to_string(size_.longest) +
                                         " residues: lower it"};
  return {};
}

// ---- Planning -----------------------------------------------------------------------------------

Result<std::optional<kit::Stage>> DsearchManager::plan(int stage) {
  if (stage == 0) {
    TRY_ASSIGN(kit::Stage planned, plan_scores());
    return std::optional(std::move(planned));
  }
  if (stage > 1) return std::optional<kit::Stage>{};
  TRY(load_found());
  if (found_->hits() == 0) return std::optional<kit::Stage>{};  // nothing to align
  TRY_ASSIGN(kit::Stage planned, plan_alignments());
  return std::optional(std::move(planned));
}

Result<kit::Stage> DsearchManager::plan_scores() {
  TRY_ASSIGN(const std::filesystem::path database, needed_input(*problem_, "database"));
  std::int64_t chunk = settings_.chunk_residues;
  if (chunk == 0)
    chunk = std::clamp(size_.residues / chunks_wanted, chunk_residues_min, chunk_residues_default_max);
  // Two chunks that follow each other have more than `chunk` together.
  chunk = std::max(chunk, 2 * (size_.residues + 8 * size_.records) / (chunks_max - 2) + 1);
  TRY_ASSIGN(layout_.chunks, write_chunks(database, layout_.alphabet, chunk));
  layout_.group_queries(std::max<std::int64_t>(1, settings_.item_cells / std::min(chunk, size_.residues)));
  TRY(kit::write_file(size_file, encode(size_)));
  TRY(kit::write_file(layout_file, dsearch::encode(layout_)));
  planned_ = true;
  kit::Stage planned{layout_.items(), "scores", {}, {{"layout", layout_file, std::nullopt}}};
  const auto groups = static_cast<std::int64_t>(layout_.groups.size() - 1);
  std::vector<std::int64_t> residues;  // of each group
  for (std::size_t group = 0; group + 1 < layout_.groups.size(); ++group) {
    residues.push_back(0);
    for (std::uint32_t query = layout_.groups[group]; query < layout_.groups[group + 1]; ++query)
      residues.back() += static_cast<std::int64_t>(layout_.queries[query].size());
  }
  const double mean =
      static_cast<double>(std::accumulate(residues.begin(), residues.end(), std::int64_t{0})) *
      static_cast<double>(size_.residues) / static_cast<double>(layout_.items());
  for (std::size_t i = 0; i < layout_.chunks.size(); ++i) {
    const Layout::Chunk& of = layout_.chunks[i];
    const auto first = static_cast<std::int64_t>(i) * groups;
    planned.inputs.push_back({chunk_name(i), chunk_name(i), Range{first, first + groups}});
    for (const std::int64_t query : residues) {
      const double cells = static_cast<double>(query) * static_cast<double>(of.residues);
      planned.hints.push_back(
          {std::max(cells / mean, 0.001),
           {query, static_cast<std::int64_t>(of.residues), static_cast<std::int64_t>(of.records)}});
    }
  }
  // Each query's best hits are aligned later, within windows of about twice its length.
  double aligned = 0;
  for (const auto& query : layout_.queries) aligned += 2.0 * static_cast<double>(query.size() * query.size());
  planned.ahead = std::min(static_cast<double>(settings_.admission.top), static_cast<double>(size_.records)) *
                  aligned / mean;
  return planned;
}

Result<kit::Stage> DsearchManager::plan_alignments() {
  // In order of queries and ranks; the windows come from the chunks, one after the other.
  std::vector<Wanted> all;
  for (std::size_t query = 0; query < found_->queries.size(); ++query) {
    for (const Hit& hit : found_->queries[query].hits) {
      Wanted wanted;
      wanted.query = static_cast<std::uint32_t>(query);
      wanted.hit = hit;
      all.push_back(std::move(wanted));
    }
  }
  std::vector<std::size_t> by_record(all.size());
  std::iota(by_record.begin(), by_record.end(), std::size_t{0});
  std::sort(by_record.begin(), by_record.end(),
            [&](std::size_t a, std::size_t b) { return all[a].hit.record < all[b].hit.record; });
  std::size_t index = 0;
  std::int64_t residues = 0;
  for (const std::size_t at : by_record) {
    Wanted& wanted = all[at];
    while (wanted.hit.record >= layout_.chunks[index].first + layout_.chunks[index].records) ++index;
    TRY(load_chunk(index));
    const std::string_view record = chunk_->records[wanted.hit.record - layout_.chunks[index].first];
    wanted.record_length = static_cast<std::uint32_t>(record.size());
    std::size_t end = record.size();
    if (settings_.mode == Mode::local) {
      // As many residues as it has of the query, and gaps that its best score could pay for.
      const std::size_t query = layout_.queries[wanted.query].size();
      const auto gaps =
          query * static_cast<std::size_t>(settings_.scheme.highest() / settings_.scheme.extend() + 1);
      end = wanted.hit.record_end + std::size_t{1};
      wanted.window_begin = static_cast<std::uint32_t>(end - std::min(end, query + gaps));
    }
    wanted.window = record.substr(wanted.window_begin, end - wanted.window_begin);
    residues += static_cast<std::int64_t>(wanted.window.size());
    if (residues > windows_max)
      return Error{ErrorKind::too_large, "top: the hits' records are too long to align so many: lower it"};
  }
  kit::Stage planned{static_cast<std::int64_t>(all.size()),
                     "alignments",
                     {},
                     {{"layout", layout_file, std::nullopt}, {"pieces", pieces_file, std::nullopt}}};
  const std::int64_t in_a_piece = std::max(piece_residues, 2 * residues / (chunks_max - 2) + 1);
  double cells = 0;
  for (const Wanted& wanted : all)
    cells +=
        static_cast<double>(layout_.queries[wanted.query].size()) * static_cast<double>(wanted.window.size());
  pieces_.assign(1, 0);
  std::vector<Wanted> piece;
  std::int64_t sum = 0;
  const auto close = [&](std::size_t end) -> Status {
    const std::string name = piece_name(pieces_.size() - 1);
    TRY(kit::write_file(name, dsearch::encode(layout_.alphabet, piece)));
    planned.inputs.push_back({name, name, Range{pieces_.back(), static_cast<std::int64_t>(end)}});
    piece.clear();
    sum = 0;
    return {};
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto query = static_cast<std::int64_t>(layout_.queries[all[i].query].size());
    const auto window = static_cast<std::int64_t>(all[i].window.size());
    planned.hints.push_back({std::max(static_cast<double>(query) * static_cast<double>(window) /
                                          (cells / static_cast<double>(all.size())),
                                      0.001),
                             {query, window}});
    if (sum > 0 && sum + window > in_a_piece) {
      TRY(close(i));
      pieces_.push_back(static_cast<std::int64_t>(i));
    }
    sum += window;
    piece.push_back(std::move(all[i]));
  }
  TRY(close(all.size()));
  TRY(kit::write_file(pieces_file, encode_pieces(pieces_)));
  return planned;
}

// ---- What is kept in files ------------------------------------------------------------------------

std::int64_t DsearchManager::items(int stage) const {
  if (stage == 0 && planned_) return layout_.items();
  return stage == 1 && found_ ? found_->hits() : 0;
}

Status DsearchManager::load_chunk(std::size_t index) {
  if (chunk_ && loaded_ == index) return {};
  chunk_.reset();
  TRY_ASSIGN(const Bytes bytes, kit::read_file(chunk_name(index), own_file_max));
  TRY_ASSIGN(chunk_, decode_chunk(layout_, index, bytes));
  loaded_ = index;
  return {};
}

Status DsearchManager::load_found() {
  if (found_) return {};
  TRY_ASSIGN(const Bytes bytes, kit::read_file(found_file, own_file_max));
  TRY_ASSIGN(found_, decode_found(bytes));
  if (found_->queries.size() != layout_.queries.size())
    return Error{ErrorKind::io, std::string(found_file) + " is of other queries"};
  return {};
}

Result<const Wanted*> DsearchManager::wanted(std::int64_t item) {
  if (pieces_.empty()) {
    TRY_ASSIGN(const Bytes bytes, kit::read_file(pieces_file, own_file_max));
    TRY_ASSIGN(pieces_, decode_pieces(bytes));
  }
  TRY_ASSIGN(const std::size_t index, piece_of(pieces_, item));
  if (piece_.empty() || loaded_piece_ != index) {
    TRY_ASSIGN(const Bytes bytes, kit::read_file(piece_name(index), own_file_max));
    TRY_ASSIGN(piece_, decode_wanted(layout_, bytes));
    loaded_piece_ = index;
  }
  const auto at = static_cast<std::size_t>(item - pieces_[index]);
  if (at >= piece_.size()) return Error{ErrorKind::invalid, "there is no such hit"};
  return &piece_[at];
}

// ---- Checking -----------------------------------------------------------------------------------

// Rescores all hits, or as many as `cells` allow, and a record that the sender cannot foresee.
Status DsearchManager::check_records(std::int64_t item, std::size_t at, const QueryHits& query,
                                     std::int64_t& cells) {
  const auto invalid = [](const char* why) { return Error{ErrorKind::invalid, why}; };
  const std::size_t index = layout_.chunk_of(item);
  TRY(load_chunk(index));
  const std::uint64_t first = layout_.chunks[index].first;
  const std::string& residues = layout_.queries[layout_.groups[layout_.group_of(item)] + at];
  Scorer scorer(settings_.mode, settings_.scheme, residues, kit::cpu_level());
  std::random_device device;
  std::vector<Hit> hits = query.hits;
  const auto charge = [&](std::string_view record) {
    cells -= static_cast<std::int64_t>(residues.size() * record.size());
  };
  while (!hits.empty() && cells > 0) {
    std::swap(hits[device() % hits.size()], hits.back());
    const Hit hit = hits.back();
    hits.pop_back();
    const std::string_view record = chunk_->records[hit.record - first];
    if (record.empty()) return invalid("a hit is a record without residues");
    charge(record);
    if (settings_.mode != Mode::local) {
      if (hit.query_end != 0 || hit.record_end != 0)
        return invalid("its hits have ends that they need not have");
      if (scorer.score(record) != hit.score) return invalid("a record does not have the score that it says");
      continue;
    }
    const Ends ends = scorer.ends(record);
    if (ends.score != hit.score) return invalid("a record does not have the score that it says");
    if (ends.query != hit.query_end || ends.record != hit.record_end)
      return invalid("a hit does not end where it says");
  }
  if (cells <= 0 && device() % 8 != 0) return {};
  const std::uint64_t chosen = first + device() % chunk_->records.size();
  const std::string_view record = chunk_->records[chosen - first];
  charge(record);
  const std::int32_t score = scorer.score(record);
  if (!query.histogram.contains({length_class(record.size()), histogram_score(settings_.mode, score)}))
    return invalid("a record's score is missing in its histogram");
  const bool listed =
      std::any_of(query.hits.begin(), query.hits.end(), [&](const Hit& hit) { return hit.record == chosen; });
  const bool full = query.hits.size() == static_cast<std::size_t>(settings_.admission.top);
  const bool belongs = !record.empty() && score >= settings_.admission.score_min &&
                       (!full || Hit{score, chosen, 0, 0} < query.hits.back());
  if (belongs && !listed) return invalid("a better record than its hits is missing");
  return {};
}

Status DsearchManager::check_scores(std::int64_t item, std::string_view bytes, std::int64_t& cells) {
  TRY_ASSIGN(
      const std::vector<QueryHits> queries,
      decode_hits(item, layout_.queries_of(item), layout_.records_of(item), settings_.admission, bytes));
  for (std::size_t at = 0; at < queries.size(); ++at) TRY(check_records(item, at, queries[at], cells));
  return {};
}

Result<kit::Validation> DsearchManager::validate(int stage, kit::SegmentReader& segment) {
  if (stage == 1) TRY(load_found());
  std::int64_t cells = checked_cells;
  return kit::check_each(segment, items(stage), stage == 0 ? "item" : "hit",
                         [&](std::int64_t item, std::string_view bytes) -> Status {
                           if (stage == 0) return check_scores(item, bytes, cells);
                           TRY_ASSIGN(Alignment alignment, decode_alignment(item, bytes));
                           TRY_ASSIGN(const Wanted* hit, wanted(item));
                           return check_alignment(settings_.mode, settings_.scheme, layout_, *hit,
                                                  std::move(alignment));
                         });
}

// ---- Combining ----------------------------------------------------------------------------------

Status DsearchManager::collect(kit::ItemSource& items, kit::Output& output, Found& found) {
  found.queries.resize(layout_.queries.size());
  for (;;) {
    TRY_ASSIGN(const std::optional<kit::Item> item, items.next());
    if (!item) break;
    TRY_ASSIGN(std::vector<QueryHits> queries,
               decode_hits(item->index, layout_.queries_of(item->index), layout_.records_of(item->index),
                           settings_.admission, item->bytes));
    found.add(layout_.groups[layout_.group_of(item->index)], std::move(queries), settings_.admission.top);
    output.progress(items.fraction());
  }
  found.finish(settings_, layout_, size_);
  return {};
}

Status DsearchManager::combine(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage == 0) {
    TRY(items.require_all(this->items(0)));
    Found found;
    TRY(collect(items, output, found));
    TRY(kit::write_file(found_file, dsearch::encode(found)));
    found_ = std::move(found);
    return write_scores({settings_, layout_, size_, names_, *found_}, output);
  }
  if (stage != 1) return no_such_stage;
  TRY(load_found());
  TRY(items.require_all(this->items(1)));
  return report_alignments(items, output);
}

Status DsearchManager::preview(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage == 0) {
    TRY(items.require_within(this->items(0)));
    Found found;
    TRY(collect(items, output, found));
    return write_scores({settings_, layout_, size_, names_, found}, output);
  }
  if (stage != 1) return no_such_stage;
  TRY(load_found());
  TRY(items.require_within(this->items(1)));
  return report_alignments(items, output);
}

Status DsearchManager::report_alignments(kit::ItemSource& items, kit::Output& output) {
  TRY_ASSIGN(AlignmentReport report,
             AlignmentReport::begin({settings_, layout_, size_, names_, *found_}, output));
  for (;;) {
    TRY_ASSIGN(const std::optional<kit::Item> item, items.next());
    if (!item) break;
    TRY_ASSIGN(const Alignment alignment, decode_alignment(item->index, item->bytes));
    TRY_ASSIGN(const Wanted* hit, wanted(item->index));
    TRY(check_alignment(settings_.mode, settings_.scheme, layout_, *hit, alignment));
    TRY(report.add(item->index, alignment, *hit));
    output.progress(items.fraction());
  }
  return report.finish();
}

}  // namespace gleaner::dsearch
