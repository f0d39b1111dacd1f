// Everything that may happen to a stage, as values: what its caller called, with which arguments, when.
// Played into a fresh stage they lead to the same decisions (player.h); as lines of JSON (lines.h) they are
// the log that `gleaner-sim replay` reads. Value types.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "server/policy/stage/stage.h"

namespace gleaner::policy {

struct RestoreEvent {
  std::vector<Range> accepted;
  std::vector<Unit> units;
  std::vector<HostRecord> hosts;
  std::vector<Range> set_aside;
  std::vector<Range> undecided;    // of these
  std::vector<Range> leased = {};  // a relay's stage: what its parent leases to it
};
struct RequestEvent {
  Requester requester;
};
struct ReportEvent {
  HostId host;
  protocol::UnitReport report;
};
struct CommitEvent {
  HostId host;
  UnitId unit;
  Range range;
  bool last = false;
};
struct GiveBackEvent {
  HostId host;
  UnitId unit;
  Stage::GiveBack why = Stage::GiveBack::failed;
  std::int64_t item = 0;
  std::string reason;
};
struct HostLeftEvent {
  HostId host;
  std::string reason;
};
struct TickEvent {};
struct DisputeEvent {
  Range range;
  std::vector<HostId> hosts;
  std::optional<std::vector<HostId>> barred = std::nullopt;
  Timestamp strangers_until = {};
};
struct ResolveEvent {
  Range range;
  bool decided = false;
};
struct RejectEvent {
  Range range;
  std::string reason;
};
struct EnoughEvent {};
struct SizingEvent {
  std::string strategy;
};
struct StragglerEvent {
  std::string rule;
};
struct RememberEvent {
  Unit unit;
};
struct SaveEvent {
  HostId host;
  UnitId unit;
  std::int64_t item = 0;
  double share = 0;
};
struct ExpectEvent {
  std::vector<IdleHost> hosts;
};
struct AdmitRelayEvent {
  HostId host;
};
struct RelayReportEvent {
  HostId host;
  RelayReport report;
};
struct BringEvent {
  Range range;
  double seconds = 0;
};
struct TakeAwayEvent {
  Range range;
  std::string reason;
};

using StageEvent = std::variant<RestoreEvent, RequestEvent, ReportEvent, CommitEvent, GiveBackEvent,
                                HostLeftEvent, TickEvent, DisputeEvent, ResolveEvent, RejectEvent,
                                EnoughEvent, SizingEvent, StragglerEvent, RememberEvent, SaveEvent,
                                ExpectEvent, AdmitRelayEvent, RelayReportEvent, BringEvent, TakeAwayEvent>;

// What the stage made of an event, in words that say all that was decided: equal texts are equal decisions.
struct StageAnswer {
  std::string answer;
  std::vector<std::string> decisions;
  friend bool operator==(const StageAnswer&, const StageAnswer&) = default;
};

struct JournalEntry {
  Timestamp at;
  StageEvent event;
  StageAnswer answer;
};

}  // namespace gleaner::policy
