// The tables of applications and problems, each once: what is computed, by whom, and what came of it. As
// stored_project.h.
#pragma once

#include <algorithm>
#include <bit>

#include "server/storage/store.h"
#include "server/storage/stored.h"

namespace gleaner::storage {

// Rows that the interface has no struct of. A `number` counts the rows of a problem.
template <typename Unit = policy::Unit>
struct PlacedUnit {
  ProblemId problem;
  int stage = 0;
  Unit unit;
};
template <typename Record = policy::HostRecord>
struct PlacedRecord {
  ProblemId problem;
  int stage = 0;
  Record record;
};
template <typename Row>
struct Numbered {
  std::int64_t number = 0;
  Row row;
};
struct PlacedAccepted {
  ProblemId problem;
  int stage = 0;
  Range range;
  SegmentId segment;
};
template <typename Kept = Bytes>
struct SegmentBytes {
  SegmentId segment;
  Kept bytes;
};
template <typename File = protocol::ResultFile>
struct PlacedResult {
  ProblemId problem;
  std::int64_t position = 0;
  File file;
};

template <>
struct Stored<ApplicationRow> {
  static constexpr const char* name = "applications";
  static constexpr auto put = Table::Put::insert;
  static void columns(auto& row, auto&& to) {
    to("id", row.id);
    to("name", row.name);
    to("version", row.version);
    to("archive", AsDigest{row.archive});
    to("archive_bytes", row.archive_bytes);
    to("title", row.title);
    to("platforms", AsList{row.platforms});
    to("statement_type", row.statement.type);
    to("statement_payload", row.statement.payload);
    to("statement_key", AsBytes{row.statement.key});
    to("statement_signature", AsBytes{row.statement.signature});
    to("signer_type", row.signer.type);
    to("signer_payload", row.signer.payload);
    to("signer_key", AsBytes{row.signer.key});
    to("signer_signature", AsBytes{row.signer.signature});
    to("added_at", row.added_at);
  }
};

template <>
struct Stored<ProblemRow> {
  static constexpr const char* name = "problems";
  static constexpr auto put = Table::Put::update;
  static void columns(auto& row, auto&& to) {
    to("id", row.id);
    to("name", row.name);
    to("application", row.application);
    to("parameters", row.parameters);
    to("inputs", AsList{row.inputs});
    to("state", row.state);
    to("resume_to", row.resume_to);
    to("message", row.message);
    to("strategy", row.strategy);
    to("straggler", row.straggler);
    to("weight", row.weight);
    to("priority", row.priority);
    to("service", row.service);
    to("commit_seconds", row.commit_seconds);
    to("stage", row.stage);
    to("created_at", row.created_at);
    to("started_at", row.started_at);
    to("finished_at", row.finished_at);
    to("validation", row.validation);
  }
};

template <>
struct Stored<protocol::ResultFile> {
  using Read = PlacedResult<>;
  static constexpr const char* name = "results";
  static constexpr std::size_t keys = 2;
  static constexpr auto put = Table::Put::insert;
  static void columns(auto& row, auto&& to) {
    to("problem", row.problem);
    to("position", row.position);
    to("name", row.file.name);
    to("digest", AsDigest{row.file.digest});
    to("bytes", row.file.bytes);
    to("media_type", row.file.media_type);
  }
};

template <>
struct Stored<StageRow> {
  static constexpr const char* name = "stages";
  static constexpr std::size_t keys = 2;
  static void columns(auto& row, auto&& to) {
    to("problem", row.problem);
    to("stage", row.stage);
    to("name", row.name);
    to("items", row.items);
    to("inputs", AsList{row.inputs});
    to("set_aside", AsList{row.set_aside});
    to("enough", row.enough);
    to("started_at", row.started_at);
    to("finished_at", row.finished_at);
    to("units", row.units);
    to("splits", row.splits);
    to("recovered", row.recovered);
    to("copies", row.copies);
    to("disputes", row.disputes);
    to("cost_wasted", row.cost_wasted);
    to("cost_ahead", row.cost_ahead);
    to("done_before", row.done_before);
  }
};

template <>
struct Stored<policy::Unit> {
  using Read = PlacedUnit<>;
  static constexpr const char* name = "units";
  static void columns(auto& row, auto&& to) {
    auto& unit = row.unit;
    to("id", unit.id);
    to("group_unit", unit.group);
    to("host", unit.host);
    to("slot", unit.slot);
    to("kind", unit.kind);
    to("state", unit.state);
    to("range", unit.range);
    to("committed", unit.committed);
    to("finished", unit.finished);
    to("run_state", unit.run_state);
    to("pause_reason", unit.pause_reason);
    to("rate_minute", unit.rate_minute);
    to("item_seconds", unit.item_seconds);
    to("running_seconds", unit.running_seconds);
    to("issued", unit.issued);
    to("last_contact", unit.last_contact);
    to("deadline", unit.deadline);
    to("closed", unit.closed);
    to("cut_unheard", unit.cut_unheard);
    to("reason", unit.reason);
    to("handed_end", unit.handed_end);
    to("begun_share", unit.begun_share);
    to("begun_by", unit.begun_by);
    to("problem", row.problem);
    to("stage", row.stage);
  }
};

template <>
struct Stored<policy::HostRecord> {
  using Read = PlacedRecord<>;
  static constexpr const char* name = "host_records";
  static constexpr std::size_t keys = 3;
  static void columns(auto& row, auto&& to) {
    auto& record = row.record;
    to("problem", row.problem);
    to("stage", row.stage);
    to("host", record.host);
    to("performance", record.performance);
    to("queue_unloaded", record.queue_unloaded);
    to("queue_current", record.queue_current);
    to("proposed_items", record.proposed_items);
    to("slots", record.slots);
    to("rate", record.rate);
    to("measured_seconds", record.measured_seconds);
    to("interruptions", record.interruptions);
    to("on_seconds", record.on_seconds);
    to("used_performance", record.used_performance);
    to("current_size", record.current_size);
    to("requests", record.requests);
    to("returned", record.returned);
    to("omitted", record.omitted);
    to("last_contact", record.last_contact);
    to("units", record.units);
    to("items_accepted", record.items_accepted);
    to("cost_accepted", record.cost_accepted);
    to("cost_wasted", record.cost_wasted);
    to("busy_seconds", record.busy_seconds);
    to("cuts", record.cuts);
    to("copies", record.copies);
    to("memory_units", record.memory.units);
    to("memory_base", record.memory.base);
    to("memory_left", record.memory.left);
    to("timed_units", record.times.units);
    to("weighted_items", record.times.weighted_items);
    to("weighted_seconds", record.times.weighted_seconds);
    to("weighted_elapsed", record.times.weighted_elapsed);
    to("timed_pieces", record.times.pieces);
    to("timed_items", record.times.items);
    to("timed_seconds", record.times.seconds);
    to("timed_squares", record.times.squares);
  }
};

// floor(log2(size)). Segments of a class are shorter than 2^(class+1), so that those over a range begin less
// than that before it: an index on (class, begin) finds them without looking at all others.
inline constexpr int size_class_max = 61;
inline int size_class(Range range) {
  const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(range.size(), 1));
  return std::min(static_cast<int>(std::bit_width(size)) - 1, size_class_max);
}

