// A unit in hand: its part on disk (held_unit.h), and what is known of it only while the client runs. Also
// the book of all units. Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "client/engine/download_cache.h"
#include "client/engine/held_unit.h"
#include "client/policy/backoff.h"
#include "client/policy/unit_state.h"

namespace gleaner::engine {

// What a kernel saved of its item in progress, not told to the server yet.
struct LocalCheckpoint {
  std::int64_t item = 0;
  double fraction = 0;  // of it done
  io::Path path;
};

// How far its results are on their way.
struct Delivery {
  bool uploaded = false;       // the pending cut, when it is too large to piggyback
  bool in_flight = false;      // an exchange or an upload about it is under way
  bool with_grant = false;     // the server refused one that came without it, and may have been restored
  bool alone = false;          // send it by itself: a message with others was refused
  std::optional<Bytes> small;  // the pending cut's compressed bytes, if small
  SteadyTime at{};             // not before
  client_policy::Backoff backoff;
  std::optional<protocol::FailureReport> failure;  // to be reported when what was finished is delivered
  std::optional<SteadyTime> recall_at;  // when what a relay holds is delivered again; none: not decided yet
  Duration patience{0};                 // from the time before until then
  std::size_t to_recall = 0;            // of what it holds, the oldest
};

struct Unit {
  explicit Unit(std::unique_ptr<HeldUnit> on_disk) : held(std::move(on_disk)) {}

  std::unique_ptr<HeldUnit> held;
  client_policy::UnitState state = client_policy::UnitState::granted;
  int slot = 0;

  // Preparation.
  std::optional<Prepared> prepared;
  SteadyTime granted_at{};
  SteadyTime prepare_at{};  // not before
  client_policy::Backoff prepare_backoff;

  // What the server ordered.
  bool held_back = false;  // paused by the server
  std::string order_reason;
  bool output_wanted = false;  // somebody looks at its kernel's output

  // The owner has excluded its application: when it has ended, the server hears that it is not held.
  bool goes_back = false;

  Delivery delivery;
  std::optional<LocalCheckpoint> saved;
  int kills = 0;  // of its kernel by somebody else, since an item ended

  // Computing since the last cut.
  Duration run_time{0};
  Duration cpu_time{0};
  // For its project's share: running time of its threads, altogether, and what of it was charged.
  Duration core_time{0};
  Duration charged{0};
  bool measured = false;  // as one of its project's units that ended

  [[nodiscard]] UnitId id() const { return held->id(); }
  [[nodiscard]] const protocol::Grant& grant() const { return held->grant(); }
  [[nodiscard]] bool wants_kernel() const {
    return state == client_policy::UnitState::waiting && !held_back && !held->stopped();
  }
  // REQUIRES: the event is legal in this state.
  void step(client_policy::UnitEvent event);
  // Nothing more is computed; what is finished is still delivered.
  void stop();
  void fail(protocol::FailureKind kind, const std::string& message);
};

using UnitBook = std::map<UnitId, std::unique_ptr<Unit>>;

}  // namespace gleaner::engine
