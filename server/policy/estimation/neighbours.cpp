#include "server/policy/estimation/neighbours.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gleaner::policy {
namespace {

struct Near {
  double distance;
  double value;
  std::int64_t number;
};

bool nearer(const Near& a, const Near& b) {
  return a.distance != b.distance ? a.distance < b.distance : a.number > b.number;
}

double number_of(const TaskParameters& parameters, std::size_t index) {
  return index < parameters.numbers.size() ? parameters.numbers[index] : 0;
}

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// IQR / 1.349, or the standard deviation if that is nothing; 0: the parameter is constant.
double spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double range = quantile(values, 0.75) - quantile(values, 0.25);
  if (range > 0) return range / 1.349;
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  if (values.front() == values.back()) return 0;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

// Squared distances, one parameter at a time.
std::vector<double> distances(std::span<const Sample> samples, const TaskParameters& wanted,
                              const NeighbourSettings& settings) {
  std::vector<double> squares(samples.size());
  std::vector<double> column(samples.size());
  for (std::size_t index = 0; index < wanted.numbers.size(); ++index) {
    const bool logarithmic =
        index < settings.parameters.size() && settings.parameters[index] == ParameterScale::logarithmic;
    double least = wanted.numbers[index];
    for (std::size_t i = 0; i < samples.size(); ++i) {
      column[i] = number_of(*samples[i].parameters, index);
      least = std::min(least, column[i]);
    }
    const auto scale = [&](double value) { return logarithmic ? std::log1p(value - least) : value; };
    for (double& value : column) value = scale(value);
    const double spread = settings.scaled ? spread_of(column) : 1;
    if (!(spread > 0) || !std::isfinite(spread)) continue;
    const double place = scale(wanted.numbers[index]);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double difference = (column[i] - place) / spread;
      squares[i] += difference * difference;
    }
  }
  return squares;
}

// Those whose codes agree; all if none do.
std::vector<Sample> comparable(std::span<const Sample> samples, const TaskParameters& wanted,
                               Quality& quality) {
  std::vector<Sample> kept;
  for (const Sample& sample : samples) {
    if (std::isfinite(sample.value) && sample.parameters->codes == wanted.codes) kept.push_back(sample);
  }
  quality = Quality::high;
  if (!kept.empty()) return kept;
  quality = Quality::low;
  for (const Sample& sample : samples) {
    if (std::isfinite(sample.value)) kept.push_back(sample);
  }
  return kept;
}

double weighted_mean(std::span<const Near> kept) {
  double exact = 0;
  std::size_t matches = 0;
  double nearest = std::numeric_limits<double>::infinity();
  double least = nearest;
  double largest = -nearest;
  for (const Near& one : kept) {
    nearest = std::min(nearest, one.distance);
    least = std::min(least, one.value);
    largest = std::max(largest, one.value);
    if (one.distance > 0) continue;
    exact += one.value;
    ++matches;
  }
  double value = 0;
  if (matches > 0) {
    value = exact / static_cast<double>(matches);
  } else {
    double weights = 0;
    for (const Near& one : kept) {
      const double weight = nearest / one.distance;  // at most 1: cannot overflow
      value += weight * one.value;
      weights += weight;
    }
    value /= weights;
  }
  return std::clamp(value, least, largest);  // rounding must not leave the interval
}

}  // namespace

std::size_t neighbour_count(std::size_t samples, NeighbourRule rule) {
  const double power = rule == NeighbourRule::four_fifths ? 0.8 : 0.5;
  const double count = std::ceil(std::pow(static_cast<double>(samples), power) - 1e-9);
  return std::min(samples, static_cast<std::size_t>(std::max(count, 0.0)));
}

std::optional<NeighbourEstimate> nearest_neighbours(std::span<const Sample> samples,
                                                    const TaskParameters& wanted,
                                                    const NeighbourSettings& settings) {
  NeighbourEstimate estimate;
  const std::vector<Sample> kept = comparable(samples, wanted, estimate.quality);
  if (kept.empty()) return std::nullopt;
  const std::vector<double> squares = distances(kept, wanted, settings);
  std::vector<Near> near;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const double distance = std::isfinite(squares[i]) ? std::sqrt(squares[i]) : 1e300;
    near.push_back({distance, kept[i].value, kept[i].number});
  }
  const std::size_t k = neighbour_count(kept.size(), settings.rule);
  const auto at = [&](std::size_t place) { return near.begin() + static_cast<std::ptrdiff_t>(place); };
  std::partial_sort(near.begin(), at(k), near.end(), nearer);
  near.resize(k);
  auto trimmed = static_cast<std::size_t>(settings.smoothing * static_cast<double>(k) + 1e-9);
  while (trimmed > 0 && k < 2 * trimmed + 1) --trimmed;
  std::sort(near.begin(), near.end(), [](const Near& a, const Near& b) {
    return a.value != b.value ? a.value < b.value : nearer(a, b);
  });
  estimate.value = weighted_mean(std::span(near).subspan(trimmed, k - 2 * trimmed));
  return estimate;
}

std::optional<double> printed_estimate(std::span<const Sample> samples, const TaskParameters& wanted,
                                       double smoothing, std::size_t k) {
  NeighbourSettings plain;
  plain.scaled = false;
  const std::vector<double> squares = distances(samples, wanted, plain);
  std::vector<Near> near;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    near.push_back({std::sqrt(squares[i]), samples[i].value, samples[i].number});
  }
  std::sort(near.begin(), near.end(), nearer);
  near.resize(std::min(k, near.size()));
  const auto trimmed = static_cast<std::size_t>(smoothing * static_cast<double>(near.size()));
  if (near.size() <= 2 * trimmed) return std::nullopt;
  std::sort(near.begin(), near.end(), [](const Near& a, const Near& b) { return a.value < b.value; });
  const std::span<const Near> kept = std::span(near).subspan(trimmed, near.size() - 2 * trimmed);
  double distance_sum = 0;
  for (const Near& one : kept) distance_sum += one.distance;
  double sum = 0;
  for (const Near& one : kept) sum += one.value * (one.distance > 0 ? distance_sum / one.distance : 1);
  return sum;
}

}  // namespace gleaner::policy
