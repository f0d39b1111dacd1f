// Estimation: the golden counter-examples of the printed form, the properties of the corrected one, the
// fall-back chain and the clamps (server/policy/estimation/ESTIMATION.md).
#include <algorithm>
#include <cmath>

#include "server/policy/estimation/clamps.h"
#include "server/policy/estimation/estimator.h"
#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

struct Seen {
  TaskParameters parameters;
  double value;
};

std::vector<Sample> samples_of(const std::vector<Seen>& seen) {
  std::vector<Sample> samples;
  for (const Seen& one : seen) {
    samples.push_back({&one.parameters, one.value, static_cast<std::int64_t>(samples.size())});
  }
  return samples;
}

double estimate(const std::vector<Seen>& seen, const TaskParameters& wanted,
                const NeighbourSettings& settings = {}) {
  const auto found = nearest_neighbours(samples_of(seen), wanted, settings);
  REQUIRE(found.has_value());
  return found->value;
}

std::vector<Seen> random_history(Random& random, std::size_t count, std::size_t parameters) {
  std::vector<Seen> seen(count);
  for (Seen& one : seen) {
    for (std::size_t i = 0; i < parameters; ++i) one.parameters.numbers.push_back(10 * random.uniform());
    one.value = 1 + 100 * random.uniform();
  }
  return seen;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

TEST_CASE("as printed, the estimate is y squared times too large and an exact match weighs least") {
  // Constant 7, four neighbours at the same distance.
  std::vector<Seen> seen{{{{1, 0}, {}}, 7}, {{{-1, 0}, {}}, 7}, {{{0, 1}, {}}, 7}, {{{0, -1}, {}}, 7}};
  CHECK(printed_estimate(samples_of(seen), {{0, 0}, {}}, 0, 4) == 112);
  CHECK(estimate(seen, {{0, 0}, {}}) == 7);
  // Four exact matches.
  for (Seen& one : seen) one.parameters.numbers = {0, 0};
  CHECK(printed_estimate(samples_of(seen), {{0, 0}, {}}, 0, 4) == 28);
  CHECK(estimate(seen, {{0, 0}, {}}) == 7);
  // An exact match of 100 and two of 1 at distance 1: weights 1, 2, 2.
  seen = {{{{0, 0}, {}}, 100}, {{{1, 0}, {}}, 1}, {{{0, 1}, {}}, 1}};
  CHECK(printed_estimate(samples_of(seen), {{0, 0}, {}}, 0, 3) == 104);
  CHECK(estimate(seen, {{0, 0}, {}}, {.smoothing = 0}) == 100);
  // L of a half and an even k leave nothing.
  CHECK(!printed_estimate(samples_of(seen), {{0, 0}, {}}, 0.5, 2).has_value());
}

TEST_CASE("k of the two rules") {
  CHECK(neighbour_count(0, NeighbourRule::four_fifths) == 0);
  CHECK(neighbour_count(1, NeighbourRule::four_fifths) == 1);
  CHECK(neighbour_count(100, NeighbourRule::four_fifths) == 40);
  CHECK(neighbour_count(10000, NeighbourRule::four_fifths) == 1585);
  CHECK(neighbour_count(32, NeighbourRule::four_fifths) == 16);  // 2^4 exactly
  CHECK(neighbour_count(100, NeighbourRule::square_root) == 10);
  CHECK(neighbour_count(101, NeighbourRule::square_root) == 11);
  CHECK(neighbour_count(2, NeighbourRule::four_fifths) == 2);
}

TEST_CASE("properties of the corrected estimate on random histories") {
  const std::uint64_t seed = 2126;
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 60; ++round) {
    const std::size_t count = 1 + random.below(60);
    const std::size_t parameters = random.below(4);
    std::vector<Seen> seen = random_history(random, count, parameters);
    TaskParameters wanted = random_history(random, 1, parameters)[0].parameters;
    NeighbourSettings settings;
    settings.smoothing = 0.49 * random.uniform();
    settings.rule = random.chance(0.5) ? NeighbourRule::four_fifths : NeighbourRule::square_root;
    INFO("round " << round << ", " << count << " observations of " << parameters << " parameters");
    const double value = estimate(seen, wanted, settings);
    const auto [low, high] = std::minmax_element(
        seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return a.value < b.value; });
    CHECK(value >= low->value);
    CHECK(value <= high->value);
    // Any order of the observations. (Equal distances go by number, which stays with its observation.)
    std::vector<Sample> samples = samples_of(seen);
    for (std::size_t i = samples.size() - 1; i > 0; --i) std::swap(samples[i], samples[random.below(i + 1)]);
    CHECK(nearest_neighbours(samples, wanted, settings)->value == Approx(value).epsilon(1e-9));
    // Twice the times: twice the estimate.
    std::vector<Seen> doubled = seen;
    for (Seen& one : doubled) one.value *= 2;
    CHECK(estimate(doubled, wanted, settings) == Approx(2 * value).epsilon(1e-9));
    // All parameters moved, and one in another unit.
    std::vector<Seen> moved = seen;
    TaskParameters there = wanted;
    for (std::size_t i = 0; i < parameters; ++i) {
      const auto map = [&](double& number) { number = (number + 4) * (i == 0 ? 1024 : 1); };
      for (Seen& one : moved) map(one.parameters.numbers[i]);
      map(there.numbers[i]);
    }
    CHECK(estimate(moved, there, settings) == Approx(value).epsilon(1e-6));
    // Constant times.
    for (Seen& one : seen) one.value = 7;
    CHECK(estimate(seen, wanted, settings) == Approx(7));
  }
}

