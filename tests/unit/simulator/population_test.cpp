// The synthetic population: the same for a seed, in a steady state, with the shares that the model says.
#include "tools/simulator/population.h"

#include <cmath>
#include <map>

#include "tests/catch.h"
#include "tools/simulator/fluid.h"

using namespace gleaner;
using namespace gleaner::simulator;

namespace {

std::vector<HostEvent> events_of(const Owner& owner, double until) {
  OwnerTrace trace(owner);
  std::vector<HostEvent> events;
  for (HostEvent event; trace.next(event) && event.at < until;) events.push_back(event);
  return events;
}

std::vector<GridHost> population(HostClass kind, double start_hour, int hosts = 2000) {
  PopulationSetup setup;
  setup.hosts = hosts;
  (kind == HostClass::always   ? setup.mix.always
   : kind == HostClass::office ? setup.mix.office
   : kind == HostClass::home   ? setup.mix.home
                               : setup.mix.lab) = 1;
  setup.start_hour = start_hour;
  setup.seed = 7;
  return make_population(setup);
}

// The share of hosts that are switched on at `at`.
double share_on(const std::vector<GridHost>& hosts, double at) {
  int on = 0;
  for (const GridHost& host : hosts) {
    HostTrace trace(host);
    HostState state;
    for (HostEvent event; trace.next(event) && event.at <= at;) state.apply(event);
    on += state.answers() ? 1 : 0;
  }
  return on / static_cast<double>(hosts.size());
}

}  // namespace

TEST_CASE("an owner's events are in order, consistent, and the same for a seed") {
  for (const HostClass kind : host_classes) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      INFO(name_of(kind) << ", seed " << seed);
      Owner owner;
      owner.kind = kind;
      owner.seed = seed;
      owner.harsh = 5;
      const auto events = events_of(owner, 7 * 86400);
      const auto again = events_of(owner, 7 * 86400);
      REQUIRE(events.size() == again.size());
      HostState state;
      double last = 0;
      for (std::size_t i = 0; i < events.size(); ++i) {
        CHECK(events[i].at == again[i].at);
        CHECK(events[i].at >= last);
        CHECK_FALSE(state.vanished);
        if (events[i].kind == HostEventKind::on) CHECK_FALSE(state.up);
        if (events[i].kind == HostEventKind::off) CHECK(state.up);
        if (events[i].kind == HostEventKind::pause)
          CHECK((state.up && !state.paused && kind != HostClass::always));
        if (events[i].kind == HostEventKind::resume) CHECK((state.up && state.paused));
        if (events[i].kind == HostEventKind::slow) CHECK((events[i].factor > 0 && events[i].factor <= 1));
        last = events[i].at;
        state.apply(events[i]);
      }
    }
  }
}

TEST_CASE("PCs are on when their class is") {
  constexpr double monday_10 = 10, saturday_12 = 5 * 24 + 12;
  constexpr double hour = 3600;
  CHECK(share_on(population(HostClass::always, monday_10), hour) > 0.97);
  const auto office = population(HostClass::office, monday_10);
  const double day = share_on(office, hour), night = share_on(office, 14 * hour);
  INFO("office: " << day << " by day, " << night << " by night");
  CHECK(day > 0.85);
  CHECK(night > 0.25);
  CHECK(night < 0.4);
  CHECK(share_on(population(HostClass::office, saturday_12), hour) < 0.45);
  const auto lab = population(HostClass::lab, monday_10);
  CHECK(share_on(lab, 4 * hour) > 0.35);
  CHECK(share_on(lab, 4 * hour) > 2 * share_on(lab, 20 * hour));  // 6:00: closed
  const double home = share_on(population(HostClass::home, monday_10), 0);
  CHECK(home > 0.2);
  CHECK(home < 0.6);
  CHECK(share_on(population(HostClass::home, monday_10), 12 * hour) == Approx(home).margin(0.05));
}

TEST_CASE("speeds and slots have the model's distribution") {
  const auto hosts = population(HostClass::always, 10, 20000);
  std::map<int, int> slots;
  double logarithms = 0;
  for (const GridHost& host : hosts) {
    ++slots[host.slots];
    CHECK(host.speed >= std::pow(10, -0.5));
    CHECK(host.speed <= std::pow(10, 0.5));
    logarithms += std::log(host.speed);
  }
  CHECK(logarithms / 20000 == Approx(0).margin(0.02));
  CHECK(slots[1] / 20000.0 == Approx(0.1).margin(0.01));
  CHECK(slots[2] / 20000.0 == Approx(0.3).margin(0.01));
  CHECK(slots[4] / 20000.0 == Approx(0.4).margin(0.01));
  CHECK(slots[8] / 20000.0 == Approx(0.2).margin(0.01));
}

TEST_CASE("harsh means more hosts gone for good") {
  const auto gone = [](double harsh) {
    int count = 0;
    for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
      Owner owner;
      owner.harsh = harsh;
      owner.seed = seed;
      for (const HostEvent& event : events_of(owner, 3600))
        count += event.kind == HostEventKind::vanish ? 1 : 0;
    }
    return count / 5000.0;
  };
  CHECK(gone(1) == Approx(0.011).margin(0.005));
  CHECK(gone(20) == Approx(0.22).margin(0.03));
}
