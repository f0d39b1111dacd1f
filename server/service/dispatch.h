// The live server's side of policy::Dispatch, which decides who gets what: tells it of problems and hosts,
// stores what it decided, and turns units into grants. Writer thread only.
#pragma once

#include "server/service/transaction.h"
#include "server/service/work_outcome.h"

namespace gleaner::service {

// What a problem's row and application mean to it; tell it again whenever state, weight, priority or strategy
// has changed.
[[nodiscard]] policy::ProblemTerms terms_of(const Problem& problem);
[[nodiscard]] policy::ProblemFacts facts_of(const Problem& problem);
// The host gets nothing of problems whose application it is held back from.
[[nodiscard]] policy::HostTerms terms_of(const Model& model, const Host& host, Timestamp now);
void tell_dispatch(Transaction& tx, const Problem& problem);
void tell_dispatch(Transaction& tx, const Host& host);

// A unit for each slot that can get one, and for the rest when to ask again and why.
[[nodiscard]] Status hand_out(Transaction& tx, Host& host, const protocol::WorkRequest& request,
                              WorkOutcome& outcome);
// Once a second: accounts, and whether mapping strategies plan again.
void tick_dispatch(Transaction& tx);
void take_mapping(Transaction& tx, const policy::PlanJob& job, const policy::TaskPlan& plan, double seconds);

}  // namespace gleaner::service
