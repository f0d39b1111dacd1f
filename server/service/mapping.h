// Mapping strategies live (policy/plan): the server keeps a queue for each slot; plans are made on the pool
// while requests go on, and an idle slot that finds its queue empty ends a search with what it has. Writer
// thread only.
#pragma once

#include <string>

#include "server/service/transaction.h"

namespace gleaner::service {

struct Planned {
  Range range;  // empty: nothing now
  ProblemId problem;
  std::string reason;
  // Seconds until it makes sense to ask again; 0: nothing is free, the endgame's rules say.
  double wait = 0;
};

[[nodiscard]] bool is_mapped(const Problem& problem);
// The next task of the slot's queue; may start a plan.
[[nodiscard]] Planned next_planned(Transaction& tx, const Host& host, const protocol::SlotRequest& slot,
                                   const protocol::WorkRequest& request, const std::string& strategy);
void note_begun(Model& model, const Problem& problem, const policy::Unit& unit, const Host& host);
// A unit is over: what it took is an observation, if it was computed as it was handed out.
void note_ended(Model& model, const policy::Unit& unit);
void take_mapping(Transaction& tx, const effect::Map& job, const policy::TaskPlan& plan, double seconds);
// Once a second: whether anything calls for another plan.
void tick_mapping(Transaction& tx);

}  // namespace gleaner::service
