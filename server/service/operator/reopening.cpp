#include "server/service/operator/reopening.h"

#include "server/service/core/certified.h"

namespace gleaner::service {

Error refusal_of(const Problem& problem, const std::string& why) {
  return {ErrorKind::conflict, "problem " + problem.row.name + " " + why};
}

Problem* reopenable(Transaction& tx, ProblemId id, Error& why) {
  const auto found = tx.model.problems.find(id);
  if (found == tx.model.problems.end()) {
    why = {ErrorKind::not_found, "no problem " + std::to_string(id.value) + " here"};
    return nullptr;
  }
  Problem& problem = found->second;
  const protocol::ProblemState state = problem.row.state;
  const Status startable = check_startable(tx, tx.model.applications.at(problem.row.application));
  if (!startable.ok())
    why = startable.error();
  else if (!tx.model.origin->plans())
    why = refusal_of(problem, "is of the project above this relay: ask there");
  else if (state == protocol::ProblemState::cancelled)
    why = refusal_of(problem, "is cancelled already");
  else if (tx.model.underway.jobs.contains(id) || state == protocol::ProblemState::combining)
    why = refusal_of(problem, "is being planned or combined: try again in a moment");
  else if (problem.stage_row.items == 0)
    why = refusal_of(problem, "never began");
  else
    return &problem;
  return nullptr;
}

}  // namespace gleaner::service
