// Instances for the tests of mapping: the golden one of server/policy/mapping/MAPPING.md, and random ones.
#pragma once

#include <limits>
#include <string>

#include "server/policy/mapping/mapping.h"
#include "shared/base/random.h"
#include "tests/catch.h"

namespace gleaner::policy::testing {

using Queues = std::vector<std::vector<std::size_t>>;

inline MappingInput golden_input() {
  const std::vector<double> errors{.1, .5, .2, .05, 1, .3, .1, .4};
  const std::vector<double> transfers{2, 1, 4};
  MappingInput input;
  input.rates = {30, 60, 150};
  input.work = {300, 1200, 600, 900, 3000, 150, 750, 1800};
  input.start = {0, 5, 0};
  input.computation = input.communication = input.error = Matrix(8, 3);
  for (std::size_t task = 0; task < 8; ++task) {
    for (std::size_t host = 0; host < 3; ++host) {
      input.computation(task, host) = input.work[task] / input.rates[host];
      input.communication(task, host) = transfers[host];
      input.error(task, host) = errors[task];
    }
  }
  return input;
}

// Related hosts with noise, some idle later, some pairs not allowed (`forbidden`: probability).
inline MappingInput random_input(Random& random, std::size_t tasks, std::size_t hosts, double forbidden = 0) {
  MappingInput input;
  input.seed = random.next();
  input.computation = input.communication = input.error = Matrix(tasks, hosts);
  for (std::size_t host = 0; host < hosts; ++host) {
    input.rates.push_back(30 + 120 * random.uniform());
    input.start.push_back(random.chance(0.5) ? 0 : 20 * random.uniform());
    input.bandwidth.push_back(1e5 + 1e6 * random.uniform());
  }
  for (std::size_t task = 0; task < tasks; ++task) {
    input.work.push_back(100 + 3000 * random.uniform());
    input.bytes.push_back(1e6 * random.uniform());
    for (std::size_t host = 0; host < hosts; ++host) {
      input.computation(task, host) = input.work[task] / input.rates[host];
      input.communication(task, host) = 0.1 + input.bytes[task] / input.bandwidth[host];
      input.error(task, host) = 0.01 + random.uniform();
      if (random.chance(forbidden)) input.computation(task, host) = std::numeric_limits<double>::infinity();
    }
  }
  return input;
}

inline Schedule generate(const std::string& strategy, const MappingInput& input) {
  auto made = make_mapping(strategy);
  INFO(strategy);
  REQUIRE(made.ok());
  return (*made)->generate(input);
}

inline std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const StrategyInfo& info : mapping_strategies()) names.push_back(info.name);
  return names;
}

}  // namespace gleaner::policy::testing
