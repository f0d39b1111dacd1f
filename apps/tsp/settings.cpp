#include "apps/tsp/settings.h"

#include <algorithm>

namespace gleaner::tsp {
namespace {

constexpr std::int64_t seed_max = std::int64_t{1} << 53;
constexpr int item_rest_max = 12;  // cities: 479,001,600 tours, about a tenth of a second with AVX2

class TourKernel final : public kit::Kernel {
 public:
  TourKernel(const Settings& settings, Matrix matrix, Bounds bounds)
      : settings_(settings), matrix_(std::move(matrix)), bounds_(std::move(bounds)) {}
  [[nodiscard]] Result<Bytes> compute(int stage, std::int64_t item, kit::ItemContext& context) override {
    if (stage != 0) return Error{ErrorKind::invalid, "tsp has one stage: 0"};
    if (item < 0 || item >= count_prefixes(matrix_.cities(), prefix_depth(settings_, matrix_.cities())))
      return Error{ErrorKind::invalid, "there is no such beginning"};
    return encode(compute_item(settings_, matrix_, bounds_, item, context));
  }

 private:
  Settings settings_;
  Matrix matrix_;
  Bounds bounds_;
};

}  // namespace

Result<Settings> read_settings(const kit::Problem& problem) {
  TRY_ASSIGN(kit::Parameters parameters, problem.parameters());
  Settings settings;
  const bool exhaustive =
      parameters.choice("mode", {"exhaustive", "branch-and-bound"}, "exhaustive") == "exhaustive";
  settings.mode = exhaustive ? Mode::exhaustive : Mode::branch_and_bound;
  settings.half = parameters.boolean("symmetry", false);
  settings.random_cities = parameters.integer("random_cities", {0, cities_max}, 0);
  settings.seed = static_cast<std::uint64_t>(parameters.integer("seed", {0, seed_max}, 1));
  if (exhaustive && settings.random_cities > exhaustive_cities_max) {
    parameters.mistake("random_cities", "at most " + std::to_string(exhaustive_cities_max) +
                                            " cities can be searched exhaustively: take branch-and-bound");
  }
  if (!exhaustive && settings.half)
    parameters.mistake("symmetry", "is for mode \"exhaustive\": branch-and-bound always uses it");
  TRY(parameters.finish());
  return settings;
}

int prefix_depth(const Settings& settings, int cities) {
  if (settings.mode == Mode::branch_and_bound) return cities < 5 ? 0 : cities < 12 ? 2 : 3;
  return cities < 9 ? 0 : std::max(2, cities - 1 - item_rest_max);
}

Outcome compute_item(const Settings& settings, const Matrix& matrix, const Bounds& bounds, std::int64_t item,
                     kit::ItemContext& context) {
  const Prefix prefix = prefix_of(matrix, prefix_depth(settings, matrix.cities()), item);
  if (settings.mode == Mode::branch_and_bound) return branch_and_bound(matrix, bounds, prefix, context);
  return visit_all(matrix, prefix, settings.half, kit::cpu_level(), context);
}

Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& problem) {
  TRY_ASSIGN(const Settings settings, read_settings(problem));
  TRY_ASSIGN(const Bytes bytes, problem.read_input("matrix", 1 << 20));
  TRY_ASSIGN(Matrix matrix, Matrix::from_bytes(bytes));
  if (settings.mode == Mode::exhaustive && matrix.cities() > exhaustive_cities_max)
    return Error{ErrorKind::invalid, "too many cities to visit all tours"};
  Bounds bounds;
  if (settings.mode == Mode::branch_and_bound) {
    TRY_ASSIGN(const Bytes encoded, problem.read_input("bounds", 1 << 20));
    TRY_ASSIGN(bounds, decode_bounds(encoded, matrix.cities()));
  }
  return std::unique_ptr<kit::Kernel>(
      std::make_unique<TourKernel>(settings, std::move(matrix), std::move(bounds)));
}

}  // namespace gleaner::tsp
