#include "tools/local/unit_source.h"

#include <algorithm>

namespace gleaner::local {
namespace {

// A unit costs a line each way here. Long ones gain nothing, and nobody splits them when the end comes.
constexpr double shortest_seconds = 0.02;
constexpr double longest_seconds = 20;
constexpr double guided_fraction = 0.2;  // of the time that remains

class ListedUnits final : public UnitSource {
 public:
  explicit ListedUnits(std::vector<Range> ranges) : ranges_(std::move(ranges)) {
    std::erase_if(ranges_, [](Range range) { return range.empty(); });
  }
  Range next(int) override { return exhausted() ? Range{} : ranges_[next_++]; }
  void finished(int, std::int64_t, Duration) override {}
  [[nodiscard]] bool exhausted() const override { return next_ == ranges_.size(); }

 private:
  std::vector<Range> ranges_;
  std::size_t next_ = 0;
};

class SizedUnits final : public UnitSource {
 public:
  SizedUnits(std::unique_ptr<policy::SizingStrategy> strategy, std::int64_t items, int kernels)
      : strategy_(std::move(strategy)), workers_(static_cast<std::size_t>(std::max(kernels, 1))) {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      workers_[i].host = HostId{static_cast<std::int64_t>(i) + 1};
      workers_[i].performance = 1;  // the same machine
    }
    view_.items = items;
    view_.free = items;
    view_.guided_fraction = guided_fraction;
    view_.limits.target_seconds = longest_seconds;
    view_.limits.minimum_seconds = shortest_seconds;
    view_.limits.maximum_seconds = longest_seconds;
  }

  Range next(int kernel) override {
    if (exhausted()) return {};
    const auto requester = static_cast<std::size_t>(kernel);
    policy::WorkerView& worker = workers_[requester];
    worker.proposed_items = worker.rate * shortest_seconds;
    view_.workers = workers_;
    view_.requester = requester;
    view_.free_cost = static_cast<double>(view_.free);
    const policy::Size size = strategy_->size(view_);
    // A strategy that gives every worker one share (static) may leave a rest that nobody else computes here.
    const std::int64_t items = std::clamp<std::int64_t>(size.items, 1, view_.free);
    worker.used_performance = size.used_performance;
    worker.current_size = size.current_size;
    ++worker.requests;
    view_.memory = size.memory;
    const std::int64_t begin = view_.items - view_.free;
    view_.free -= items;
    return {begin, begin + items};
  }

  void finished(int kernel, std::int64_t items, Duration time) override {
    policy::WorkerView& worker = workers_[static_cast<std::size_t>(kernel)];
    view_.completed += items;
    ++worker.returned;
    const double seconds = to_seconds(time);
    if (seconds <= 0 || items <= 0) return;
    const auto count = static_cast<double>(items);
    worker.rate = count / seconds;
    worker.times.add_unit(count, seconds, seconds);
    worker.times.add_piece(count, seconds);
  }

  [[nodiscard]] bool exhausted() const override { return view_.free == 0; }

 private:
  std::unique_ptr<policy::SizingStrategy> strategy_;
  std::vector<policy::WorkerView> workers_;
  policy::SizingView view_;
};

}  // namespace

std::unique_ptr<UnitSource> listed_units(std::vector<Range> ranges) {
  return std::make_unique<ListedUnits>(std::move(ranges));
}

Result<std::unique_ptr<UnitSource>> sized_units(const std::string& strategy, std::int64_t items,
                                                int kernels) {
  TRY_ASSIGN(auto sizing, policy::make_sizing(strategy));
  return std::unique_ptr<UnitSource>(std::make_unique<SizedUnits>(std::move(sizing), items, kernels));
}

}  // namespace gleaner::local
