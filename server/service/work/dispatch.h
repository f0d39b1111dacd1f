// The live server's side of policy::Dispatch, which decides who gets what: tells it of problems and hosts,
// stores what it decided, and turns units into grants. Writer thread only.
#pragma once

#include "server/service/core/transaction.h"
#include "server/service/core/work_outcome.h"

namespace gleaner::service {

// A unit for each slot that can get one, and for the rest when to ask again and why.
[[nodiscard]] Status hand_out(Transaction& tx, Host& host, const protocol::WorkRequest& request,
                              WorkOutcome& outcome);
// Origin::grant() of a project's server.
[[nodiscard]] Status grant_unit(Transaction& tx, const protocol::WorkRequest& request,
                                const policy::SlotGrant& granted, WorkOutcome& outcome);
// Whether the grant is of this very problem and of items of its stage, by application, parameters and inputs.
[[nodiscard]] bool is_grant_of(const Model& model, Problem& problem, const protocol::Grant& grant);
// Once a second: accounts, and whether mapping strategies plan again.
void tick_dispatch(Transaction& tx);
void take_mapping(Transaction& tx, const policy::PlanJob& job, const policy::TaskPlan& plan, double seconds);

}  // namespace gleaner::service