template <>
struct Stored<SegmentRow> {
  static constexpr const char* name = "segments";
  static constexpr auto put = Table::Put::insert;
  static void columns(auto& row, auto&& to) {
    to("id", row.id);
    to("problem", row.problem);
    to("stage", row.stage);
    to("size_class", AsWritten{size_class(row.range)});
    to("unit", row.unit);
    to("host", row.host);
    to("range", row.range);
    to("digest", AsDigest{row.digest});
    to("bytes", row.bytes);
    to("received_at", row.received_at);
    to("compute_seconds", row.compute_seconds);
    to("place", row.place);
    to("items_accepted", row.items_accepted);
  }
};

template <>
struct Stored<SegmentBytes<>> {
  static constexpr const char* name = "segment_bytes";
  static constexpr auto put = Table::Put::insert;
  static void columns(auto& row, auto&& to) {
    to("segment", row.segment);
    to("bytes", AsBytes{row.bytes});
  }
};

template <>
struct Stored<PlacedAccepted> {
  static constexpr const char* name = "accepted";
  static constexpr std::size_t keys = 3;
  static constexpr auto put = Table::Put::insert;
  static void columns(auto& row, auto&& to) {
    to("problem", row.problem);
    to("stage", row.stage);
    to("range", row.range);
    to("segment", row.segment);
  }
};

template <>
struct Stored<AcknowledgementRow> {
  static constexpr const char* name = "acknowledgements";
  static constexpr std::size_t keys = 5;
  static void columns(auto& row, auto&& to) {
    to("unit", row.unit);
    to("host", row.host);
    to("range", row.range);
    to("digest", AsDigest{row.digest});
    to("items_accepted", row.items_accepted);
    to("at", row.at);
  }
};

template <>
struct Stored<VerdictRow> {
  using Read = Numbered<VerdictRow>;
  static constexpr const char* name = "verdicts";
  static constexpr std::size_t keys = 2;
  static constexpr auto put = Table::Put::insert;
  static void columns(auto& numbered, auto&& to) {
    auto& row = numbered.row;
    to("problem", row.problem);
    to("number", numbered.number);
    to("stage", row.stage);
    to("range", row.range);
    to("first_segment", row.first);
    to("second_segment", row.second);
    to("agree", row.agree);
    to("wrong_host", row.wrong_host);
    to("note", row.note);
    to("at", row.at);
  }
};

template <>
struct Stored<FailureRow> {
  using Read = Numbered<FailureRow>;
  static constexpr const char* name = "failures";
  static constexpr std::size_t keys = 2;
  static constexpr auto put = Table::Put::insert;
  static void columns(auto& numbered, auto&& to) {
    auto& row = numbered.row;
    to("problem", row.problem);
    to("number", numbered.number);
    to("stage", row.stage);
    to("unit", row.unit);
    to("host", row.host);
    to("kind", row.kind);
    to("item", row.item);
    to("message", row.message);
    to("at", row.at);
    to("application", row.application);
  }
};

template <>
struct Stored<DecisionRow> {
  using Read = Numbered<DecisionRow>;
  static constexpr const char* name = "decisions";
  static constexpr std::size_t keys = 2;
  static constexpr auto put = Table::Put::insert;
  static void columns(auto& numbered, auto&& to) {
    auto& row = numbered.row;
    auto& decision = row.decision;
    to("problem", row.problem);
    to("number", numbered.number);
    to("stage", row.stage);
    to("at", decision.at);
    to("host", decision.host);
    to("unit", decision.unit);
    to("kind", decision.kind);
    to("range", decision.range);
    to("reason", decision.reason);
  }
};

}  // namespace gleaner::storage
