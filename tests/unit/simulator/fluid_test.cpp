// The fluid bound, and the jobs that are scaled to it.
#include "tools/simulator/fluid.h"

#include <cmath>
#include <numeric>

#include "tests/catch.h"
#include "tools/simulator/job.h"

using namespace gleaner;
using namespace gleaner::simulator;

namespace {

GridHost listed(double speed, int slots, std::vector<HostEvent> events) {
  GridHost host;
  host.speed = speed;
  host.slots = slots;
  host.events = std::move(events);
  return host;
}

}  // namespace

TEST_CASE("what a host delivers is its speed between its events") {
  const std::vector<GridHost> hosts{listed(2, 2,
                                           {{10, HostEventKind::pause},
                                            {20, HostEventKind::resume},
                                            {30, HostEventKind::slow, 0.5},
                                            {40, HostEventKind::off},
                                            {50, HostEventKind::on},  // at full speed again
                                            {60, HostEventKind::vanish}})};
  CHECK(delivered(hosts, 10).work == Approx(40));
  CHECK(delivered(hosts, 20).work == Approx(40));
  CHECK(delivered(hosts, 25).work == Approx(60));
  CHECK(delivered(hosts, 40).work == Approx(100));
  CHECK(delivered(hosts, 55).work == Approx(120));
  CHECK(delivered(hosts, 1000).work == Approx(140));
  CHECK(fluid_time(hosts, 50) == Approx(22.5));
  CHECK(fluid_time(hosts, 90) == Approx(35));
  CHECK(fluid_time(hosts, 110) == Approx(52.5));
  CHECK(std::isinf(fluid_time(hosts, 141)));
}

TEST_CASE("a population's job takes its fluid bound exactly") {
  for (const Profile profile : profiles) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      GridInstance instance;
      PopulationSetup population;
      population.hosts = 20;
      population.mix = {.always = 0.1, .office = 0.4, .home = 0.2, .lab = 0.3};
      population.seed = seed;
      instance.hosts = make_population(population);
      JobSetup job;
      job.profile = profile;
      job.seed = seed;
      REQUIRE(set_job(job, 0, instance).ok());
      INFO(name_of(profile) << ", seed " << seed);
      CHECK(instance.ideal_seconds == 7200);
      CHECK(ideal_makespan(instance) == Approx(7200).epsilon(1e-6));
      if (!instance.costs.empty()) {
        const double sum = std::accumulate(instance.costs.begin(), instance.costs.end(), 0.0);
        CHECK(sum == Approx(static_cast<double>(instance.items)));
      }
      CHECK(instance.hints == (profile != Profile::wild));
    }
  }
}

TEST_CASE("hosts that are all gone can do no job") {
  GridInstance instance;
  instance.hosts = {listed(1, 1, {{0, HostEventKind::vanish}})};
  CHECK_FALSE(set_job({}, 0, instance).ok());
  CHECK_FALSE(set_job({}, 10, instance).ok());
}
