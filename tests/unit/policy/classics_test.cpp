// The classical self-scheduling rules: golden lists of server/policy/sizing/SIZING.md
// and hand-made numbers from the named papers' formulas.
#include <numeric>

#include "server/policy/sizing/classics.h"
#include "tests/catch.h"
#include "tools/papers/paper.h"

using namespace gleaner;
using namespace gleaner::policy;
using namespace gleaner::simulator;

namespace {

using UnitSizes = std::vector<std::int64_t>;

PaperRun run(std::int64_t items, const std::vector<double>& speeds, const std::string& strategy) {
  PaperInstance made;
  made.items = items;
  made.strategy = strategy + ",mode=paper";
  for (const double speed : speeds) made.hosts.push_back({speed});
  auto result = run_paper(made);
  INFO(strategy);
  REQUIRE(result.ok());
  return std::move(result).value();
}

UnitSizes unit_sizes(const PaperRun& run) {
  UnitSizes all;
  for (const PaperGrant& grant : run.grants) all.push_back(grant.count);
  return all;
}

UnitSizes equal_workers(std::int64_t items, std::size_t workers, const std::string& strategy) {
  return unit_sizes(run(items, std::vector<double>(workers, 1.0), strategy));
}

UnitSizes times(std::initializer_list<std::pair<int, std::int64_t>> parts) {
  UnitSizes all;
  for (const auto& [number, size] : parts) all.insert(all.end(), static_cast<std::size_t>(number), size);
  return all;
}

const std::vector<double> hpl{6.53, 3.96, 4.84, 4.40, 4.40, 1.07, 8.16, 8.16};

UnitSizes phase_1(std::int64_t items) {
  const UnitSizes all = unit_sizes(run(items, hpl, "alpha-gss"));
  return {all.begin(), all.begin() + 8};
}

}  // namespace

TEST_CASE("GSS, golden") {
  CHECK(equal_workers(1000, 4, "gss,min=10") ==
        UnitSizes{250, 188, 141, 106, 79, 59, 45, 33, 25, 19, 14, 11, 10, 10, 10});
  CHECK(equal_workers(192, 8, "gss").size() == 29);
  const std::vector<std::pair<std::size_t, std::size_t>> requests{
      {4, 20}, {8, 38}, {12, 53}, {16, 67}, {20, 80}};
  for (const auto& [workers, expected] : requests)
    CHECK(equal_workers(640, workers, "gss").size() == expected);
}

TEST_CASE("TSS, golden") {
  CHECK(equal_workers(1000, 4, "tss") ==
        UnitSizes{125, 116, 108, 100, 91, 83, 75, 67, 58, 50, 42, 34, 25, 17, 9});
  // f = 10, l = 4, N = 35: n = ceil(70/14) = 5, step 6/4: 10, 8.5, 7, 5.5, 4 and the rest of 2.
  CHECK(equal_workers(35, 2, "tss,f=10,l=4") == UnitSizes{10, 8, 7, 5, 4, 1});
  CHECK(equal_workers(3, 5, "tss") == UnitSizes{1, 1, 1});
  CHECK_FALSE(make_sizing("tss,f=2,l=3").ok());
  CHECK_FALSE(make_sizing("tss,f=2.5").ok());
}

TEST_CASE("FAC and FAC2, golden") {
  const UnitSizes expected = times({{4, 125}, {4, 63}, {4, 31}, {4, 16}, {4, 8}, {4, 4}, {4, 2}, {4, 1}});
  for (const char* strategy : {"fac", "fac2", "wf", "awf-b", "awf-d"}) {
    INFO(strategy);
    CHECK(equal_workers(1000, 4, strategy) == expected);
  }
}

