// A stage's log: lines of JSON, first the stage as it was set up, then every event with what was decided.
//
//   {"gleaner_stage_log":3,"items":640,"costs":[...],"strategy":"wis","straggler":"split","may_split":true,
//    "rules":{...}}
//   {"at":1767225600000000,"event":"request","host":1,"slot":0,...,"answer":"unit 1","decisions":["..."]}
//
// Under a mapping strategy the searches for plans are no events: they are made beside the stage, for several
// problems at once, and end early when a host waits for them, so no replay could find the same again. What a
// plan gave to a slot stands in that slot's request (`planned`, with the reason in `planned_reason`), and
// more of it the stage never sees: replays reach the same decisions.
//
// `at` in microseconds since 1970; `costs` is left out where all are 1. Fields are those of log_fields.h. The
// version grows when a reader of today would misunderstand a line, or decide otherwise by rules that are
// gone: logs of versions 1 and 2 are refused; unknown fields are ignored. Pure. Errors: invalid, "LOG:12:
// range: expected ...".
#pragma once

#include <string>
#include <string_view>

#include "server/policy/journal/entry.h"
#include "shared/json/value.h"

namespace gleaner::policy {

// `costs`: the hints (StageSetup::costs). Without a newline.
[[nodiscard]] std::string setup_line(const StageSetup& setup);
[[nodiscard]] std::string entry_line(const JournalEntry& entry);
// A RestoreEvent's line has at least so many bytes: nobody makes one of a gigabyte for a log of less.
[[nodiscard]] std::size_t restore_bytes_least(std::size_t units, std::size_t hosts);

[[nodiscard]] Result<StageSetup> read_setup_line(std::string_view line);
// Ranges and items are checked against `items`.
[[nodiscard]] Result<JournalEntry> read_entry_line(std::string_view line, std::int64_t items);
// The same of a line's JSON, or of what another log has in a line of its own.
[[nodiscard]] Result<StageSetup> read_setup(const json::Value& object);
[[nodiscard]] Result<JournalEntry> read_entry(const json::Value& object, std::int64_t items);

}  // namespace gleaner::policy
