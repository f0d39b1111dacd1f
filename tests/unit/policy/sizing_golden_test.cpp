// The golden numbers of server/policy/sizing/SIZING.md, and the request counts of Qureshi and Hatanaka's
// Table 3.
#include <numeric>

#include "server/policy/sizing/rules.h"
#include "tests/catch.h"
#include "tools/papers/paper.h"

using namespace gleaner;
using namespace gleaner::policy;
using simulator::PaperGrant;
using simulator::PaperInstance;
using simulator::PaperRun;

namespace {

using Counts = std::vector<std::int64_t>;

PaperInstance instance(std::int64_t items, const std::vector<double>& speeds, const std::string& strategy) {
  PaperInstance made;
  made.items = items;
  made.strategy = strategy;
  for (const double speed : speeds) made.hosts.push_back({speed});
  return made;
}

PaperRun run_paper_job(const PaperInstance& paper) {
  auto result = simulator::run_paper(paper);
  REQUIRE(result.ok());
  return std::move(result).value();
}

Counts counts(const PaperRun& run) {
  Counts all;
  for (const PaperGrant& grant : run.grants) all.push_back(grant.count);
  return all;
}

Counts items_of_hosts(const PaperRun& run, std::size_t hosts) {
  Counts all(hosts);
  for (const PaperGrant& grant : run.grants) all[static_cast<std::size_t>(grant.host)] += grant.count;
  return all;
}

Counts shares(std::int64_t items, std::vector<double> weights) {
  return proportional_shares(items, weights);
}

}  // namespace

TEST_CASE("equation 4: shares by largest remainder") {
  CHECK(shares(640, {1, 1.0 / 2, 1.0 / 4, 1.0 / 4}) == Counts{320, 160, 80, 80});
  CHECK(shares(10, {1, 1, 1}) == Counts{4, 3, 3});
  CHECK(shares(640, {1, 1.0 / 2, 1.0 / 3}) == Counts{349, 175, 116});
  CHECK(shares(13, {1.0 / 2, 1.0 / 3, 1.0 / 4}) == Counts{6, 4, 3});
}

TEST_CASE("equations 6 to 9") {
  CHECK(total_performance(1.5, 0.5, 4, 2) == Approx(2.5));
  CHECK(1.0 / total_performance(1.5, 0.5, 4, 2) == Approx(0.4));
  CHECK(0.5 / total_performance(1.5, 0.5, 4, 2) == Approx(0.2));
  CHECK(share_of_rest(1, 640, 4) == Approx(128));
  CHECK(share_of_rest(0.3, 640, 4) == Approx(44.651).epsilon(1e-5));
  CHECK(share_of_rest(0.4, 100, 4) == Approx(9.0909).epsilon(1e-5));
  const std::vector<std::pair<int, double>> four{{1, .5181},  {2, .8444},  {3, 1.05},
                                                 {5, 1.2611}, {8, 1.3653}, {20, 1.3999}};
  for (const auto& [requests, factor] : four) {
    CHECK(multiplication_factor(0.35, 4, requests) == Approx(factor).margin(5e-5));
  }
  const std::vector<std::pair<int, double>> twenty{{1, 4.4212}, {2, 6.05},   {3, 6.65},
                                                   {5, 6.9525}, {8, 6.9976}, {20, 7.0}};
  for (const auto& [requests, factor] : twenty) {
    CHECK(multiplication_factor(0.35, 20, requests) == Approx(factor).margin(5e-5));
  }
  CHECK(multiplication_factor(0.35, 1, 7) == 0);
}

TEST_CASE("MIS with a constant factor of 1") {
  const PaperRun mis = run_paper_job(instance(640, {1, 1, 1, 1}, "mis,mode=paper,factor=1"));
  const Counts expected{1, 1, 1, 1, 37, 35, 33, 31, 29, 28, 26, 25, 23, 22, 20, 19, 18, 17, 16, 15};
  const Counts all = counts(mis);
  REQUIRE(all.size() == 82);
  CHECK(Counts(all.begin(), all.begin() + 20) == expected);
  CHECK(mis.makespan == Approx(160));
}

TEST_CASE("MIS with equation 8") {
  const PaperRun mis = run_paper_job(instance(640, {1, 1, 1, 1}, "mis,mode=paper"));
  Counts expected{1,  1,  1,  1,  1,  6,  12, 19, 30, 28, 27, 26, 30, 28, 26, 25,
                  26, 24, 23, 21, 21, 19, 18, 17, 16, 15, 13, 13, 12, 11, 10, 9,
                  9,  8,  7,  7,  6,  6,  5,  5,  5,  4,  4,  4,  3,  3,  3};
  expected.insert(expected.end(), 7, 2);
  expected.insert(expected.end(), 17, 1);
  CHECK(counts(mis) == expected);
  CHECK(mis.requests == 71);
}