// Hummel, Schonberg and Flynn: p = 4, sigma / mu = 0.5, R = 1000: b = 4 * 0.5 / (2 sqrt 1000) = 0.031623,
// x = 1 + b^2 + b sqrt(b^2 + 2) = 1.045733, size = ceil(1000 / 4.18293) = ceil(239.07) = 240; then R = 40:
// b = 0.158114, x = 2 + b^2 + b sqrt(b^2 + 4) = 2.342214, ceil(40 / 9.36886) = 5; then R = 20:
// ceil(20/10.0101) = 2.
TEST_CASE("FAC with known deviation") {
  const UnitSizes all = equal_workers(1000, 4, "fac,mean=1,sd=0.5");
  CHECK(UnitSizes(all.begin(), all.begin() + 12) == times({{4, 240}, {4, 5}, {4, 2}}));
  CHECK(equal_workers(1000, 4, "fac,mean=2,sd=1") == all);
  CHECK(equal_workers(1000, 4, "fac,mean=1,sd=0") == times({{4, 250}}));

  PaperInstance costs;
  costs.items = 1000;
  for (int i = 0; i < 1000; ++i) costs.costs.push_back(i % 2 == 0 ? 0.5 : 1.5);  // mean 1, deviation 0.5
  costs.hosts.assign(4, {1});
  costs.strategy = "fac,known=costs,mode=paper";
  const auto from_costs = run_paper(costs);
  REQUIRE(from_costs.ok());
  CHECK(from_costs->grants.front().count == 240);
  CHECK_FALSE(make_sizing("fac,mean=1").ok());
  CHECK_FALSE(make_sizing("fac,mean=1,sd=1,known=costs").ok());
}

TEST_CASE("static equal, SS, WF and WFAC by hand") {
  CHECK(equal_workers(14, 4, "equal") == UnitSizes{4, 4, 3, 3});
  CHECK(equal_workers(2, 3, "equal") == UnitSizes{1, 1});
  CHECK(equal_workers(5, 2, "ss") == UnitSizes{1, 1, 1, 1, 1});
  // Speeds 3:1, N = 80: parts .75 and .25 of half: 30 and 10 end together at 10 s, then of 40: 15 and 5 ...
  const UnitSizes weighted = unit_sizes(run(80, {3, 1}, "wf"));
  CHECK(UnitSizes(weighted.begin(), weighted.begin() + 4) == UnitSizes{30, 10, 15, 5});
  // Without batches: 30 of 80, then ceil(50 / 8) = 7; worker 1 is back after 7 s: of 43 ceil(43 / 8) = 6.
  const UnitSizes half = unit_sizes(run(80, {3, 1}, "wfac"));
  CHECK(UnitSizes(half.begin(), half.begin() + 3) == UnitSizes{30, 7, 6});
}

TEST_CASE("alpha self-scheduling, golden") {
  CHECK(phase_1(192) == UnitSizes{15, 9, 11, 10, 10, 3, 19, 19});
  CHECK(phase_1(128) == UnitSizes{10, 6, 7, 7, 7, 2, 13, 12});
  CHECK(phase_1(64) == UnitSizes{5, 3, 4, 4, 3, 1, 6, 6});
  const UnitSizes all = unit_sizes(run(192, hpl, "alpha-gss"));
  UnitSizes expected{12, 11, 10, 8, 7, 6, 6, 5, 4, 4, 3, 3, 3, 2, 2, 2};
  expected.insert(expected.end(), 8, 1);
  CHECK(UnitSizes(all.begin() + 8, all.end()) == expected);

  PaperInstance clocks;
  clocks.items = 192;
  for (const double clock : {2.4, 1.8, 2.2, 2.0, 2.0, 0.866, 3.0, 3.0}) {
    PaperHost host;
    host.clock = clock;
    clocks.hosts.push_back(host);
  }
  clocks.strategy = "alpha-gss,index=clock,mode=paper";
  const auto by_clock = run_paper(clocks);
  REQUIRE(by_clock.ok());
  const UnitSizes shares = unit_sizes(*by_clock);
  CHECK(UnitSizes(shares.begin(), shares.begin() + 8) == UnitSizes{13, 10, 12, 11, 11, 5, 17, 17});
  CHECK(unit_sizes(run(192, hpl, "alpha-gss,alpha=1")).size() == 8);  // the shares alone
  // A worker without a share of phase 1 does not take from what is kept for the others.
  CHECK(unit_sizes(run(16, {0.01, 1, 1, 1}, "alpha-gss")) == UnitSizes{2, 3, 3, 2, 2, 1, 1, 1, 1});
}