TEST_CASE("few, equal and absent observations") {
  CHECK(!nearest_neighbours({}, {{1}, {}}).has_value());
  CHECK(estimate({{{{3}, {}}, 42}}, {{99}, {}}) == 42);
  // No parameters: all are exact matches, so a trimmed mean: 20 values, k = 11 newest, one off each end.
  std::vector<Seen> plain(20);
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i].value = static_cast<double>(i);
  CHECK(neighbour_count(20, NeighbourRule::four_fifths) == 11);
  CHECK(estimate(plain, {}) == Approx(14));  // of 10 to 18
  // Duplicates and huge values stay finite.
  std::vector<Seen> same(8, {{{1e300, 5}, {}}, 3});
  CHECK(estimate(same, {{-1e300, 5}, {}}) == 3);
  same[0].parameters.numbers[0] = -1e300;
  CHECK(estimate(same, {{0, 5}, {}}) == 3);
}

TEST_CASE("an exact match that is not trimmed decides; one that is does not") {
  std::vector<Seen> seen;
  for (int i = 0; i < 19; ++i) seen.push_back({{{1.0 + i}, {}}, 10.0 + i});
  seen.push_back({{{0}, {}}, 15});
  CHECK(estimate(seen, {{0}, {}}) == 15);
  seen.back().value = 1000;  // the largest of all: left out
  CHECK(estimate(seen, {{0}, {}}) < 30);
}

TEST_CASE("codes must agree; if none does, everything counts and the quality is low") {
  const std::vector<Seen> seen{{{{1}, {"stage-1"}}, 10}, {{{1}, {"stage-2"}}, 500}};
  const auto same = nearest_neighbours(samples_of(seen), {{1}, {"stage-2"}});
  CHECK(same->value == 500);
  CHECK(same->quality == Quality::high);
  const auto other = nearest_neighbours(samples_of(seen), {{1}, {"stage-3"}});
  CHECK(other->quality == Quality::low);
  CHECK(other->value == 255);
}

