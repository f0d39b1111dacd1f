#include "apps/dsearch/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/kit/portable_math.h"

namespace gleaner::dsearch {
namespace {

using kit::portable_exp;
using kit::portable_log;

constexpr double ln_2 = 0.6931471805599453;
constexpr double records_min = 100;
constexpr double automatic_min = 1000;
constexpr double left_out_below = 0.01;  // expected records
constexpr double lambda_low = 1e-4, lambda_high = 20;

struct Published {
  const char* matrix;
  int existence, extension;  // BLAST's: a gap of k costs existence + k * extension
  double lambda, k;
};
constexpr Published published_parameters[] = {
    {"blosum62", 11, 2, 0.297, 0.082}, {"blosum62", 10, 2, 0.291, 0.075}, {"blosum62", 9, 2, 0.279, 0.058},
    {"blosum62", 8, 2, 0.264, 0.045},  {"blosum62", 7, 2, 0.239, 0.027},  {"blosum62", 6, 2, 0.201, 0.012},
    {"blosum62", 13, 1, 0.292, 0.071}, {"blosum62", 12, 1, 0.283, 0.059}, {"blosum62", 11, 1, 0.267, 0.041},
    {"blosum62", 10, 1, 0.243, 0.024}, {"blosum62", 9, 1, 0.206, 0.010},
};

// Records of one class of length and one score: how many, and m times their length.
struct Group {
  double score, records, space;
};

struct Law {
  double lambda = 0;
  double k = 0;
};

// The derivative of the likelihood, up to a positive factor: 1/lambda - mean + weighted mean.
double slope(const std::vector<Group>& groups, double lambda, double lowest) {
  double records = 0, sum = 0, weights = 0, weighted = 0;
  for (const Group& group : groups) {
    const double weight = group.records * group.space * portable_exp(-lambda * (group.score - lowest));
    records += group.records;
    sum += group.records * group.score;
    weights += weight;
    weighted += weight * group.score;
  }
  return 1 / lambda - sum / records + weighted / weights;
}

std::optional<Law> most_likely(const std::vector<Group>& groups) {
  double records = 0;
  double lowest = 1e300;
  for (const Group& group : groups) {
    records += group.records;
    lowest = std::min(lowest, group.score);
  }
  if (records < records_min) return std::nullopt;
  double low = lambda_low, high = lambda_high;
  if (slope(groups, low, lowest) < 0 || slope(groups, high, lowest) > 0) return std::nullopt;
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (slope(groups, middle, lowest) > 0 ? low : high) = middle;
  }
  double weights = 0;
  for (const Group& group : groups)
    weights += group.records * group.space * portable_exp(-low * (group.score - lowest));
  return Law{low, records / weights * portable_exp(low * lowest)};
}

}  // namespace

double Statistics::bits(std::int32_t score) const {
  return (lambda * score - portable_log(k)) / ln_2;
}

double Statistics::expected(std::int32_t score, std::int64_t query, std::int64_t database) const {
  return k * static_cast<double>(query) * static_cast<double>(database) * portable_exp(-lambda * score);
}

std::optional<Statistics> published(const std::string& matrix, int open, int extend) {
  for (const Published& known : published_parameters) {
    if (matrix == known.matrix && extend == known.extension && open == known.existence + known.extension)
      return Statistics{known.lambda, known.k, false};
  }
  return std::nullopt;
}

std::optional<Statistics> fit(const Histogram& histogram, const LengthClasses& classes, std::int64_t query) {
  std::vector<Group> all;
  double database = 0;
  for (const auto& [key, records] : histogram) {
    // A record too short to be compared with others says nothing, and 0 only that nothing matches.
    if (key.first < 3 || key.second <= 0 || key.second >= histogram_max) continue;
    const auto of_class = static_cast<double>(classes.records.at(key.first));
    const auto residues = static_cast<double>(classes.residues.at(key.first));
    if (of_class <= 0) continue;
    all.push_back({static_cast<double>(key.second), static_cast<double>(records),
                   static_cast<double>(query) * residues / of_class});
    database += static_cast<double>(records) * residues / of_class;
  }
  std::vector<Group> kept = all;
  for (int round = 0; round < 10; ++round) {
    const auto law = most_likely(kept);
    if (!law) return std::nullopt;
    const Statistics found{law->lambda, law->k, true};
    std::vector<Group> again;
    for (const Group& group : all) {
      const double expected =
          law->k * static_cast<double>(query) * database * portable_exp(-law->lambda * group.score);
      if (expected >= left_out_below) again.push_back(group);
    }
    if (again.size() == kept.size() || round == 9) return found;
    kept = std::move(again);
  }
  return std::nullopt;
}

std::optional<Statistics> statistics_of(const Settings& settings, const Histogram& histogram,
                                        const LengthClasses& classes, std::int64_t query) {
  if (settings.statistics == Source::none || settings.mode != Mode::local) return std::nullopt;
  const auto known = published(settings.matrix, settings.scheme.open(), settings.scheme.extend());
  if (settings.statistics == Source::table) return known;
  double records = 0;
  for (const auto& [key, number] : histogram) records += number;
  if (settings.statistics == Source::automatic && records < automatic_min) return known;
  const auto fitted = fit(histogram, classes, query);
  if (fitted || settings.statistics == Source::fit) return fitted;
  return known;
}

}  // namespace gleaner::dsearch
