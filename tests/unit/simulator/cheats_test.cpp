// Hosts that lie or hoard among strangers: what each is worth to them, one claim a test.
#include "tools/simulator/cheats.h"
#include "tests/catch.h"
#include "tests/unit/simulator/run.h"
#include "tools/simulator/scenario/scenario.h"

using namespace gleaner;
using namespace gleaner::simulator;

namespace {

GridInstance strangers(std::uint64_t seed, int hosts, double hours, const std::string& more = {}) {
  const auto scenario = read_scenario("[problem]\nideal_hours = " + std::to_string(hours) +
                                          "\nitem_seconds = 10\n[[fleet]]\nhosts = " + std::to_string(hosts) +
                                          "\nown = false\nmix = { always = 0.5, lab = 0.5 }\n" + more,
                                      "strangers");
  REQUIRE(scenario.ok());
  auto instance = make_instance(*scenario, seed);
  REQUIRE(instance.ok());
  instance->check_every = 100;
  return std::move(instance).value();
}

// The same with every tenth host such a liar.
GridRun lied_to(Cheat cheat, const std::string& validation, std::uint64_t seed) {
  GridInstance instance = strangers(seed, 20, 1);
  make_cheats(cheat, {&instance.hosts[3], &instance.hosts[13]});
  instance.validation = validation;
  return run(instance);
}

}  // namespace

TEST_CASE("independent liars are found, and nothing that they said is kept") {
  for (const Cheat cheat : {Cheat::always, Cheat::random, Cheat::sleeper}) {
    INFO(name_of(cheat));
    const GridRun believed = lied_to(cheat, "none", 1), checked = lied_to(cheat, "adaptive", 1);
    CHECK(believed.wrong_items > 0);
    CHECK(checked.complete);
    CHECK(checked.wrong_items == 0);
    CHECK(checked.trust.liars >= 1);
    CHECK(checked.trust.found == checked.trust.liars);
    CHECK(checked.trust.honest_found == 0);
  }
}

TEST_CASE("where nobody lies, adaptive validation costs little and a quorum everything twice") {
  const double none = lied_to(Cheat::none, "none", 2).waste;
  CHECK(lied_to(Cheat::none, "adaptive", 2).waste - none < 0.06);  // hosts compute few items in an hour
  CHECK(lied_to(Cheat::none, "quorum:2", 2).waste - none > 0.9);
}

TEST_CASE("who takes what it does not compute holds up nobody") {
  for (const Cheat cheat : {Cheat::hoarder, Cheat::boaster, Cheat::crawler}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      GridInstance instance = strangers(seed, 18, 2);
      const GridRun without = run(instance);
      const GridInstance others = strangers(seed + 100, 2, 2);
      instance.hosts.insert(instance.hosts.end(), others.hosts.begin(), others.hosts.end());
      make_cheats(cheat, {&instance.hosts[18], &instance.hosts[19]});
      const GridRun with = run(instance);
      INFO(name_of(cheat) << ", seed " << seed);
      CHECK(with.complete);
      CHECK(with.makespan <= 1.03 * without.makespan);
    }
  }
}

TEST_CASE(
    "a stranger gets one small unit a core that it enrolled, eight at most, and then as much as it "
    "delivers") {
  const int cores = GENERATE(2, 64);
  GridInstance instance = strangers(1, 10, 1);
  make_cheats(Cheat::hoarder, {&instance.hosts.front()});
  instance.hosts.front().cores = cores;
  instance.hosts.front().owner.reset();  // always there
  instance.sample_seconds = 60;
  const GridRun done = run(instance);
  CHECK(done.complete);
  std::int64_t open = 0, items = 0;
  for (const GridGrant& grant : done.grants_made) {
    if (grant.host != 0 || grant.at > 300) continue;
    ++open;
    items += grant.items;
  }
  CHECK(open == std::min(cores, 8));
  CHECK(items <= open * 60);
}

TEST_CASE("kinds of cheats have names, others are mistakes") {
  CHECK(cheat_from("sybil").value() == Cheat::sybil);
  CHECK_FALSE(cheat_from("saint").ok());
  CHECK_FALSE(
      read_scenario("[problem]\nitems = 5\nvalidation = \"quorum:9\"\n[[fleet]]\nspeeds = [1]\n", "a").ok());
}
