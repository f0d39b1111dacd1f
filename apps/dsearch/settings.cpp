#include "apps/dsearch/settings.h"

#include <algorithm>
#include <limits>

namespace gleaner::dsearch {
namespace {

constexpr std::int64_t top_max = 10'000;
constexpr std::int64_t score_max = 1 << 30;
constexpr std::int64_t item_cells_default = std::int64_t{1} << 31;
constexpr double evalue_default = 10;
constexpr double evalue_highest = 1e9;

Result<Scheme> read_scheme(kit::Parameters& parameters, std::string& matrix) {
  std::vector<std::string> names;
  for (const MatrixName& known : matrix_names()) names.push_back(known.name);
  matrix = parameters.choice("matrix", names, "blosum62");
  const auto found = std::find_if(matrix_names().begin(), matrix_names().end(),
                                  [&](const MatrixName& known) { return known.name == matrix; });
  const auto match = static_cast<int>(parameters.integer("match", {1, cost_max}, 5));
  const auto mismatch = static_cast<int>(parameters.integer("mismatch", {-cost_max, 0}, -4));
  if (matrix != "dna") {
    for (const char* key : {"match", "mismatch"}) {
      if (parameters.has(key)) parameters.mistake(key, "is for matrix \"dna\" only: leave it out");
    }
  }
  const auto open = static_cast<int>(parameters.integer("gap_open", {1, cost_max}, found->open));
  const auto extend =
      static_cast<int>(parameters.integer("gap_extend", {1, cost_max}, std::min(found->extend, open)));
  if (extend > open)
    parameters.mistake("gap_extend", "must not be above gap_open, the cost of a gap's first residue");
  return Scheme::create(matrix, match, mismatch, open, extend);
}

}  // namespace

Result<Settings> read_settings(const kit::Problem& problem) {
  TRY_ASSIGN(kit::Parameters parameters, problem.parameters());
  Settings settings;
  const std::string mode = parameters.choice("mode", {"sw", "nw", "sg"}, "sw");
  settings.mode = mode == "sw" ? Mode::local : mode == "nw" ? Mode::global : Mode::semi_global;
  TRY_ASSIGN(settings.scheme, read_scheme(parameters, settings.matrix));
  settings.admission.mode = settings.mode;
  settings.admission.top = parameters.integer("top", {1, top_max}, 50);
  const bool local = settings.mode == Mode::local;
  settings.admission.score_min = static_cast<std::int32_t>(
      parameters.integer("score_min", {local ? 1 : -score_max, score_max}, local ? 1 : -score_max));
  settings.evalue_max = parameters.number("evalue_max", {0, evalue_highest}, evalue_default);
  const std::string source = parameters.choice("statistics", {"auto", "fit", "table", "none"}, "auto");
  settings.statistics = source == "auto"    ? Source::automatic
                        : source == "fit"   ? Source::fit
                        : source == "table" ? Source::table
                                            : Source::none;
  if (!local) {
    settings.statistics = Source::none;
    for (const char* key : {"evalue_max", "statistics"}) {
      if (parameters.has(key))
        parameters.mistake(key, "is for mode \"sw\": only local alignments have that theory");
    }
  }
  settings.chunk_residues = parameters.integer("chunk_residues", {0, chunk_residues_max}, 0);
  settings.item_cells = parameters.integer("item_cells", {1, std::int64_t{1} << 40}, item_cells_default);
  TRY(parameters.finish());
  return settings;
}

}  // namespace gleaner::dsearch
