// Nodes of a flow as they are on the server: which can begin, what the others wait for, and how a person
// follows them. Errors: not_found (another node has no such result), those of the server and of files.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/admin/flow_checks.h"
#include "tools/admin/flow_file.h"
#include "tools/admin/progress.h"
#include "tools/admin/session.h"

namespace gleaner::admin {

// Has the problem failed, been cancelled or stopped? Then nodes that need its results cannot begin.
[[nodiscard]] bool blocks(const protocol::ProblemInfo& problem);
// Of what the node waits for, the first; empty: it can begin.
[[nodiscard]] std::string waits_for(const FlowNode& node, const FlowProblems& problems);
// Nodes that cannot begin, since one that they need was lost or is stopped.
[[nodiscard]] std::set<std::string> held_up(const Flow& flow, const FlowProblems& problems);

// The node's inputs: files are uploaded; results of others stay on the server, under their digests.
// REQUIRES: waits_for() is empty.
[[nodiscard]] Status add_inputs(Session& session, Api& api, const FlowNode& node,
                                const FlowProblems& problems, std::vector<protocol::Input>& inputs);

// "running, problem 3, 12.5 %, 2 min left"; "waits for sweep".
[[nodiscard]] std::vector<std::string> lines_of(const Flow& flow, const FlowProblems& problems);

// On a terminal all nodes, redrawn; elsewhere what changed its state.
class FlowView {
 public:
  FlowView(Session& session, const Flow& flow)
      : session_(session),
        flow_(flow),
        text_(session.people(), session.people_display()),
        last_seen_(session.outside().clock.steady()) {}
  ~FlowView() { text_.keep(); }
  FlowView(const FlowView&) = delete;
  FlowView& operator=(const FlowView&) = delete;

  void show(const FlowProblems& problems);
  // Of a failed request: false if it is to end the command. A server that goes away is waited for, five
  // minutes long from the last show() on.
  [[nodiscard]] bool outlasts(const Error& error);

 private:
  Session& session_;
  const Flow& flow_;
  LiveText text_;
  std::map<std::string, protocol::ProblemState> told_;
  SteadyTime last_seen_;
  bool away_ = false;
};

}  // namespace gleaner::admin