TEST_CASE("WIS: four rounds, then the cut") {
  const PaperRun single = run_paper_job(instance(100, {10, 5, 2, 1}, "wis,mode=paper"));
  std::vector<PaperGrant> expected;
  for (int round = 0; round < 4; ++round) {
    for (int host = 0; host < 4; ++host)
      expected.push_back({host, std::vector<int>{10, 5, 2, 1}[host], false});
  }
  for (const PaperGrant grant : std::initializer_list<PaperGrant>{{0, 7, false},
                                                                  {1, 3, false},
                                                                  {2, 1, false},
                                                                  {3, 1, false},
                                                                  {2, 1, false},
                                                                  {1, 3, false},
                                                                  {0, 7, false},
                                                                  {2, 1, false},
                                                                  {3, 1, false},
                                                                  {1, 3, false}}) {
    expected.push_back(grant);
  }
  CHECK(single.grants == expected);
  CHECK(single.requests == 26);
  CHECK(single.makespan == Approx(6.0));

  const PaperRun compound = run_paper_job(instance(100, {10, 5, 2, 1}, "wis,mode=paper,shrink=compound"));
  CHECK(compound.requests == 29);
  CHECK(compound.makespan == Approx(6.0));
  const PaperRun none = run_paper_job(instance(100, {10, 5, 2, 1}, "wis,mode=paper,shrink=none"));
  CHECK(none.requests == 21);
  CHECK(none.makespan == Approx(6.0));
}

TEST_CASE("RTS and static on speeds 4, 3, 2, 1") {
  const PaperRun rts = run_paper_job(instance(640, {4, 3, 2, 1}, "rts,mode=paper"));
  CHECK(rts.requests == 640);
  CHECK(items_of_hosts(rts, 4) == Counts{256, 192, 128, 64});
  CHECK(rts.makespan == Approx(64));
  const PaperRun whole = run_paper_job(instance(640, {4, 3, 2, 1}, "static,mode=paper"));
  CHECK(counts(whole) == Counts{256, 192, 128, 64});
  CHECK(whole.makespan == Approx(64));
}

TEST_CASE("duplication once") {
  PaperInstance two = instance(2, {1, 0.1}, "rts,mode=paper");
  CHECK(run_paper_job(two).makespan == Approx(10.0));
  two.duplicate = true;
  const PaperRun with = run_paper_job(two);
  CHECK(with.makespan == Approx(2.0));
  CHECK(with.copies == 1);
}

TEST_CASE("omission of a worker that never answers") {
  PaperInstance ten = instance(10, {1, 1}, "rts,mode=paper");
  ten.hosts[1].dies_at = 0.5;
  ten.omit = true;
  const PaperRun omitted = run_paper_job(ten);
  CHECK(omitted.complete);
  CHECK(omitted.requests == 11);
  CHECK(omitted.makespan == Approx(10.0));
  CHECK(omitted.given_back == 1);
  ten.omit = false;
  CHECK_FALSE(run_paper_job(ten).complete);
}

// The speeds read from the published speed-ups, uniform items, no overheads. Published
// counts of Table 3: 80 88 130 170 225; acceptance criterion A2 asks for 25 %.
TEST_CASE("WIS request counts over the number of workers") {
  const std::vector<double> speeds{1,   1,   1,   1,   .70, .65, .60, .55, .35, .30,
                                   .28, .25, .18, .16, .15, .14, .12, .11, .10, .10};
  const std::vector<std::pair<std::size_t, double>> published{
      {4, 80}, {8, 88}, {12, 130}, {16, 170}, {20, 225}};
  std::int64_t before = 0;
  for (const auto& [workers, requests] : published) {
    const auto end = speeds.begin() + static_cast<std::ptrdiff_t>(workers);
    PaperInstance paper = instance(640, {speeds.begin(), end}, "wis,mode=paper");
    paper.slowest_registered = 0.1;
    const PaperRun single = run_paper_job(paper);
    CHECK(single.requests > before);
    CHECK(static_cast<double>(single.requests) == Approx(requests).epsilon(0.25));
    before = single.requests;
    CHECK(run_paper_job(instance(640, {speeds.begin(), end}, "static,mode=paper")).requests ==
          static_cast<std::int64_t>(workers));
  }
  PaperInstance four = instance(640, {1, 1, 1, 1}, "wis,mode=paper");
  four.slowest_registered = 0.1;
  CHECK(run_paper_job(four).requests == 73);
  four.strategy = "wis,mode=paper,shrink=compound";
  CHECK(run_paper_job(four).requests == 187);
  four.strategy = "wis,mode=paper,shrink=none";
  CHECK(run_paper_job(four).requests == 64);
}