TEST_CASE("scaling keeps an irrelevant parameter of a large range from drowning the others") {
  const std::uint64_t seed = 5;
  INFO("seed " << seed);
  Random random(seed);
  std::vector<Seen> seen;
  for (int i = 0; i < 300; ++i) {
    const double x = 1 + 9 * random.uniform();
    seen.push_back({{{x, 1e6 * random.uniform()}, {}}, x * x * (1 + 0.05 * random.normal(0, 1))});
  }
  std::vector<double> scaled;
  std::vector<double> unscaled;
  for (int i = 0; i < 60; ++i) {
    const double x = 1 + 9 * random.uniform();
    const TaskParameters wanted{{x, 1e6 * random.uniform()}, {}};
    scaled.push_back(std::abs(estimate(seen, wanted) / (x * x) - 1));
    unscaled.push_back(std::abs(estimate(seen, wanted, {.scaled = false}) / (x * x) - 1));
  }
  CHECK(median(scaled) < 0.5 * median(unscaled));
}

TEST_CASE("a logarithmic parameter is compared by ratio") {
  std::vector<Seen> seen;
  for (int i = 0; i < 20; ++i) seen.push_back({{{std::pow(10.0, i / 4.0)}, {}}, static_cast<double>(i)});
  NeighbourSettings settings{.smoothing = 0, .parameters = {ParameterScale::logarithmic}};
  const double logarithmic = estimate(seen, {{std::pow(10.0, 4.5)}, {}}, settings);
  CHECK(std::abs(logarithmic - 18) < std::abs(estimate(seen, {{std::pow(10.0, 4.5)}, {}}) - 18) + 3);
  CHECK(logarithmic == Approx(18));
}

TEST_CASE("the smoothed average") {
  SmoothedAverage average(0.2);
  CHECK(!average.value());
  average.add(10);
  CHECK(*average.value() == 10);
  average.add(20);
  CHECK(*average.value() == Approx(12));
  average.add(std::nan(""));
  CHECK(*average.value() == Approx(12));
  SmoothedAverage first(0);
  SmoothedAverage last(1);
  SmoothedAverage constant(0.37);
  for (const double value : {5.0, 9.0, 1.0}) {
    first.add(value);
    last.add(value);
    constant.add(4);
  }
  CHECK(*first.value() == 5);
  CHECK(*last.value() == 1);
  CHECK(*constant.value() == Approx(4));
}

TEST_CASE("clamps and the two ratios") {
  CHECK(computation_to_communication(100, 4) == 25);
  CHECK(error_weight(0.5, 100, 4) == Approx(0.02));
  CHECK(error_weight(0, 100, 4) == Approx(1e-3 / 25));
  CHECK(error_weight(50, 100, 0) == Approx(10 * 1e-3 / 100));
  CHECK(error_weight(std::nan(""), 0, 0) == 1);
  CHECK(clamped_seconds(std::nan("")) == 1e-3);
  CHECK(communication_seconds(10, 8) == 2);
  CHECK(communication_seconds(8, 10) == 0);
  CHECK(is_plausible_rate(83.8));
  CHECK(!is_plausible_rate(0));
  CHECK(!is_plausible_rate(2e7));
  CHECK(!is_plausible_rate(std::nan("")));
}

