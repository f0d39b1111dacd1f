// TSPLIB, exhaustive search and branch and bound, against dynamic programming and counting.
#include <algorithm>

#include "apps/tsp/branch.h"
#include "apps/tsp/exhaustive.h"
#include "apps/tsp/settings.h"
#include "apps/tsp/tsplib.h"
#include "shared/base/random.h"
#include "tests/catch.h"
#include "tests/unit/apps/application.h"

namespace gleaner::tsp {
namespace {

const std::string burma14 = R"(NAME: burma14
TYPE: TSP
COMMENT: 14-Staedte in Burma (Zaw Win)
DIMENSION: 14
EDGE_WEIGHT_TYPE: GEO
EDGE_WEIGHT_FORMAT: FUNCTION
DISPLAY_DATA_TYPE: COORD_DISPLAY
NODE_COORD_SECTION
   1  16.47       96.10
   2  16.47       94.44
   3  20.09       92.54
   4  22.39       93.37
   5  25.23       97.24
   6  22.00       96.05
   7  20.47       97.02
   8  17.20       96.29
   9  16.30       97.38
  10  14.05       98.12
  11  16.53       97.38
  12  21.52       95.59
  13  19.41       97.13
  14  20.09       94.55
EOF
)";

// The first cities of a matrix as a file.
std::string file_of(const Matrix& matrix, int cities) {
  std::string text = "NAME: part\nDIMENSION: " + std::to_string(cities) +
                     "\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n";
  for (int i = 0; i < cities; ++i) {
    for (int j = 0; j < cities; ++j) text += std::to_string(matrix.at(i, j)) + " ";
    text += "\n";
  }
  return text + "EOF\n";
}

Matrix first_cities(const Matrix& matrix, int cities) {
  return read_tsplib(file_of(matrix, cities))->matrix;
}

Matrix random_matrix(int cities, bool symmetric, std::int32_t highest, Random& random) {
  Matrix matrix(cities);
  for (int i = 0; i < cities; ++i) {
    for (int j = 0; j < cities; ++j) {
      if (i == j) continue;
      const auto distance = static_cast<std::int32_t>(random.between(0, highest));
      matrix.set(i, j, distance);
      if (symmetric) matrix.set(j, i, distance);
    }
  }
  return matrix;
}

// Held and Karp 1962: the shortest tour, and of those the lexicographically first.
Outcome held_karp(const Matrix& matrix) {
  const int n = matrix.cities();
  const std::size_t sets = std::size_t{1} << n;
  // The shortest way from a city through a set to city 0.
  std::vector<std::vector<std::int64_t>> way(
      sets, std::vector<std::int64_t>(static_cast<std::size_t>(n), 1LL << 60));
  for (std::size_t set = 0; set < sets; set += 2) {
    for (int from = 0; from < n; ++from) {
      if ((set >> from & 1) != 0) continue;
      auto& shortest = way[set][static_cast<std::size_t>(from)];
      if (set == 0) shortest = matrix.at(from, 0);
      for (int next = 1; next < n; ++next) {
        if ((set >> next & 1) == 0) continue;
        const auto& after = way[set & ~(std::size_t{1} << next)];
        shortest = std::min(shortest, matrix.at(from, next) + after[static_cast<std::size_t>(next)]);
      }
    }
  }
  Outcome outcome;
  std::size_t set = sets - 2;
  outcome.length = n == 1 ? 0 : way[set][0];
  outcome.tour = {0};
  while (set != 0) {
    const int from = outcome.tour.back();
    for (int next = 1; next < n; ++next) {
      if ((set >> next & 1) == 0) continue;
      const std::size_t rest = set & ~(std::size_t{1} << next);
      if (matrix.at(from, next) + way[rest][static_cast<std::size_t>(next)] !=
          way[set][static_cast<std::size_t>(from)])
        continue;
      outcome.tour.push_back(next);
      set = rest;
      break;
    }
  }
  return outcome;
}

// All items of a problem, folded as the manager does.
Outcome whole(const Settings& settings, const Matrix& matrix, kit::CpuLevel level) {
  Bounds bounds;
  if (settings.mode == Mode::branch_and_bound) bounds = find_bounds(matrix);
  kit::ItemContext quiet;
  Outcome all;
  const int depth = prefix_depth(settings, matrix.cities());
  for (std::int64_t item = 0; item < count_prefixes(matrix.cities(), depth); ++item) {
    const Prefix prefix = prefix_of(matrix, depth, item);
    const Outcome one = settings.mode == Mode::branch_and_bound
                            ? branch_and_bound(matrix, bounds, prefix, quiet)
                            : visit_all(matrix, prefix, settings.half, level, quiet);
    const Outcome so_far = all;
    if (one.better_than(all)) all = one;
    all.visited = so_far.visited + one.visited;
    all.sum = so_far.sum + one.sum;
    if (settings.mode == Mode::exhaustive && prefix.path.size() > 1) {
      const Outcome totals = expected_totals(matrix, prefix, settings.half);
      REQUIRE(one.visited == totals.visited);
      REQUIRE(one.sum == totals.sum);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("burma14's optimum and the checksums of its first cities", "[tsp]") {
  const Instance burma = *read_tsplib(burma14);
  CHECK(burma.name == "burma14");
  CHECK(held_karp(burma.matrix).length == 3323);
  Settings settings;
  const Outcome eight = whole(settings, first_cities(burma.matrix, 8), kit::cpu_level());
  CHECK(eight.length == 2382);
  CHECK(eight.sum == 20'018'880);
  CHECK(eight.visited == 5040);
  const Outcome nine = whole(settings, first_cities(burma.matrix, 9), kit::cpu_level());
  CHECK(nine.length == 2626);
  CHECK(nine.sum == 182'266'560);
  CHECK(nine.visited == 40'320);
  settings.mode = Mode::branch_and_bound;
  const Outcome best = whole(settings, burma.matrix, kit::cpu_level());
  CHECK(best.length == 3323);
  CHECK(best.tour == held_karp(burma.matrix).tour);
}

TEST_CASE("Every tour is visited, by every variant, and the first of the best is found", "[tsp]") {
  const std::uint64_t seed = 9;
  Random random(seed);
#ifdef GLEANER_SANITIZED
  constexpr int largest = 10;
#else
  constexpr int largest = 12;
#endif
  for (int cities = 1; cities <= largest; ++cities) {
    for (const bool symmetric : {true, false}) {
      // Few different distances make many ties.
      for (const std::int32_t highest : {3, 1'000'000}) {
        INFO("seed " << seed << ", " << cities << " cities, symmetric " << symmetric << ", up to "
                     << highest);
        const Matrix matrix = random_matrix(cities, symmetric, highest, random);
        const Outcome optimum = held_karp(matrix);
        for (const kit::CpuLevel level : kit::cpu_levels()) {
          Settings settings;
          const Outcome all = whole(settings, matrix, level);
          REQUIRE(all.length == optimum.length);
          REQUIRE(all.tour == optimum.tour);
          REQUIRE(all.visited == whole_totals(matrix, false).visited);
          REQUIRE(all.sum == whole_totals(matrix, false).sum);
          if (!symmetric) continue;
          settings.half = true;
          const Outcome half = whole(settings, matrix, level);
          REQUIRE(half.length == optimum.length);
          REQUIRE(half.tour == optimum.tour);
          REQUIRE(half.visited == whole_totals(matrix, true).visited);
          REQUIRE(half.sum == whole_totals(matrix, true).sum);
        }
        Settings settings;
        settings.mode = Mode::branch_and_bound;
        const Outcome bounded = whole(settings, matrix, kit::cpu_level());
        REQUIRE(bounded.length == optimum.length);
        REQUIRE(bounded.tour == optimum.tour);
      }
    }
  }
}

TEST_CASE("The largest distances do not overflow a lane", "[tsp]") {
  Matrix matrix(exhaustive_cities_max);
  for (int i = 0; i < exhaustive_cities_max; ++i) {
    for (int j = 0; j < exhaustive_cities_max; ++j) matrix.set(i, j, i == j ? 0 : distance_max);
  }
  kit::ItemContext quiet;
  const Prefix prefix = prefix_of(matrix, 12, 77);
  std::vector<int> first = prefix.path;
  first.insert(first.end(), prefix.rest.begin(), prefix.rest.end());
  for (const kit::CpuLevel level : kit::cpu_levels()) {
    const Outcome outcome = visit_all(matrix, prefix, false, level, quiet);
    CHECK(outcome.visited == 5040);
    CHECK(outcome.sum == 5040ULL * exhaustive_cities_max * static_cast<std::uint64_t>(distance_max));
    CHECK(outcome.tour == first);
  }
}

TEST_CASE("Branch and bound is exact beyond what can be visited", "[tsp]") {
  for (const std::uint64_t seed : {1U, 2U}) {
    Settings settings;
    settings.mode = Mode::branch_and_bound;
    const Matrix matrix = random_instance(16, seed).matrix;
    const Outcome optimum = held_karp(matrix);
    const Outcome found = whole(settings, matrix, kit::cpu_level());
    CHECK(found.length == optimum.length);
    CHECK(found.tour == optimum.tour);
    const Bounds bounds = find_bounds(matrix);
    CHECK(bounds.upper >= optimum.length);
    const std::int64_t lower = scaled_lower_bound(matrix, bounds, prefix_of(matrix, 0, 0));
    CHECK(lower <= bound_scale * optimum.length);
    CHECK(lower > bound_scale * optimum.length * 8 / 10);  // the potentials are good for something
  }
}

TEST_CASE("Bounds never exceed what they bound", "[tsp]") {
  Random random(4);
  for (int round = 0; round < 60; ++round) {
    const bool symmetric = round % 2 == 0;
    const Matrix matrix = random_matrix(7, symmetric, 50, random);
    Bounds bounds = find_bounds(matrix);
    for (auto& potential : bounds.potentials)
      potential += static_cast<std::int32_t>(random.between(-300, 300));
    for (std::int64_t item = 0; item < count_prefixes(7, 2); ++item) {
      const Prefix prefix = prefix_of(matrix, 2, item);
      kit::ItemContext quiet;
      const Outcome all = visit_all(matrix, prefix, false, kit::CpuLevel::baseline, quiet);
      REQUIRE(scaled_lower_bound(matrix, bounds, prefix) <= bound_scale * all.length);
    }
  }
}

TEST_CASE("Beginnings are numbered in lexicographic order", "[tsp]") {
  Random random(1);
  const Matrix matrix = random_matrix(7, false, 9, random);
  std::vector<int> before;
  for (std::int64_t item = 0; item < count_prefixes(7, 3); ++item) {
    const Prefix prefix = prefix_of(matrix, 3, item);
    REQUIRE(prefix.path.size() == 4);
    REQUIRE(prefix.path > before);
    REQUIRE(std::is_sorted(prefix.rest.begin(), prefix.rest.end()));
    before = prefix.path;
  }
  CHECK(before == std::vector<int>{0, 6, 5, 4});
  CHECK(count_prefixes(14, 2) == 156);
  CHECK(count_prefixes(14, 3) == 1716);
}

TEST_CASE("TSPLIB's formats give the same matrix", "[tsp]") {
  const std::string head =
      "NAME : m\nTYPE : TSP\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : ";
  const auto read = [&](const std::string& format, const std::string& numbers) {
    const auto instance = read_tsplib(head + format + "\nEDGE_WEIGHT_SECTION\n" + numbers + "\nEOF\n");
    INFO(format << (instance.ok() ? "" : instance.error().message));
    REQUIRE(instance.ok());
    return instance->matrix.bytes();
  };
  const Bytes full = read("FULL_MATRIX", "0 1 2 3\n1 0 4 5\n2 4 0 6\n3 5 6 0");
  CHECK(read("UPPER_ROW", "1 2 3 4 5\n\n 6") == full);
  CHECK(read("LOWER_ROW", "1 2 4 3 5 6") == full);
  CHECK(read("UPPER_DIAG_ROW", "0 1 2 3 0 4 5 0 6 0") == full);
  CHECK(read("LOWER_DIAG_ROW", "0 1 0 2 4 0 3 5 6 0") == full);
  CHECK(read("UPPER_COL", "1 2 4 3 5 6") == full);
  CHECK(read("LOWER_COL", "1 2 3 4 5 6") == full);
  CHECK(Matrix::from_bytes(full)->bytes() == full);
  CHECK_FALSE(Matrix::from_bytes(full.substr(1)).ok());
  const auto plane = [](const std::string& type) {
    return read_tsplib("DIMENSION: 2\r\nEDGE_WEIGHT_TYPE: " + type +
                       "\r\nNODE_COORD_SECTION\r\n1 0 0\r\n2 3.5 4.7\r\nEOF\r\n")
        ->matrix.at(0, 1);
  };
  CHECK(plane("EUC_2D") == 6);  // 5.86
  CHECK(plane("CEIL_2D") == 6);
  CHECK(plane("MAN_2D") == 8);  // 8.2
  CHECK(plane("MAX_2D") == 5);
  CHECK(plane("ATT") == 2);  // 1.85
}

TEST_CASE("Wrong TSPLIB files are told with their line", "[tsp]") {
  const auto complaint = [](const std::string& text) {
    const auto instance = read_tsplib(text);
    return instance.ok() ? "ok" : instance.error().message;
  };
  const std::string plane = "DIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n";
  CHECK(complaint("") == "input cities: DIMENSION is missing: is this a TSPLIB file?");
  CHECK(complaint("NAME: x\nDIMENSION: 99\n") == "input cities, line 2: DIMENSION must be 1 to 40, not 99");
  CHECK(complaint("TYPE: CVRP\n") == "input cities, line 1: TYPE must be TSP or ATSP, not CVRP");
  CHECK(complaint("HELLO\n") == "input cities, line 1: unknown keyword HELLO");
  CHECK(complaint("DIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_3D\n").find("'EUC_3D' is not one of") !=
        std::string::npos);
  CHECK(complaint(plane + "2 5 x\n") == "input cities, line 5: expected a number, not x");
  CHECK(complaint(plane + "2 5 1e9\nEOF\n")
            .find("must be a whole number from 0 to 1000000: scale the distances") != std::string::npos);
  CHECK(complaint(plane).find("ends within") != std::string::npos);
}

TEST_CASE("Tours have the properties of an application", "[tsp]") {
  test::check_properties({"tsp", R"({"random_cities": 10, "seed": 5})", {}, 21});
  test::check_properties({"tsp", R"({"random_cities": 11, "seed": 6, "symmetry": true})", {}, 22});
  test::check_properties({"tsp", R"({"mode": "branch-and-bound"})", {{"cities", burma14}}, 23});
}

TEST_CASE("The report proves that all tours were visited", "[tsp]") {
  test::Application application("tsp", R"({"symmetry": true})",
                                {{"cities", file_of(read_tsplib(burma14)->matrix, 9)}});
  REQUIRE(application.plan().starts_with(
      "items 56\nname beginnings of tours\nhints hints-0.txt\ninput matrix matrix.bin\n"));
  const test::Items items = application.compute({0, 56});
  const test::Files files = application.combine(items, {{0, 56}});
  const std::string& report = files.at("report.json");
  CHECK(report.find("\"length\": 2626,") != std::string::npos);
  CHECK(report.find("\"visited\": 20160,") != std::string::npos);
  CHECK(report.find("\"sum_of_lengths_modulo_2_64\": 91133280,") != std::string::npos);
  CHECK(report.find("\"proven_complete\": true") != std::string::npos);
  // A count, a sum or a length that is slightly off is detected.
  for (const std::size_t byte : {0U, 8U, 16U}) {
    std::string wrong = items.at(3);
    ++wrong[byte];
    CHECK(application.validate({3, 4}, {{3, wrong}}).starts_with("invalid beginning 3: "));
  }
}

TEST_CASE("A tour problem's parameters are checked with messages", "[tsp]") {
  const auto answer = [](const std::string& parameters) { return test::complaint("tsp", parameters); };
  CHECK(answer(R"({"random_cities": 12})") == "ok");
  CHECK(answer("{}") == "error give a TSPLIB file as the input `cities`, or set `random_cities`");
  CHECK(answer(R"({"random_cities": 21})") ==
        "error random_cities: at most 20 cities can be searched exhaustively: take branch-and-bound");
  CHECK(answer(R"({"random_cities": 21, "mode": "branch-and-bound"})") == "ok");
  CHECK(answer(R"({"random_cities": 9, "mode": "branch-and-bound", "symmetry": true})")
            .find("always uses it") != std::string::npos);
  Matrix one_way(2);
  one_way.set(0, 1, 1);
  CHECK(test::complaint("tsp", R"({"symmetry": true})", {{"cities", file_of(one_way, 2)}}) ==
        "error symmetry: the distances are not the same in both directions: leave it out");
  for (const char* wrong : {R"({"random_cities": -1})", R"({"random_cities": 41})", R"({"mode": "fast"})",
                            R"({"random_cities": 5, "symmetry": 1})", R"({"random_cities": 5, "sead": 1})"})
    CHECK(answer(wrong).starts_with("error "));
}

}  // namespace gleaner::tsp
