// The golden instance of server/policy/mapping/MAPPING.md: queues and makespans, exactly.
#include "tests/unit/mapping/instances.h"

using namespace gleaner;
using namespace gleaner::policy;
using namespace gleaner::policy::testing;

namespace {

struct Golden {
  std::string strategy;
  Queues queues;
  double makespan;
};

}  // namespace

TEST_CASE("the golden instance: queues and makespans") {
  const std::vector<Golden> golden{
      {"rr", {{0, 3, 6}, {1, 4, 7}, {2, 5}}, 108},
      {"ef", {{5}, {2, 6, 7}, {0, 1, 3, 4}}, 60.5},
      {"ll", {{0, 3}, {2, 5, 6, 7}, {1, 4}}, 64},
      {"mm", {{}, {1}, {5, 0, 2, 6, 3, 7, 4}}, 78},
      {"mx", {{3, 5}, {1, 2}, {4, 7, 6, 0}}, 55},
      {"llx", {{4}, {1, 0}, {7, 3, 6, 2, 5}}, 102},
      {"llm", {{5, 6}, {3, 4}, {0, 2, 1, 7}}, 72},
      {"mmc", {{}, {0, 3}, {5, 2, 6, 1, 7, 4}}, 74},
      {"mxc", {{3, 0}, {7, 2}, {4, 1, 6, 5}}, 50},
      {"llxc", {{4}, {1, 6, 5}, {7, 3, 2, 0}}, 102},
      {"llmc", {{5, 3}, {2, 7}, {0, 6, 1, 4}}, 51},
      {"fa", {{}, {0, 3}, {5, 2, 6, 1, 7, 4}}, 74},
      {"fa,literal=true", {{5, 2}, {6, 3, 0}, {7, 4, 1}}, 52},
      {"fe,beta=0.1", {{2}, {0, 6, 4}, {5, 3, 1, 7}}, 75.5},
      {"fe,beta=0.5", {{0, 5, 1}, {3, 2, 7}, {6, 4}}, 63},
      {"fe,beta=1", {{6, 1}, {3, 0, 2, 7, 4}, {5}}, 120},
      {"fz,beta=0.1", {{3}, {6}, {5, 0, 2, 1, 7, 4}}, 71},
      {"fz,beta=0.5", {{}, {6}, {5, 0, 2, 1, 4, 7, 3}}, 81},
      {"fz,beta=1", {{}, {}, {5, 0, 1, 2, 4, 7, 6, 3}}, 90},
      {"la", {{0}, {6, 7}, {5, 2, 3, 1, 4}}, 59},
  };
  for (const Golden& expected : golden) {
    INFO(expected.strategy);
    const Schedule schedule = generate(expected.strategy, golden_input());
    CHECK(schedule.queues == expected.queues);
    CHECK(schedule.makespan == Approx(expected.makespan).epsilon(1e-12));
    CHECK(schedule.unplaced.empty());
  }
}

TEST_CASE("the golden instance: the optimum is 47, and PN comes within 50 for any seed") {
  MappingInput input = golden_input();
  double optimum = std::numeric_limits<double>::infinity();
  for (int code = 0; code < 6561; ++code) {
    Queues queues(3);
    for (int task = 0, rest = code; task < 8; ++task, rest /= 3) {
      queues[static_cast<std::size_t>(rest % 3)].push_back(static_cast<std::size_t>(task));
    }
    optimum = std::min(optimum, predicted_makespan(input, queues));
  }
  CHECK(optimum == Approx(47));
  int at_most_48 = 0;
  for (input.seed = 1; input.seed <= 50; ++input.seed) {
    const double makespan = generate("pn", input).makespan;
    CHECK(makespan <= 50);
    CHECK(makespan >= optimum * (1 - 1e-12));
    at_most_48 += makespan <= 48 ? 1 : 0;
  }
  CHECK(at_most_48 >= 25);  // "typically 47 or 48"
}

TEST_CASE("all hosts and tasks alike: the first of equals") {
  MappingInput input;
  input.computation = Matrix(5, 3, 0.1);
  input.communication = Matrix(5, 3, 0.2);
  input.start = {0, 0, 0};
  const Queues in_turn{{0, 3}, {1, 4}, {2}};
  for (const char* name : {"rr", "ef", "ll", "llm", "llx", "llmc", "llxc", "mm", "mx", "mmc", "mxc", "fa"}) {
    INFO(name);
    CHECK(generate(name, input).queues == in_turn);
  }
}

TEST_CASE("round robin goes on where the last batch ended") {
  MappingInput input;
  input.computation = Matrix(2, 3, 1);
  input.start = {0, 0, 0};
  const Schedule first = generate("rr", input);
  CHECK(first.queues == Queues{{0}, {1}, {}});
  input.placed_before = first.placed;
  CHECK(generate("rr", input).queues == Queues{{1}, {}, {0}});
}
