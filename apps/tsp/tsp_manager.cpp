#include "apps/tsp/tsp_manager.h"

#include <algorithm>
#include <random>

#include "apps/kit/svg.h"

namespace gleaner::tsp {
namespace {

constexpr std::int64_t cities_file_max = 1 << 20;
constexpr std::int64_t hinted_items_max = 1'000'000;
constexpr std::uint64_t quick_tours = 40'000'000;  // 11!: some ten milliseconds
constexpr std::uint64_t quick_visits = 20'000;
constexpr unsigned recompute_one_in = 4;  // segments

std::string draw(const Instance& instance, const std::vector<int>& tour) {
  constexpr int side = 640;
  constexpr double margin = 30;
  double low[2] = {1e300, 1e300};
  double high[2] = {-1e300, -1e300};
  // TSPLIB's geographical coordinates are latitude, longitude; the others x, y. Drawn as x, y.
  for (const auto& [x, y] : instance.places) {
    low[0] = std::min(low[0], x), high[0] = std::max(high[0], x);
    low[1] = std::min(low[1], y), high[1] = std::max(high[1], y);
  }
  const double extent = std::max({high[0] - low[0], high[1] - low[1], 1e-9});
  kit::Points points;
  for (const int city : tour) {
    const auto& [x, y] = instance.places[static_cast<std::size_t>(city)];
    points.emplace_back(margin + (x - low[0]) / extent * (side - 2 * margin),
                        side - margin - (y - low[1]) / extent * (side - 2 * margin));
  }
  kit::Svg svg(side, side);
  svg.polyline(points, "#1f5fa8", 2, true);
  for (std::size_t i = 0; i < points.size(); ++i) {
    svg.circle(points[i].first, points[i].second, 4, i == 0 ? "#c4541a" : "black");
    svg.text(points[i].first + 7, points[i].second - 5, std::to_string(tour[i] + 1));
  }
  return svg.finish();
}

}  // namespace

Status TspManager::check(const kit::Problem& problem) {
  TRY_ASSIGN(settings_, read_settings(problem));
  if (settings_.random_cities > 0) {
    instance_ = random_instance(static_cast<int>(settings_.random_cities), settings_.seed);
  } else {
    const auto text = problem.read_input("cities", cities_file_max);
    if (!text.ok()) {
      if (text.error().kind != ErrorKind::not_found) return text.error();
      return Error{ErrorKind::invalid, "give a TSPLIB file as the input `cities`, or set `random_cities`"};
    }
    TRY_ASSIGN(instance_, read_tsplib(*text));
  }
  if (settings_.mode == Mode::exhaustive && instance_.matrix.cities() > exhaustive_cities_max) {
    return Error{ErrorKind::invalid, "mode: " + std::to_string(instance_.matrix.cities()) +
                                         " cities have too many tours to visit all; at most " +
                                         std::to_string(exhaustive_cities_max) +
                                         ", or take \"branch-and-bound\""};
  }
  if (settings_.half && !instance_.matrix.symmetric())
    return Error{ErrorKind::invalid,
                 "symmetry: the distances are not the same in both directions: leave it out"};
  if (settings_.mode == Mode::branch_and_bound) bounds_ = find_bounds(instance_.matrix);
  return {};
}

std::int64_t TspManager::items() const {
  return count_prefixes(instance_.matrix.cities(), prefix_depth(settings_, instance_.matrix.cities()));
}

std::vector<kit::ItemHint> TspManager::hints() const {
  const Matrix& matrix = instance_.matrix;
  const int depth = prefix_depth(settings_, matrix.cities());
  const bool uneven = settings_.mode == Mode::branch_and_bound || settings_.half;
  if (!uneven || items() > hinted_items_max) return {};
  std::vector<kit::ItemHint> all;
  const std::int64_t upper = bound_scale * bounds_.upper;
  double root = 1e300;
  std::vector<double> gaps;
  for (std::int64_t item = 0; item < items(); ++item) {
    const Prefix prefix = prefix_of(matrix, depth, item);
    if (settings_.mode == Mode::exhaustive) {
      const std::uint64_t tours = prefix.path.size() > 1 ? expected_totals(matrix, prefix, true).visited : 1;
      const double part =
          static_cast<double>(tours) / static_cast<double>(factorial(static_cast<int>(prefix.rest.size())));
      all.push_back({std::max(part, 0.001), {static_cast<std::int64_t>(tours)}});
      continue;
    }
    gaps.push_back(static_cast<double>(upper - scaled_lower_bound(matrix, bounds_, prefix)));
    root = std::min(root, -gaps.back());
  }
  // What can be gained at best under a beginning says roughly how much of its tree survives.
  for (const double gap : gaps) {
    const double share = root < 0 ? std::max(gap, 0.0) / -root : 0;
    all.push_back({std::max(share * share * share, 0.001), {static_cast<std::int64_t>(1000 * share)}});
  }
  return all;
}

Result<std::optional<kit::Stage>> TspManager::plan(int stage) {
  if (stage > 0) return std::optional<kit::Stage>{};
  TRY(kit::write_file("matrix.bin", instance_.matrix.bytes()));
  kit::Stage planned{items(), "beginnings of tours", hints(), {{"matrix", "matrix.bin", std::nullopt}}};
  if (settings_.mode == Mode::branch_and_bound) {
    TRY(kit::write_file("bounds.bin", encode(bounds_)));
    planned.inputs.push_back({"bounds", "bounds.bin", std::nullopt});
  }
  return std::optional(std::move(planned));
}

Status TspManager::check_item(std::int64_t item, std::string_view bytes) const {
  const auto invalid = [](const std::string& why) { return Error{ErrorKind::invalid, why}; };
  const Matrix& matrix = instance_.matrix;
  TRY_ASSIGN(const Outcome outcome, decode(bytes));
  const Prefix prefix = prefix_of(matrix, prefix_depth(settings_, matrix.cities()), item);
  if (!outcome.tour.empty()) {
    if (!matrix.is_tour(outcome.tour) ||
        !std::equal(prefix.path.begin(), prefix.path.end(), outcome.tour.begin()))
      return invalid("its tour is none with this beginning");
    if (matrix.length(outcome.tour) != outcome.length)
      return invalid("its tour has another length than it says");
    const bool one_way = settings_.half || (settings_.mode == Mode::branch_and_bound && matrix.symmetric());
    if (one_way && outcome.tour.size() > 2 && outcome.tour[1] > outcome.tour.back())
      return invalid("its tour runs in the direction that does not count");
  }
  if (settings_.mode == Mode::branch_and_bound) {
    if (outcome.visited == 0 || outcome.sum != 0 || outcome.length > bounds_.upper)
      return invalid("it is no outcome of branch and bound");
    return {};
  }
  if (prefix.path.size() < 2) return recompute(item, bytes);  // few cities
  const Outcome totals = expected_totals(matrix, prefix, settings_.half);
  if (outcome.visited != totals.visited) {
    return invalid("it visited " + std::to_string(outcome.visited) + " tours, not " +
                   std::to_string(totals.visited));
  }
  if (outcome.sum != totals.sum) return invalid("the sum of its tours is wrong: not all were visited");
  if (outcome.tour.empty() != (totals.visited == 0)) return invalid("its best tour is missing");
  return {};
}

Status TspManager::recompute(std::int64_t item, std::string_view bytes) const {
  TRY_ASSIGN(const Outcome outcome, decode(bytes));
  const std::uint64_t quick = settings_.mode == Mode::exhaustive ? quick_tours : quick_visits;
  if (outcome.visited > quick) return {};
  kit::ItemContext quiet;
  if (encode(compute_item(settings_, instance_.matrix, bounds_, item, quiet)) == bytes) return {};
  return Error{ErrorKind::invalid, "computed again, it comes out differently"};
}

Result<kit::Validation> TspManager::validate(int stage, kit::SegmentReader& segment) {
  const Range range = segment.range();
  // One item, which the sender cannot foresee.
  std::random_device device;
  const std::int64_t chosen = device() % recompute_one_in == 0 && !range.empty()
                                  ? range.begin + static_cast<std::int64_t>(device()) % range.size()
                                  : -1;
  return kit::check_each(segment, stage == 0 ? items() : 0, "beginning",
                         [&](std::int64_t item, std::string_view bytes) -> Status {
                           TRY(check_item(item, bytes));
                           return item == chosen ? recompute(item, bytes) : Status();
                         });
}

Status TspManager::report(kit::ItemSource& items, kit::Output& output, bool all) const {
  const Matrix& matrix = instance_.matrix;
  Outcome best;
  std::uint64_t visited = 0;
  std::uint64_t sum = 0;
  for (;;) {
    TRY_ASSIGN(const std::optional<kit::Item> item, items.next());
    if (!item) break;
    TRY_ASSIGN(const Outcome outcome, decode(item->bytes));
    visited += outcome.visited;
    sum += outcome.sum;
    if (outcome.better_than(best)) best = outcome;
    output.progress(items.fraction());
  }
  if (all && best.tour.empty()) return Error{ErrorKind::internal, "no item has a tour"};
  std::string text = "{\n  \"name\": \"" + instance_.name +
                     "\",\n  \"cities\": " + std::to_string(matrix.cities()) + ",\n  \"mode\": \"" +
                     (settings_.mode == Mode::exhaustive ? "exhaustive" : "branch-and-bound") +
                     "\",\n  \"length\": " + (best.tour.empty() ? "null" : std::to_string(best.length)) +
                     ",\n  \"visited\": " + std::to_string(visited);
  if (settings_.mode == Mode::exhaustive) {
    const Outcome totals = whole_totals(matrix, settings_.half);
    const bool proven = visited == totals.visited && sum == totals.sum;
    if (all && !proven)
      return Error{ErrorKind::internal, "the checksum does not prove that all tours were visited"};
    text += ",\n  \"tours\": " + std::to_string(totals.visited) +
            ",\n  \"sum_of_lengths_modulo_2_64\": " + std::to_string(sum) +
            ",\n  \"expected_sum\": " + std::to_string(totals.sum) +
            ",\n  \"proven_complete\": " + (proven ? "true" : "false");
  }
  text += ",\n  \"tour\": [";
  for (std::size_t i = 0; i < best.tour.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(best.tour[i] + 1);
  TRY(kit::write_file(output.directory() / "report.json", text + "]\n}\n"));
  output.result("report.json", "application/json");
  if (best.tour.empty()) return {};
  TRY(kit::write_file(output.directory() / "best.tour", write_tour(instance_.name, best.tour, best.length)));
  output.result("best.tour", "text/plain");
  if (instance_.places.empty()) return {};
  TRY(kit::write_file(output.directory() / "tour.svg", draw(instance_, best.tour)));
  output.result("tour.svg", "image/svg+xml");
  return {};
}

Status TspManager::combine(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage != 0) return Error{ErrorKind::invalid, "tsp has one stage: 0"};
  TRY(items.require_all(this->items()));
  return report(items, output, true);
}

Status TspManager::preview(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage != 0) return Error{ErrorKind::invalid, "tsp has one stage: 0"};
  TRY(items.require_within(this->items()));
  return report(items, output, false);
}

}  // namespace gleaner::tsp
