// The stage against simulated hosts in virtual time: how close it comes to the fluid bound, and what events
// cost.
#include <algorithm>
#include <cmath>

#include "server/policy/stage/stage.h"
#include "shared/base/random.h"
#include "tests/catch.h"
#include "tests/unit/simulator/run.h"
#include "tools/simulator/fluid.h"
#include "tools/simulator/grid.h"

using namespace gleaner;
using namespace gleaner::simulator;

namespace {

// 640 lines whose costs rise to four times the least in a hump, as the scenes' do.
std::vector<double> hump(std::int64_t items, double total) {
  std::vector<double> costs;
  double sum = 0;
  for (std::int64_t i = 0; i < items; ++i) {
    const double x = (static_cast<double>(i) + 0.5) / static_cast<double>(items);
    costs.push_back(0.524 + 0.476 * std::exp(-0.5 * std::pow((x - 0.544) / 0.124, 2)) / (0.124 * 2.5066));
    sum += costs.back();
  }
  for (double& cost : costs) cost *= total / sum;
  return costs;
}

// The quick start: 40 s of work for four hosts of speeds 10:5:2:1.
GridInstance quick_start() {
  GridInstance instance;
  instance.items = 640;
  instance.costs = hump(640, 720);
  instance.hosts = {{10}, {5}, {2}, {1}};
  return instance;
}

}  // namespace

TEST_CASE("forty seconds on four hosts of speeds 10:5:2:1") {
  for (const char* sizing : {"wis", "mis", "rts", "static"}) {
    for (const bool hints : {true, false}) {
      for (const bool even : {true, false}) {
        for (const double delay : {0.005, 0.05}) {
          GridInstance instance = quick_start();
          instance.sizing = sizing;
          instance.hints = hints;
          instance.request_delay = delay;
          if (even) instance.costs.assign(640, 720.0 / 640);
          const GridRun quick = run(instance);
          INFO(sizing << (hints ? " hints" : " no hints") << (even ? " even" : " hump") << " delay "
                      << delay);
          CHECK(quick.complete);
          CHECK(quick.ideal == Approx(40));
          CHECK(quick.ideal / quick.makespan >= 0.95);
          CHECK(quick.first_dry >= 0.95 * quick.makespan);
          CHECK(quick.waste < 0.03);
          CHECK(quick.requests < 400);
        }
      }
    }
  }
}

TEST_CASE("a host that falls silent in mid-unit delays the end by less than a tenth") {
  for (std::size_t host = 0; host < 4; ++host) {
    for (const double at : {2.0, 7.3, 15.0, 21.7, 30.0, 35.0, 38.0, 39.5}) {
      for (const bool hints : {true, false}) {
        GridInstance instance = quick_start();
        instance.hints = hints;
        instance.hosts[host].events = {{at, HostEventKind::vanish}};
        const GridRun silent = run(instance);
        INFO("host " << host << " at " << at << (hints ? " hints" : " no hints"));
        CHECK(silent.complete);
        CHECK(silent.makespan < 1.1 * silent.ideal);
      }
    }
  }
}

TEST_CASE("a host that is paused or slowed down for good does not hold the end") {
  for (std::size_t host = 0; host < 4; ++host) {
    for (const double at : {7.3, 21.7, 35.0}) {
      GridInstance instance = quick_start();
      instance.hosts[host].events = {{at, HostEventKind::pause}};
      INFO("host " << host << " at " << at);
      CHECK(run(instance).makespan < 1.1 * ideal_makespan(instance));
      instance.hosts[host].events = {{at, HostEventKind::slow, 0.01}};
      CHECK(run(instance).makespan < 1.1 * ideal_makespan(instance));
    }
  }
}

TEST_CASE("two hours on a hundred hosts of two slots") {
  GridInstance instance;
  instance.items = 200000;
  Random random(5);
  double speed = 0;
  for (int i = 0; i < 100; ++i) {
    GridHost host;
    host.speed = std::clamp(std::exp(random.normal(0, 0.6)), 0.3, 3.0);
    host.performance = host.speed * std::exp(random.normal(0, 0.2));
    host.slots = 2;
    speed += host.speed * host.slots;
    // A few leave, some come back later.
    if (i % 10 == 3) host.events = {{random.uniform() * 7000, HostEventKind::vanish}};
    if (i % 10 == 7)
      host.events = {{1000, HostEventKind::off}, {1500, HostEventKind::on}, {6900, HostEventKind::pause}};
    instance.hosts.push_back(host);
  }
  instance.costs.assign(200000, speed * 7200 / 200000);
  instance.request_delay = 2;
  instance.check_every = 0;
  const GridRun office = run(instance);
  INFO("makespan " << office.makespan << " ideal " << office.ideal << " waste " << office.waste);
  CHECK(office.complete);
  CHECK(office.makespan < 1.03 * office.ideal);
  CHECK(office.waste < 0.01);
  CHECK(office.requests < 40 * 200);
}

