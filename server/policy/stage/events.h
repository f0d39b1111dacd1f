// Everything that may happen to a stage, as values: the vocabulary of whoever tells a stage something (the
// live server, a relay, the simulator), of the decision log (dispatch/log.h) and of its replay. The same
// events in the same order lead to the same decisions. Value types; Stage::apply() says what each is answered
// with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "server/policy/stage/exchange.h"

namespace gleaner::policy {

// What the store has, before any other event. Open units count as heard of now. `undecided`: what is set
// aside because no two hosts agreed, so that late results of it change nothing.
struct RestoreEvent {
  std::vector<Range> accepted;
  std::vector<Unit> units;
  std::vector<HostRecord> hosts;
  std::vector<Range> set_aside;
  std::vector<Range> undecided;    // of these
  std::vector<Range> leased = {};  // a relay's stage: what its parent leases to it
};

// A host asks for work for one slot. It gets at most one unit.
struct RequestEvent {
  Requester requester;
};

// A host says how a unit stands, with a heartbeat or a request.
struct ReportEvent {
  HostId host;
  protocol::UnitReport report;
};

// A result that was found valid and is stored. `last`: the host says that the unit is finished.
struct CommitEvent {
  HostId host;
  UnitId unit;
  Range range;
  bool last = false;
};

// `failed`: the host gets `item` no more, others may. `set_aside`: nobody gets it any more (whoever calls
// knows whom to blame: blame.h).
enum class GiveBack { failed, returned, set_aside };

// The kernel failed, or the host gives the unit back. What it computed before `item` and has not delivered is
// waste.
struct GiveBackEvent {
  HostId host;
  UnitId unit;
  GiveBack why = GiveBack::failed;
  std::int64_t item = 0;
  std::string reason;
};

// The host left, or was revoked.
struct HostLeftEvent {
  HostId host;
  std::string reason;
};

// A second or so has passed: leases may have run out.
struct TickEvent {};

// Another host than `hosts` is to compute the accepted items of `range`: their results differ, or what the
// only one delivered is audited.
struct DisputeEvent {
  Range range;
  std::vector<HostId> hosts;
  Unasked unasked = {};
};

// A further opinion decides the dispute over `range`, or it is given up: the items are set aside.
struct ResolveEvent {
  Range range;
  bool decided = false;
};

// Accepted items turned out wrong: they are free again.
struct RejectEvent {
  Range range;
  std::string reason;
};

// The manager needs no more items.
struct EnoughEvent {};

// The sizing strategy changes. No unit is lost.
struct SizingEvent {
  std::string strategy;
};

// The straggler rule changes.
struct StragglerEvent {
  std::string rule;
};

// A closed unit that is stored and that this stage does not hold any more: its host's late results are judged
// as if it had never been forgotten. Nothing happens if it is known.
struct RememberEvent {
  Unit unit;
};

// A host saved its item in progress, of which `share` is done: units that start with the item go on from
// there (Unit::begun_share). Nothing is kept if more of it was kept before.
struct SaveEvent {
  HostId host;
  UnitId unit;
  std::int64_t item = 0;
  double share = 0;
};

// Who waits for work as the stage begins, before any of them asks it.
struct ExpectEvent {
  std::vector<IdleHost> hosts;
};

// That host is a relay: it delivers any part of its units, not only from their beginning on. Its requests and
// reports say so, too. Comes before its first result, and again after a RestoreEvent.
struct AdmitRelayEvent {
  HostId host;
};

// A relay says how one of its leases stands.
struct RelayReportEvent {
  HostId host;
  RelayReport report;
};

// This stage is a relay's: its parent leases `range` to it. `seconds`: that the whole stage takes, as the
// parent says; 0: it does not know.
struct BringEvent {
  Range range;
  double seconds = 0;
};

// The parent takes `range` away again. Units end before it; what was computed of it is welcome for as long as
// the parent lacks it.
struct TakeAwayEvent {
  Range range;
  std::string reason;
};

// All of them but RestoreEvent and RequestEvent, which follow from what dispatch is told
// (dispatch/events.h): what a log has of a stage itself.
using StageEvent =
    std::variant<ReportEvent, CommitEvent, GiveBackEvent, HostLeftEvent, TickEvent, DisputeEvent,
                 ResolveEvent, RejectEvent, EnoughEvent, SizingEvent, StragglerEvent, RememberEvent,
                 SaveEvent, ExpectEvent, AdmitRelayEvent, RelayReportEvent, BringEvent, TakeAwayEvent>;

}  // namespace gleaner::policy
