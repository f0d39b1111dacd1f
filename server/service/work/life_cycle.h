// The life of a problem on the writer thread: planning (the manager says what the stage is) -> running ->
// combining -> the next stage, or finished. Every step is stored before the job that makes the next one
// starts, and begins again after a restart.
#pragma once

#include <string>
#include <vector>

#include "server/service/core/transaction.h"

namespace gleaner::service {

// What the manager says of a stage; its inputs are among the blobs.
struct PlannedStage {
  bool end = false;  // there is no such stage: the problem is done
  storage::StageRow row;
};

struct CombinedStage {
  std::vector<std::string> damaged;  // not combined: these blobs are damaged or gone
  std::vector<protocol::ResultFile> files;
  PlannedStage next;
};

// Starts the next planning or combining job, if one is due.
[[nodiscard]] Status advance(Transaction& tx, ProblemId id);
// Advances the problems that are due (Transaction::due). The writer ends each operation with it.
[[nodiscard]] Status advance_due(Transaction& tx);
[[nodiscard]] Status begin_stage(Transaction& tx, Problem& problem, PlannedStage planned);
[[nodiscard]] Status finish_problem(Transaction& tx, Problem& problem, protocol::ProblemState state,
                                    const std::string& message);
// What a job of the pool came to. A problem that cannot be planned or combined fails, with the manager's
// words; if it is this machine that cannot, it waits (waiting.h).
[[nodiscard]] Status take_plan(Transaction& tx, ProblemId id, const Result<PlannedStage>& planned);
[[nodiscard]] Status take_combined(Transaction& tx, ProblemId id, int stage,
                                   const Result<CombinedStage>& combined);

// Nothing of it stays, in store and model. REQUIRES: it is in the model.
[[nodiscard]] Status erase_problem(Transaction& tx, ProblemId id);
// After a start: what was under way goes on.
[[nodiscard]] Status resume_problems(Transaction& tx);
// Once a second: silent hosts, stages that cannot end.
[[nodiscard]] Status tick_problems(Transaction& tx);
// Writes what fair sharing has charged the problems: a crash forgets what came since.
[[nodiscard]] Status keep_accounts(Transaction& tx);

}  // namespace gleaner::service
