// The log of a whole server: every problem, host and request in the order in which dispatch was told of them,
// one line of JSON an event, with what was decided.
//
//   {"gleaner_project_log":1,"heartbeat":60.0,"unit_maximum":1200.0}
//   {"at":1767225600000000,"dispatch":"work","host":1,"slots":[[0,true]],...,"answer":"slot 0: unit 7 of
//   ..."}
//   {"at":1767225600000000,"dispatch":"stage_event","problem":3,"event":{"at":...,"event":"report",...}}
//
// Stages' setups and events are those of their own logs (journal/lines.h); what a stage is asked because of a
// request follows from the request and is no line of its own. Searches for plans are no events, what came of
// them is ("planned"). A restart begins with the first line again. `at` in microseconds since 1970. The
// version grows when a reader of today would misunderstand a line; unknown fields are ignored. Pure.
#pragma once

#include <string>

#include "server/policy/dispatch/mapping_group.h"
#include "server/policy/dispatch/terms.h"
#include "server/policy/journal/entry.h"

namespace gleaner::policy::log {

inline constexpr std::int64_t version = 1;

[[nodiscard]] std::string begins(const PlanRules& rules);
[[nodiscard]] std::string problem(ProblemId problem, const ProblemTerms& terms, std::optional<double> service,
                                  Timestamp now);
// `what`: drop_problem, end_stage.
[[nodiscard]] std::string problem(const char* what, ProblemId problem, Timestamp now);
// `stored`: null if it begins.
[[nodiscard]] std::string stage(ProblemId problem, const StageSetup& setup, const RestoreEvent* stored,
                                Timestamp now);
// `line`: of the stage's own log.
[[nodiscard]] std::string stage_event(ProblemId problem, const std::string& line);
[[nodiscard]] std::string host(HostId host, const HostTerms& terms, Timestamp now);
[[nodiscard]] std::string drop_host(HostId host, Timestamp now);
[[nodiscard]] std::string work(const WorkDemand& demand, const Served& served, Timestamp now);
[[nodiscard]] std::string planned(const std::string& strategy, const TaskPlan& plan, double seconds,
                                  Timestamp now);
[[nodiscard]] std::string tick(Timestamp now);

// All that was decided on a request: equal texts are equal decisions.
[[nodiscard]] std::string text_of(const Served& served);

}  // namespace gleaner::policy::log
