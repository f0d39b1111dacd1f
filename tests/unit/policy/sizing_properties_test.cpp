// The invariants of server/policy/sizing/SIZING.md over random jobs: seeds are the run numbers.
#include <algorithm>
#include <numeric>

#include "server/policy/sizing/rules.h"
#include "shared/base/random.h"
#include "tests/catch.h"
#include "tools/papers/paper.h"

using namespace gleaner;
using namespace gleaner::policy;
using namespace gleaner::simulator;

namespace {

#ifdef GLEANER_SANITIZED
constexpr std::uint64_t runs = 500;  // some 20 times slower there
#else
constexpr std::uint64_t runs = 10'000;
#endif

const std::vector<std::string> strategies{"static",
                                          "rts",
                                          "mis",
                                          "mis,factor=1.5",
                                          "wis",
                                          "wis,shrink=compound",
                                          "wis,shrink=none",
                                          "wis,hysteresis=b",
                                          "equal",
                                          "ss",
                                          "gss",
                                          "gss,min=5",
                                          "tss",
                                          "tss,f=20,l=3",
                                          "fac",
                                          "fac,mean=1,sd=0.7",
                                          "fac,known=costs",
                                          "fac2",
                                          "wf",
                                          "wf,index=clock",
                                          "awf-b",
                                          "awf-c",
                                          "awf-d",
                                          "awf-e",
                                          "af",
                                          "alpha-gss",
                                          "alpha-gss,alpha=0.8",
                                          "wfac",
                                          "wfac,index=rate"};

PaperInstance random_job(std::uint64_t seed) {
  Random random(seed);
  PaperInstance job;
  job.items = random.between(1, 120);
  const auto hosts = random.between(1, 8);
  for (std::int64_t i = 0; i < hosts; ++i) {
    job.hosts.push_back({0.1 + random.exponential(1)});
    if (random.chance(0.3)) job.hosts.back().clock = 1 + random.uniform();
  }
  if (random.chance(0.5)) {
    for (std::int64_t i = 0; i < job.items; ++i) job.costs.push_back(random.exponential(1));
  }
  job.strategy = std::string(strategies[random.below(strategies.size())]) + ",mode=paper";
  job.duplicate = random.chance(0.5);
  return job;
}

PaperRun run_job(const PaperInstance& job) {
  auto result = run_paper(job);
  REQUIRE(result.ok());
  return std::move(result).value();
}

}  // namespace

TEST_CASE("invariants: random jobs in paper mode") {
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    const PaperInstance job = random_job(seed);
    const PaperRun done = run_job(job);
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
    PaperInstance grid = job;  // infinite limits: the grid's rules are the paper's
    grid.strategy.replace(grid.strategy.find("mode=paper"), 10, "mode=grid");
    CHECK((run_job(grid).grants == done.grants && run_job(job).grants == done.grants));
  }
}

TEST_CASE("invariants: random jobs in grid mode with limits") {
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    PaperInstance job = random_job(seed);
    Random random(seed + 2'000'000);
    job.strategy.replace(job.strategy.find("mode=paper"), 10, "mode=grid");
    if (random.chance(0.8)) job.limits.target_seconds = random.exponential(20);
    if (random.chance(0.5)) job.limits.lease_seconds = random.exponential(50);
    if (random.chance(0.5)) job.limits.minimum_seconds = random.exponential(2);
    const PaperRun done = run_job(job);
    std::int64_t handed = 0;
    bool sizes = true;
    for (const PaperGrant& grant : done.grants) {
      sizes = sizes && grant.count >= 1;
      handed += grant.copy ? 0 : grant.count;
    }
    INFO("seed " << seed << ": " << job.strategy);
    CHECK((done.complete && sizes && handed == job.items));
  }
}

TEST_CASE("invariants: guided, factoring and trapezoid sizes never grow") {
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    PaperInstance job = random_job(seed);
    const std::int64_t workers = static_cast<std::int64_t>(job.hosts.size());
    job.duplicate = false;
    const char* const names[] = {"gss", "fac2", "fac,mean=1,sd=0.7", "tss"};
    const std::string name = names[seed % 4];
    job.strategy = name + ",mode=paper";
    std::int64_t last = job.items, left = job.items;
    bool falls = true, exact = true;
    for (const PaperGrant& grant : run_job(job).grants) {
      if (name == "gss") exact = exact && grant.count == (left + workers - 1) / workers;
      falls = falls && grant.count <= last;
      last = grant.count;
      left -= grant.count;
    }
    INFO("seed " << seed << ": " << job.strategy);
    CHECK((falls && exact && left == 0));
  }
}

TEST_CASE("invariants: workers that die, with omission") {
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    PaperInstance job = random_job(seed);
    Random random(seed + 1'000'000);
    job.omit = job.duplicate = true;
    for (std::size_t i = 1; i < job.hosts.size(); ++i) {
      if (random.chance(0.3)) job.hosts[i].dies_at = random.exponential(10);
    }
    const PaperRun done = run_job(job);
    INFO("seed " << seed);
    std::int64_t handed = 0;
    for (const PaperGrant& grant : done.grants) handed += grant.copy ? 0 : grant.count;
    const bool once =
        std::all_of(done.accepted.begin(), done.accepted.end(), [](std::int64_t n) { return n <= 1; });
    CHECK((once && handed <= job.items + done.given_back));
    if (done.complete)
      CHECK(std::accumulate(done.accepted.begin(), done.accepted.end(), std::int64_t{0}) == job.items);
  }
}

TEST_CASE("invariants: shares are exact and within one of their quota") {
  Random random(3);
  for (int round = 0; round < static_cast<int>(runs); ++round) {
    const std::int64_t items = random.between(1, 1'000'000);
    std::vector<double> weights;
    for (auto left = random.between(1, 20); left > 0; --left) weights.push_back(random.exponential(1));
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    const auto shares = proportional_shares(items, weights);
    bool within = std::accumulate(shares.begin(), shares.end(), std::int64_t{0}) == items;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double quota = static_cast<double>(items) * weights[i] / sum;
      within = within && std::abs(static_cast<double>(shares[i]) - quota) < 1 + 1e-6;
    }
    INFO("round " << round);
    CHECK(within);
  }
}

TEST_CASE("invariants: MIS grows with F, performance and what is left; WIS shrinks as it says") {
  for (double x = 0.1; x < 5; x += 0.1) {
    CHECK(share_of_rest(x, 640, 8) < share_of_rest(x + 0.1, 640, 8));
    CHECK(share_of_rest(x, 640, 8) < share_of_rest(x, 700, 8));
    CHECK(share_of_rest(x, 640, 8) < 640);
  }
  for (std::uint64_t seed = 1; seed <= runs / 2; ++seed) {
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
      bool within = true;
      for (const PaperGrant& grant : run_job(job).grants) {
        const auto host = static_cast<std::size_t>(grant.host);
        const double suggestion = std::max(1.0, std::floor(job.hosts[host].speed / slowest + 1e-9));
        const auto count = static_cast<double>(grant.count);
        if (static_cast<double>(handed) >= 0.7 * static_cast<double>(job.items)) {
          within = within && count <= std::max(1.0, 0.7 * job.hosts[host].speed / slowest + 1e-6);
          if (shrink[0] == 'c') within = within && grant.count <= last[host];
        } else {
          within = within && count <= suggestion;
        }
        last[host] = grant.count;
        handed += grant.count;
      }
      INFO("seed " << seed << " " << shrink);
      CHECK(within);
    }
  }
}
