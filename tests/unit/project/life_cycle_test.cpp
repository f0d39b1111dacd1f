// When a stage cannot be completed.
#include "server/policy/project/life_cycle.h"

#include "tests/unit/project/bench.h"

using namespace gleaner;
using namespace gleaner::policy;

TEST_CASE("only failed items are left once all others are accepted and nobody computes") {
  ProjectBench bench;
  const ProblemId problem = bench.add_problem(1, 3, "none");
  const auto over = [&] { return only_failed_items_left(bench.stage(problem).view()); };
  const auto give_back = [&](const Unit& unit) {
    Changes changes;
    bench.stage(problem).apply(
        GiveBackEvent{unit.host, unit.id, GiveBack::set_aside, unit.range.begin, "crash"}, bench.now,
        changes);
  };
  give_back(bench.take(problem, 1));
  (void)bench.deliver(problem, bench.take(problem, 1));
  CHECK_FALSE(over());  // an item is free
  const Unit last = bench.take(problem, 1);
  CHECK_FALSE(over());
  (void)bench.deliver(problem, last);
  CHECK(over());
}

TEST_CASE("a complete stage is none of which only failed items are left") {
  ProjectBench bench;
  const ProblemId problem = bench.add_problem(1, 1, "none");
  (void)bench.deliver(problem, bench.take(problem, 1));
  CHECK(bench.stage(problem).view().complete());
  CHECK_FALSE(only_failed_items_left(bench.stage(problem).view()));
}
