// A flow: problems of which some need others' results, in a TOML file.
//
//   flow = 1
//   name = "study"
//
//   [[node]]
//   name = "simulate"
//   app = "logistic"
//   table = "runs.csv"
//
//   [[node]]
//   name = "squeeze"
//   app = "gzip"
//   inputs = ["simulate/rows.tar"]       # NODE/RESULT, or a file; NAME=... calls it otherwise
//   after = []                           # nodes that are to be finished first, besides those of the inputs
//   parameters = { level = 9 }
//   weight = 2                           # also priority, strategy, straggler, validation, as of `problem
//   add`
//
// Paths are relative to the file. Pure. Errors: invalid, with all mistakes, a line each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"
#include "shared/io/files.h"
#include "shared/protocol/admin_messages.h"

namespace gleaner::admin {

struct FlowInput {
  std::string name;    // as the node's problem sees it
  std::string node;    // whose result it is; empty: a file
  std::string result;  // of that node
  io::Path file;
};

struct FlowNode {
  std::string name;
  protocol::AddProblem problem;  // without inputs; its name is FLOW/NODE
  std::vector<FlowInput> inputs;
  std::vector<std::string> after;  // all nodes that are to be finished first, sorted
};

struct Flow {
  std::string name;
  std::vector<FlowNode> nodes;  // each after those that it needs
};

// `file`: for messages, and its directory for paths.
[[nodiscard]] Result<Flow> parse_flow(std::string_view text, const io::Path& file);

}  // namespace gleaner::admin
