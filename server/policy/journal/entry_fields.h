// A stage's setup and its events as parts of a log's lines (dispatch/log.h), and what Stage takes for granted
// of them, checked: a log may come from anywhere.
//
//   {"gleaner_stage_log":3,"items":640,"costs":[...],"strategy":"wis","straggler":"split","may_split":true,
//    "rules":{...}}
//   {"at":1767225600000000,"event":"report","host":1,...,"answer":"go_on until 70","decisions":["..."]}
//
// `costs` is left out where all are 1. `gleaner_stage_log` grows when a reader of today would decide
// otherwise by rules that are gone: earlier ones are refused. Fields are those of log_fields.h. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "server/policy/journal/entry.h"
#include "shared/protocol/json_reader.h"
#include "shared/protocol/json_writer.h"

namespace gleaner::policy {

void visit(protocol::codec::JsonWriter& writer, const StageSetup& setup);
void visit(protocol::codec::JsonReader& reader, StageSetup& setup);
void visit(protocol::codec::JsonWriter& writer, const JournalEntry& entry);
void visit(protocol::codec::JsonReader& reader, JournalEntry& entry);

// A RestoreEvent has at least so many bytes in a line: nobody makes one of a gigabyte for a log of less.
[[nodiscard]] std::size_t restore_bytes_least(std::size_t units, std::size_t hosts);

// Empty, or what is wrong as "KEY: expected ...".
[[nodiscard]] std::string impossible(const StageSetup& setup);
// Of a stage of so many items.
[[nodiscard]] std::string impossible(const StageEvent& event, std::int64_t items);

}  // namespace gleaner::policy
