// The decision log of a project: every problem, host, request, verdict and stage event in the order in which
// dispatch was told of them, one line of JSON an event, with what was decided.
//
//   {"gleaner_project_log":1,"heartbeat":60.0,"unit_maximum":1200.0}
//   {"at":1767225600000000,"dispatch":"work","host":1,"slots":[[0,true]],...,"answer":"slot 0: unit 7 of
//   ..."}
//   {"dispatch":"stage_event","problem":3,"event":{"at":1767225600000000,"event":"report",...}}
//   {"at":1767225600000000,"dispatch":"verdict","problem":3,"range":[3,5],...,"answer":"agree, right 0 1"}
//
// Setups and events of stages are those of journal/entry_fields.h; what a stage is asked because of a request
// follows from the request and is no line of its own. Searches for plans are no events, for they end early
// when a host waits: what came of them is ("planned"), and so replays reach the same decisions. A verdict's
// opinions, and which of them agree, are taken for granted (results are not in the log), and judged anew. A
// restart begins with the first line again. `at` in microseconds since 1970. The version grows when a reader
// of today would misunderstand a line; unknown fields are ignored. Pure. Errors: invalid, "KEY: expected
// ...".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/policy/dispatch/events.h"

namespace gleaner::policy {

struct LogEntry {
  Timestamp at;
  ProjectEvent event;
  std::optional<std::string> answer = {};  // to a WorkDemand and a ComparedEvent: what text_of() says
};

// A first line's rules, or what any other one says.
using LogLine = std::variant<PlanRules, LogEntry>;

// Without a newline.
[[nodiscard]] std::string first_line(const PlanRules& rules);
[[nodiscard]] std::string line_of(const LogEntry& entry);
// What an entry says of a stage may still be impossible (journal/entry_fields.h).
[[nodiscard]] Result<LogLine> read_line(std::string_view line);

// All that was decided: equal texts are equal decisions.
[[nodiscard]] std::string text_of(const Served& served);
[[nodiscard]] std::string text_of(const Verdict& verdict);

}  // namespace gleaner::policy