TEST_CASE("adaptive weighted factoring by hand") {
  // Speeds 3:1, N = 160: both begin with ceil(160/4) = 40. Worker 0 is back at 13.33 s as the only known one:
  // weight 1; AWF-B begins its second batch, of 80: 20; done at 20 s, still alone: 20 again; at 26.67 s of
  // the 40 left: 10 ...
  const PaperRun batches = run(160, {3, 1}, "awf-b");
  const UnitSizes b = unit_sizes(batches);
  CHECK(UnitSizes(b.begin(), b.begin() + 5) == UnitSizes{40, 40, 20, 20, 10});
  // AWF-C: 40 of 160, 30 of 120, then from what is free: 90 / 4 = 23, 67 / 4 = 17, 50 / 4 = 13 ...
  const UnitSizes c = unit_sizes(run(160, {3, 1}, "awf-c"));
  CHECK(UnitSizes(c.begin(), c.begin() + 4) == UnitSizes{40, 30, 23, 17});

  SizingView view;
  std::vector<WorkerView> workers(4);
  workers[0].times.add_unit(10, 5, 10);   // 2 items/s, 1 with waiting
  workers[0].times.add_unit(20, 5, 10);   // (10 + 2 * 20) / (5 + 2 * 5) = 10/3; / (10 + 20) = 5/3
  workers[1].times.add_unit(10, 15, 15);  // 2/3
  workers[0].times.add_piece(30, 10);
  workers[1].times.add_piece(10, 15);
  CHECK(workers[0].times.rate() == Approx(10.0 / 3));
  CHECK(workers[0].times.rate_with_waiting() == Approx(5.0 / 3));
  view.items = view.free = 800;
  view.workers = workers;
  const auto size = [&](const char* text, std::size_t requester) {
    view.requester = requester;
    return (*make_sizing(std::string(text) + ",mode=paper"))->size(view).items;
  };
  CHECK(size("awf-c", 0) == 167);  // weight 2 * (10/3) / 4 = 5/3 of 100, up
  CHECK(size("awf-c", 1) == 34);   // 1/3
  CHECK(size("awf-c", 2) == 100);
  CHECK(size("awf-e", 0) == 143);  // 2 * (5/3) / (7/3) = 10/7
  CHECK(size("awf-e", 1) == 58);   // 4/7 of 100, up
}

TEST_CASE("adaptive factoring by hand") {
  // Two workers with item times 1, 3 (mean 2, variance 2) and 4, 8 (mean 6, variance 8): D = 1 + 4/3 = 7/3,
  // T = 1 / (1/2 + 1/6) = 3/2, R = 100: D + 2TR = 302.333, D^2 + 4DTR = 1405.444, root 37.4893:
  // 264.8440 / 4 = 66.21 and 264.8440 / 12 = 22.07.
  std::vector<WorkerView> workers(2);
  for (const auto& [worker, seconds] : {std::pair{0, 1.0}, {0, 3.0}, {1, 4.0}, {1, 8.0}}) {
    workers[static_cast<std::size_t>(worker)].times.add_piece(1, seconds);
    workers[static_cast<std::size_t>(worker)].times.add_unit(1, seconds, seconds);
  }
  CHECK(workers[1].times.mean() == Approx(6));
  CHECK(workers[1].times.variance() == Approx(8));
  SizingView view;
  view.items = view.free = 100;
  view.workers = workers;
  const auto af = make_sizing("af,mode=paper");
  CHECK((*af)->size(view).items == 66);
  view.requester = 1;
  CHECK((*af)->size(view).items == 22);
  // Half of the fleet without a result counts as the mean of the other half; itself it gets FAC2's unit.
  workers.resize(4);
  view.workers = workers;
  CHECK((*af)->size(view).items == 10);  // D 14/3, T 3/4: 154.667, root 37.7094: 116.957 / 12 = 9.75
  view.requester = 2;
  CHECK((*af)->size(view).items == 13);
  // Without any variance: the worker's part of all that is left.
  CHECK(equal_workers(100, 4, "af").size() < 25);
}

TEST_CASE("times of items of another cost") {
  WorkTimes times;
  times.add_piece(4, 8);
  times.add_piece(4, 16);
  times.add_unit(8, 24, 30);
  const WorkTimes doubled = times.in_items_of(2);  // items that cost twice as much
  CHECK(doubled.mean() == Approx(2 * times.mean()));
  CHECK(doubled.variance() == Approx(2 * times.variance()));
  CHECK(doubled.rate() == Approx(times.rate() / 2));
}

TEST_CASE("the memory of a stage begins afresh with each batch") {
  SizingView view;
  const std::vector<WorkerView> workers(3);
  view.workers = workers;
  view.items = view.free = 100;
  const auto fac2 = make_sizing("fac2,mode=paper");
  Size size = (*fac2)->size(view);
  CHECK(size.memory == StageMemory{1, 100, 2});
  view.free = 40;
  view.memory = {3, 100, 0};
  size = (*fac2)->size(view);
  CHECK(size.items == 7);
  CHECK(size.memory == StageMemory{4, 40, 2});
}
