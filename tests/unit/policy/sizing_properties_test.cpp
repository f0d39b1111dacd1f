// Section 7 of the specification of divisible strategies, over random jobs in paper mode: seeds are the run
// numbers.
#include <algorithm>
#include <numeric>

#include "server/policy/sizing_rules.h"
#include "shared/base/random.h"
#include "tests/catch.h"
#include "tools/simulator/paper.h"

using namespace gleaner;
using namespace gleaner::policy;
using namespace gleaner::simulator;

namespace {

const char* const strategies[] = {
    "static",          "rts", "mis", "mis,factor=1.5", "wis", "wis,shrink=compound", "wis,shrink=none",
    "wis,hysteresis=b"};

PaperInstance random_job(std::uint64_t seed) {
  Random random(seed);
  PaperInstance job;
  job.items = random.between(1, 120);
  const auto hosts = random.between(1, 8);
  for (std::int64_t i = 0; i < hosts; ++i) job.hosts.push_back({0.1 + random.exponential(1)});
  if (random.chance(0.5)) {
    for (std::int64_t i = 0; i < job.items; ++i) job.costs.push_back(random.exponential(1));
  }
  job.strategy = std::string(strategies[random.below(8)]) + ",mode=paper";
  job.duplicate = random.chance(0.5);
  return job;
}

PaperRun run(const PaperInstance& job) {
  auto result = run_paper(job);
  REQUIRE(result.ok());
  return std::move(result).value();
}

}  // namespace

TEST_CASE("section 7: random jobs in paper mode") {
  for (std::uint64_t seed = 1; seed <= 7000; ++seed) {
    const PaperInstance job = random_job(seed);
    const PaperRun done = run(job);
    std::int64_t handed = 0, copies = 0;
    bool sizes = true;
    for (const PaperGrant& grant : done.grants) {
      sizes = sizes && grant.count >= 1;
      (grant.copy ? copies : handed) += grant.copy ? 1 : grant.count;
    }
    const bool once =
        std::all_of(done.accepted.begin(), done.accepted.end(), [](std::int64_t n) { return n == 1; });
    INFO("seed " << seed << ": " << job.strategy);
    CHECK((done.complete && sizes && once && handed == job.items));
    CHECK(copies <= static_cast<std::int64_t>(job.hosts.size()));
    if (seed % 8 == 0) {
      PaperInstance grid = job;  // infinite limits: the grid's rules are the paper's
      grid.strategy.replace(grid.strategy.find("mode=paper"), 10, "mode=grid");
      CHECK(run(grid).grants == done.grants);
      CHECK(run(job).grants == done.grants);
    }
  }
}

TEST_CASE("section 7: workers that die, with omission") {
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    PaperInstance job = random_job(seed);
    Random random(seed + 1'000'000);
    job.strategy = random.chance(0.5) ? "rts,mode=paper" : "wis,mode=paper";
    job.omit = job.duplicate = true;
    for (std::size_t i = 1; i < job.hosts.size(); ++i) {
      if (random.chance(0.3)) job.hosts[i].dies_at = random.exponential(10);
    }
    const PaperRun done = run(job);
    INFO("seed " << seed);
    std::int64_t handed = 0;
    for (const PaperGrant& grant : done.grants) handed += grant.copy ? 0 : grant.count;
    CHECK(handed <= job.items + done.given_back);
    CHECK(std::all_of(done.accepted.begin(), done.accepted.end(), [](std::int64_t n) { return n <= 1; }));
    if (done.complete)
      CHECK(std::accumulate(done.accepted.begin(), done.accepted.end(), std::int64_t{0}) == job.items);
  }
}

TEST_CASE("section 7: shares are exact and within one of their quota") {
  Random random(3);
  for (int round = 0; round < 1000; ++round) {
    const std::int64_t items = random.between(1, 1'000'000);
    std::vector<double> weights;
    for (auto left = random.between(1, 20); left > 0; --left) weights.push_back(random.exponential(1));
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    const auto shares = proportional_shares(items, weights);
    CHECK(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}) == items);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      CHECK(std::abs(static_cast<double>(shares[i]) - static_cast<double>(items) * weights[i] / sum) <
            1 + 1e-6);
    }
  }
}

TEST_CASE("section 7: MIS grows with F, performance and what is left; WIS shrinks as it says") {
  for (double x = 0.1; x < 5; x += 0.1) {
    CHECK(share_of_rest(x, 640, 8) < share_of_rest(x + 0.1, 640, 8));
    CHECK(share_of_rest(x, 640, 8) < share_of_rest(x, 700, 8));
    CHECK(share_of_rest(x, 640, 8) < 640);
  }
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    PaperInstance job = random_job(seed);
    job.duplicate = false;
    const double slowest =
        std::min_element(job.hosts.begin(), job.hosts.end(), [](const PaperHost& a, const PaperHost& b) {
          return a.speed < b.speed;
        })->speed;
    for (const char* shrink : {"single", "compound"}) {
      job.strategy = std::string("wis,mode=paper,shrink=") + shrink;
      std::vector<std::int64_t> last(job.hosts.size(), job.items);
      std::int64_t handed = 0;
      for (const PaperGrant& grant : run(job).grants) {
        INFO("seed " << seed << " " << shrink);
        const auto host = static_cast<std::size_t>(grant.host);
        const double suggestion = std::max(1.0, std::floor(job.hosts[host].speed / slowest + 1e-9));
        if (static_cast<double>(handed) >= 0.7 * static_cast<double>(job.items)) {
          CHECK(static_cast<double>(grant.count) <=
                std::max(1.0, 0.7 * job.hosts[host].speed / slowest + 1e-6));
          if (shrink[0] == 'c') CHECK(grant.count <= last[host]);
        } else {
          CHECK(static_cast<double>(grant.count) <= suggestion);
        }
        last[host] = grant.count;
        handed += grant.count;
      }
    }
  }
}
