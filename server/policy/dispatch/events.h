// The events of dispatch (dispatch.h), as values. The live server, a relay and the simulator send them, the
// decision log (log.h) stores them, and its replay sends them again. The same events in the same order lead
// to the same decisions. Value types; Dispatch::apply() documents the answer to each.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "server/policy/dispatch/mapping_group.h"
#include "server/policy/dispatch/terms.h"
#include "server/policy/journal/entry.h"
#include "server/policy/trust/verdict.h"

namespace gleaner::policy {

// A problem is added, or changed. `service`: its account as kept before a restart.
struct ProblemEvent {
  ProblemId problem;
  ProblemTerms terms;
  std::optional<double> service = {};
};

struct DropProblemEvent {
  ProblemId problem;
};

// A stage of the problem begins, and learns which hosts wait for work. With `stored` it resumes from there
// instead.
struct BeginStageEvent {
  ProblemId problem;
  StageSetup setup;
  std::optional<RestoreEvent> stored = {};
};

// A host is added, or changed.
struct HostEvent {
  HostId host;
  HostTerms terms;
};

struct DropHostEvent {
  HostId host;
};

// What came of a search for a plan (Dispatch::take_jobs()).
struct PlannedEvent {
  PlanJob job;
  TaskPlan plan;
  double seconds = 0;  // that it took
};

// About a second has passed: accounts are settled, and plans may be due.
struct PulseEvent {};

// Several hosts' results of the same items were compared. All opinions are still stored. Dispatch only writes
// it down; Project::apply() acts on it.
struct ComparedEvent {
  ProblemId problem;
  Range range;
  std::vector<Opinion> opinions;  // never empty
  Verdict verdict;
  VerdictTerms terms = {};  // by which they were judged
};

// A stage was told something (Dispatch::stage()), and decided.
struct StageHappened {
  ProblemId problem;
  JournalEntry entry;
};

using ProjectEvent = std::variant<ProblemEvent, DropProblemEvent, BeginStageEvent, HostEvent, DropHostEvent,
                                  WorkDemand, PlannedEvent, PulseEvent, ComparedEvent, StageHappened>;

}  // namespace gleaner::policy
