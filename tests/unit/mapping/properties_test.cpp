// What holds for every mapping strategy and any instance, and the identities between strategies.
#include <cmath>

#include "server/policy/mapping/costs.h"
#include "tests/unit/mapping/instances.h"

using namespace gleaner;
using namespace gleaner::policy;
using namespace gleaner::policy::testing;

namespace {

#ifdef GLEANER_SANITIZED
constexpr int rounds = 4;
#else
constexpr int rounds = 40;
#endif

void check_same(const std::string& a, const std::string& b, const MappingInput& input) {
  INFO(a << " and " << b);
  CHECK(generate(a, input).queues == generate(b, input).queues);
}

}  // namespace

TEST_CASE("every strategy places every task once, where it may be, and the same again") {
  const std::uint64_t seed = 20091;
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < rounds; ++round) {
    const auto tasks = static_cast<std::size_t>(random.between(1, 25));
    const auto hosts = static_cast<std::size_t>(random.between(1, 7));
    const MappingInput input = random_input(random, tasks, hosts, round % 2 == 0 ? 0 : 0.4);
    const double bound = lower_bound(input, MappingCosts(input, Communication::counted));
    for (const std::string& name : all_names()) {
      INFO(name << ", round " << round << ", " << tasks << " tasks on " << hosts);
      const Schedule schedule = generate(name, input);
      const Status sound = verify_schedule(input, schedule, schedule.makespan);
      INFO((sound.ok() ? std::string() : sound.error().message));
      CHECK(sound.ok());
      CHECK(schedule.makespan >= bound * (1 - 1e-9));
      CHECK(schedule.makespan == predicted_makespan(input, schedule.queues));
      CHECK(!schedule.reason.empty());
      const Schedule again = generate(name, input);
      CHECK(again.queues == schedule.queues);
      CHECK(again.reason == schedule.reason);
    }
  }
}

TEST_CASE("no hosts, no tasks, hosts that cannot be used, tasks that fit nowhere") {
  MappingInput none;
  none.computation = Matrix(3, 0);
  MappingInput idle;
  idle.computation = Matrix(0, 4);
  idle.start = {0, 0, 0, 0};
  MappingInput lame = golden_input();
  lame.start[2] = std::numeric_limits<double>::infinity();
  lame.computation(4, 0) = lame.computation(4, 1) = std::nan("");
  for (const std::string& name : all_names()) {
    INFO(name);
    const Schedule nowhere = generate(name, none);
    CHECK(nowhere.queues.empty());
    CHECK(nowhere.unplaced == std::vector<std::size_t>{0, 1, 2});
    const Schedule nothing = generate(name, idle);
    CHECK(nothing.queues == Queues(4));
    CHECK(nothing.unplaced.empty());
    const Schedule partly = generate(name, lame);
    CHECK(partly.queues[2].empty());
    CHECK(partly.unplaced == std::vector<std::size_t>{4});
    CHECK(std::isfinite(partly.makespan));
    CHECK(verify_schedule(lame, partly, partly.makespan).ok());
  }
}

TEST_CASE("identities of the error-weight family") {
  const std::uint64_t seed = 411;
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < rounds; ++round) {
    MappingInput input = random_input(random, 20, 5, 0.1);
    check_same("fa", "mmc", input);
    check_same("fe,beta=0", "fa", input);
    check_same("fz,beta=0", "fa", input);
    check_same("le,beta=0", "la", input);
    check_same("lz,beta=0", "la", input);
    check_same("se,beta=0", "sb", input);
    check_same("sz,beta=0", "sb", input);
    // Without errors, the worst case is the best case.
    MappingInput exact = input;
    exact.error = Matrix(20, 5, 0);
    check_same("fa,case=worst", "fa,case=best", exact);
    // A constant error has no say where it stands alone.
    exact.error = Matrix(20, 5, 0.7);
    check_same("fe,beta=1,error_weight=et", "fa", exact);
    // Algorithm 4.1 as printed is earliest finish, last in first out.
    MappingInput reversed = input;
    for (std::size_t task = 0; task < 20; ++task) {
      for (std::size_t host = 0; host < 5; ++host) {
        reversed.computation(task, host) = input.computation(19 - task, host);
        reversed.communication(task, host) = input.communication(19 - task, host);
        reversed.error(task, host) = input.error(19 - task, host);
      }
    }
    Queues lifo = generate("ef", reversed).queues;
    for (auto& queue : lifo) {
      for (std::size_t& task : queue) task = 19 - task;
    }
    CHECK(generate("fa,literal=true", input).queues == lifo);
  }
}

TEST_CASE("without communication the variants that count it are those that do not") {
  Random random(7);
  for (int round = 0; round < rounds; ++round) {
    MappingInput input = random_input(random, 15, 4, 0.2);
    input.communication = Matrix();
    check_same("mm", "mmc", input);
    check_same("mx", "mxc", input);
    check_same("llm", "llmc", input);
    check_same("llx", "llxc", input);
  }
}

TEST_CASE("a verified schedule is complete: every fault is found") {
  const MappingInput input = golden_input();
  const Schedule good = generate("mxc", input);
  CHECK(verify_schedule(input, good, 50).ok());
  CHECK(!verify_schedule(input, good, 49.999).ok());
  Schedule bad = good;
  bad.queues[0].pop_back();
  CHECK(!verify_schedule(input, bad, 1000).ok());
  bad = good;
  bad.queues[1].push_back(4);
  CHECK(!verify_schedule(input, bad, 1000).ok());
  bad = good;
  bad.queues[1].push_back(8);
  CHECK(!verify_schedule(input, bad, 1000).ok());
  bad = good;
  bad.queues.pop_back();
  CHECK(!verify_schedule(input, bad, 1000).ok());
}

TEST_CASE("a strategy's text makes the same strategy; mistakes are named") {
  for (const std::string& name : all_names()) {
    auto made = make_mapping(name);
    REQUIRE(made.ok());
    auto again = make_mapping((*made)->text());
    INFO((*made)->text());
    REQUIRE(again.ok());
    CHECK((*again)->text() == (*made)->text());
    CHECK((*made)->text().substr(0, name.size()) == name);
  }
  const auto message = [](const char* text) {
    const auto made = make_mapping(text);
    return made.ok() ? std::string("made") : made.error().message;
  };
  CHECK(message("max-min").find("mxc") != std::string::npos);
  CHECK(message("fe,beta=11").find("beta takes a number from 0 to 10") != std::string::npos);
  CHECK(message("fa,beta=1").find("no option 'beta'") != std::string::npos);
  CHECK(message("fe,case=medium").find("best|worst") != std::string::npos);
  CHECK(message("pn,rebalances=1.5").find("whole number") != std::string::npos);
  CHECK(message("mm,literal=true").find("no option 'literal'") != std::string::npos);
}