TEST_CASE("the fall-back chain of an estimate") {
  EstimatorSettings settings;
  settings.pooled = false;
  settings.declared_work = 600;
  const TaskParameters task{{2}, {"a"}};
  const HostSpeed fast{HostId{1}, 100, 1000, 0.5};
  const HostSpeed slow{HostId{2}, 50, 0, 0};
  SECTION("nothing at all") {
    const TaskEstimator blank;
    const TaskEstimate estimate = blank.estimate(fast, task, 2000);
    CHECK(estimate.quality == Quality::unknown);
    CHECK(estimate.communication == Approx(2.5));  // bytes over bandwidth, and the latency
    CHECK(estimate.error == 1);
  }
  SECTION("declared, then learned, then seen here") {
    TaskEstimator estimator(settings);
    CHECK(estimator.estimate(slow, task, 0).computation == Approx(12));
    CHECK(estimator.estimate(slow, task, 0).quality == Quality::low);
    CHECK(estimator.estimate(slow, task, 0).communication == Approx(1e-3));
    estimator.add(HostId{1}, {task, 4, 1, 100, 6, 1, 0});
    const TaskEstimate other = estimator.estimate(slow, task, 0);
    CHECK(other.quality == Quality::medium);
    CHECK(other.computation == Approx(8));  // (2.8): 400 MFLOP at 50
    CHECK(other.error == Approx(0.5));      // the problem's: |6 - 4| / 4
    const TaskEstimate here = estimator.estimate(fast, task, 5000);
    CHECK(here.quality == Quality::high);
    CHECK(here.computation == Approx(4));
    CHECK(here.communication == Approx(1));
    CHECK(here.error == Approx(0.5));
  }
  SECTION("few of its own: those of all hosts, by the rates") {
    settings.pooled = true;
    TaskEstimator estimator(settings);
    for (int i = 0; i < 4; ++i)
      estimator.add(HostId{1}, {{{1.0 + i}, {"a"}}, 4.0 * (1 + i), 1, 100, 0, 0, 0});
    const TaskEstimate estimate = estimator.estimate(slow, {{2}, {"a"}}, 0);
    CHECK(estimate.computation == Approx(16));  // 8 s at 100 MFLOP/s
    CHECK(estimate.quality == Quality::medium);
    CHECK(estimate.error == 1);  // nobody predicted anything yet
  }
  SECTION("a host without a rate counts as the middle one; nonsense is dropped") {
    TaskEstimator estimator(settings);
    estimator.add(HostId{1}, {task, 4, 1, 100, 0, 0, 0});
    estimator.add(HostId{1}, {task, std::nan(""), 1, 100, 0, 0, 0});
    estimator.add(HostId{1}, {task, -3, 1, 100, 0, 0, 0});
    CHECK(estimator.estimate({HostId{9}, 0, 0, 0}, task, 0).computation == Approx(4));
    CHECK(estimator.estimate({HostId{9}, std::nan(""), 0, 0}, task, 0).computation == Approx(4));
  }
}

TEST_CASE("what is remembered is bounded, and old tasks are forgotten first") {
  EstimatorSettings settings;
  settings.ring = 3;
  settings.hosts_most = 2;
  settings.pooled = false;
  TaskEstimator estimator(settings);
  const TaskParameters task{{1}, {}};
  for (const double seconds : {100.0, 5.0, 5.0, 5.0})
    estimator.add(HostId{1}, {task, seconds, 0, 10, 0, 0, 0});
  CHECK(estimator.estimate({HostId{1}, 10, 0, 0}, task, 0).computation == Approx(5));
  estimator.add(HostId{2}, {task, 7, 0, 10, 0, 0, 0});
  estimator.add(HostId{3}, {task, 9, 0, 10, 0, 0, 0});  // host 1, the longest silent, is forgotten
  CHECK(estimator.estimate({HostId{1}, 10, 0, 0}, task, 0).quality == Quality::medium);
  CHECK(estimator.estimate({HostId{2}, 10, 0, 0}, task, 0).quality == Quality::high);
}

TEST_CASE("the predicted error is a bound on average: prequential errors on noisy tasks") {
  const std::uint64_t seed = 99;
  INFO("seed " << seed);
  Random random(seed);
  TaskEstimator estimator;
  double predicted = 0;
  double actual = 0;
  int judged = 0;
  for (int i = 0; i < 400; ++i) {
    const double x = 1 + 9 * random.uniform();
    const TaskParameters task{{x}, {}};
    const double seconds = x * x * std::exp(0.05 * x * random.normal(0, 1));
    const TaskEstimate estimate = estimator.estimate({HostId{1}, 100, 0, 0}, task, 0);
    if (i >= 100) {
      predicted += estimate.error;
      actual += std::abs(estimate.computation - seconds) / seconds;
      ++judged;
    }
    estimator.add(HostId{1}, {task, seconds, 0, 100, estimate.computation, 0, 0});
  }
  CHECK(predicted / judged == Approx(actual / judged).epsilon(0.35));
}
