// A tree of relays in virtual time: tasks go down, results come up, by the decision objects of
// shared/planning/serving.h. No threads, no randomness of its own: the same input gives the same run.
// Source: Banino-Rokkones, Beaumont, Natvig, section 8. What the paper leaves open is decided so: requests
// are free and instant; who sends commits to its choice and waits for the receiver, who serves waiting
// senders in their order; a node's own CPU comes first; results go before tasks on the sending port; rates
// are those observed last, at first the nominal ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/papers/tree_platform.h"

namespace gleaner::simulator {

struct TreeInstance {
  planning::TaskTree tree;
  PlatformSpeeds speeds;
  planning::Throughput best;  // of the static platform
  std::string rule = "bc";    // fifo, otf, round-robin, bc, geo
  std::int64_t tasks = 2500;
  int threshold_max = 0;  // 0: none
  bool keep_trace = false;
};

struct TreeRun {
  double finish = 0;
  std::vector<double> results_at;      // when each result was at the root, in order
  std::vector<std::int64_t> computed;  // tasks of each node
  std::int64_t handed_out = 0;         // by the root, to its CPU and its children
  int largest_threshold = 1;
  bool complete = false;
  std::string fault;               // an invariant that did not hold: one CPU, one port each, no lost task
  std::vector<std::size_t> trace;  // whom the nodes served, in order (with keep_trace)
  // Results by that share of the run's time, per second.
  [[nodiscard]] double rate_at(double share) const;
};

// Errors: invalid for an unknown rule.
[[nodiscard]] Result<TreeRun> run_tree(const TreeInstance& instance);

}  // namespace gleaner::simulator
