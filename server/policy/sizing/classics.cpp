#include "server/policy/sizing/classics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shared/base/check.h"

namespace gleaner::policy {
namespace {

constexpr double exact_items_max = 9e15;  // doubles above are not exact integers
// Of 1: so much a quotient may be above a whole number and still be that number.
constexpr double rounding_slack = 1e-9;

double index_of(const WorkerView& worker, PerformanceIndex index) {
  switch (index) {
    case PerformanceIndex::benchmark:
      return worker.performance;
    case PerformanceIndex::clock:
      return worker.clock;
    case PerformanceIndex::rate:
      return rate_of(worker);
  }
  return 0;
}

}  // namespace

Size PublishedRule::size(const SizingView& view) const {
  Size size = published(view);
  if (size.items <= 0) return size;
  size.current_size = size.items;
  if (mode_ == SizingMode::grid) clamp_to_grid(view, size);
  clamp_to_free(view, size);
  return size;
}

std::string PublishedRule::text() const {
  return fmt::format("{},mode={}", text_, policy::name_of(mode_));
}

Size size_of(const SizingView& view, std::int64_t items, std::string reason) {
  const WorkerView& worker = view.workers[view.requester];
  return {items, worker.used_performance, worker.current_size, std::move(reason), view.memory};
}

std::int64_t workers_of(const SizingView& view) {
  if (view.fleet.workers > 0) return view.fleet.workers;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(view.workers.size()));
}

std::int64_t divided_up(std::int64_t items, std::int64_t parts) {
  CHECK_TRUE(items >= 0 && parts > 0);
  return items / parts + (items % parts > 0 ? 1 : 0);
}

std::int64_t rounded_up(double items) {
  const double slack = rounding_slack * std::max(1.0, items);
  return static_cast<std::int64_t>(std::clamp(std::ceil(items - slack), 1.0, exact_items_max));
}

StageMemory next_in_batch(const SizingView& view, std::int64_t units) {
  StageMemory memory = view.memory;
  if (memory.left <= 0) {
    memory.base = view.free;
    memory.left = units;
  }
  --memory.left;
  ++memory.units;
  return memory;
}

Result<PerformanceIndex> performance_index(SizingOptions& options) {
  TRY_ASSIGN(const int index, options.choice("index", {"benchmark", "clock", "rate"}, 0));
  return static_cast<PerformanceIndex>(index);
}

const char* name_of(PerformanceIndex index) {
  switch (index) {
    case PerformanceIndex::benchmark:
      return "benchmark";
    case PerformanceIndex::clock:
      return "clock";
    case PerformanceIndex::rate:
      return "rate";
  }
  return "unknown";
}

bool lists_all(const SizingView& view) {
  return view.fleet.workers <= static_cast<std::int64_t>(view.workers.size());
}

std::vector<double> performance_weights(const SizingView& view, PerformanceIndex index) {
  const auto known = [&](const WorkerView& worker) { return index_of(worker, index) > 0; };
  if (std::none_of(view.workers.begin(), view.workers.end(), known)) index = PerformanceIndex::benchmark;
  std::vector<double> weights;
  weights.reserve(view.workers.size());
  double slowest = 0;
  for (const WorkerView& worker : view.workers) {
    const double weight = index_of(worker, index);
    weights.push_back(weight);
    if (weight > 0) slowest = slowest > 0 ? std::min(slowest, weight) : weight;
  }
  for (double& weight : weights) {
    if (weight <= 0) weight = slowest > 0 ? slowest : 1;
  }
  return weights;
}

double performance_part(const SizingView& view, PerformanceIndex index) {
  if (lists_all(view)) {
    const std::vector<double> weights = performance_weights(view, index);
    double sum = 0;
    for (const double weight : weights) sum += weight;
    return weights[view.requester] / sum;
  }
  const WorkerView& worker = view.workers[view.requester];
  const double even = 1 / static_cast<double>(view.fleet.workers);
  if (index == PerformanceIndex::rate) {
    const double rate = rate_of(worker);
    return rate > 0 && view.fleet.rate_sum > 0 ? std::min(1.0, rate / view.fleet.rate_sum) : even;
  }
  const double own = worker.performance > 0 ? worker.performance : view.fleet.slowest_performance;
  return own > 0 && view.fleet.performance_sum > 0 ? std::min(1.0, own / view.fleet.performance_sum) : even;
}

Result<std::int64_t> whole_option(SizingOptions& options, std::string_view key, std::int64_t fallback) {
  TRY_ASSIGN(const double number, options.number(key, 1, 1e12, static_cast<double>(fallback)));
  if (number != std::floor(number)) {
    return Error{ErrorKind::invalid,
                 fmt::format("strategy '{}': {} takes a whole number, not {}", options.name(), key, number)};
  }
  return static_cast<std::int64_t>(number);
}

}  // namespace gleaner::policy