TEST_CASE("clients ask ahead for one unit a slot, and propose its size once they know the slowest host") {
  GridInstance instance = quick_start();
  instance.sample_seconds = 1000;  // keeps spans
  instance.hosts[0].slots = 2;
  const GridRun quick = run(instance);
  REQUIRE(quick.complete);
  const auto proposed =
      std::count_if(quick.decisions.begin(), quick.decisions.end(), [](const policy::Decision& decision) {
        return decision.reason.find("wis: the worker proposes") != std::string::npos;
      });
  CHECK(proposed > quick.grants / 2);
  int waited = 0;
  for (const GridSpan& one : quick.spans) {
    const auto together = std::count_if(quick.spans.begin(), quick.spans.end(), [&](const GridSpan& other) {
      return other.host == one.host && other.slot == one.slot && other.from <= one.from &&
             one.from < other.to;
    });
    CHECK(together <= 2);
    waited += together == 2 ? 1 : 0;
  }
  CHECK(waited > 4);
}

TEST_CASE("the same instance gives the same run") {
  GridInstance instance = quick_start();
  instance.hosts[1].events = {{12, HostEventKind::off}, {20, HostEventKind::on}};
  instance.failure_chance = 0.05;
  const GridRun first = run(instance);
  const GridRun second = run(instance);
  REQUIRE(first.decisions.size() == second.decisions.size());
  for (std::size_t i = 0; i < first.decisions.size(); ++i) {
    CHECK(first.decisions[i].at == second.decisions[i].at);
    CHECK(first.decisions[i].range == second.decisions[i].range);
    CHECK(first.decisions[i].reason == second.decisions[i].reason);
  }
  CHECK(first.makespan == second.makespan);
}

namespace {

// One host stays to the end; anything may happen to the others.
GridInstance random_grid(std::uint64_t seed) {
  Random random(seed);
  GridInstance instance;
  instance.seed = seed;
  instance.give_up_after = 20000;
  instance.items = random.between(1, 80);
  for (std::int64_t i = 0; i < instance.items; ++i) instance.costs.push_back(0.05 + random.exponential(1));
  instance.hints = random.chance(0.5);
  instance.may_split = random.chance(0.8);
  instance.prefetch = random.chance(0.7);
  instance.request_delay = random.exponential(0.2);
  instance.commit_seconds = 1 + random.exponential(10);
  instance.failure_chance = random.chance(0.3) ? 0.1 : 0;
  const char* sizings[] = {"wis", "mis", "rts", "static"};
  instance.sizing = sizings[random.below(4)];
  const auto hosts = random.between(1, 6);
  for (std::int64_t i = 0; i < hosts; ++i) {
    GridHost host;
    host.speed = std::exp(random.normal(0, 1));
    host.performance = host.speed * std::exp(random.normal(0, 0.3));
    host.slots = static_cast<int>(random.between(1, 3));
    if (i > 0) host.joins_at = random.chance(0.5) ? 0 : random.exponential(10);
    double at = host.joins_at;
    for (auto left = i == 0 ? 0 : random.between(0, 4); left > 0; --left) {
      at += random.exponential(6);
      const HostEventKind kinds[] = {HostEventKind::pause, HostEventKind::slow, HostEventKind::off,
                                     HostEventKind::vanish};
      const HostEventKind kind = kinds[random.below(4)];
      host.events.push_back({at, kind, 0.02 + random.uniform()});
      if (kind == HostEventKind::pause)
        host.events.push_back({at += random.exponential(8), HostEventKind::resume});
      if (kind == HostEventKind::off) host.events.push_back({at += random.exponential(8), HostEventKind::on});
    }
    instance.hosts.push_back(host);
  }
  if (random.chance(0.4)) instance.restarts = {random.exponential(10), random.exponential(30)};
  return instance;
}

}  // namespace

TEST_CASE("random grids end, whatever happens to their hosts") {
  constexpr int seeds = 1000;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    const GridInstance instance = random_grid(seed);
    const GridRun random = run(instance);
    if (random.problems.front().stopped) continue;  // its kernels failed wherever they were tried
    CHECK((random.complete || random.counts.set_aside > 0));
    CHECK(random.counts.accepted + random.counts.set_aside == instance.items);
    CHECK(random.waste > -1e-6 - static_cast<double>(random.counts.set_aside));
    CHECK(random.makespan >= 0.999 * random.ideal * static_cast<double>(random.counts.set_aside == 0));
  }
}
