// A simulated client: slots with a unit in hand and one waiting, progress by piecewise constant speed,
// reports and commits as the real client makes them. Knows nothing of the server; the driver (grid.cpp)
// carries its messages. Internal.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "server/policy/costs.h"
#include "shared/protocol/messages.h"
#include "tools/simulator/grid.h"

namespace gleaner::simulator {

struct LocalUnit {
  UnitId id;
  Range range;
  std::int64_t committed = 0;
  double work = 0;  // true cost done, counted from item 0
  double running_seconds = 0;
  double last_commit = 0;
  std::optional<std::int64_t> fails_at;
  [[nodiscard]] std::int64_t finished(const policy::Costs& costs) const;
};

struct Commit {
  UnitId unit;
  Range range;
  bool last = false;
};

// What a client tells the server in one message.
struct Message {
  std::size_t host = 0;
  std::vector<Commit> commits;
  std::vector<protocol::UnitReport> reports;
  std::optional<Commit> failure;  // range.begin: the item
  std::optional<int> slot;        // asks for work for it
  bool urgent = true;
};

class LocalSlot {
 public:
  std::deque<LocalUnit> units;
  bool asking = false;       // a request is under way, or a retry is due
  std::int64_t version = 0;  // of its predicted next event
  double dry_at = 0;
  std::deque<std::pair<double, double>> history;  // (time, hint cost done) for the last minute's rate
  double hint_done = 0;
};

class LocalHost {
 public:
  LocalHost(const GridHost& host, const policy::Costs& costs, const policy::Costs& hints)
      : host_(host), costs_(costs), hints_(hints), slots(static_cast<std::size_t>(host.slots)) {}

  [[nodiscard]] double speed() const { return up && !paused && !vanished ? host_.speed * factor : 0; }
  [[nodiscard]] bool answers() const { return up && !vanished; }

  // Computes on until `now` at the present speed.
  void advance(double now);
  void apply(const HostEvent& event);
  // Seconds until the unit in hand of `slot` ends or fails at the present speed; negative: never.
  [[nodiscard]] double seconds_left(const LocalSlot& slot) const;
  [[nodiscard]] std::vector<protocol::UnitReport> reports(double now) const;
  // Finished prefixes that are due, or all of them.
  void take_commits(double now, double commit_seconds, std::vector<Commit>& commits);

 private:
  const GridHost& host_;
  const policy::Costs& costs_;
  const policy::Costs& hints_;

 public:
  std::vector<LocalSlot> slots;
  bool up = false, paused = false, vanished = false;
  double factor = 1;
  double advanced_to = 0;
  double work = 0;
  double interval = 60;
  std::int64_t beats = 0;  // version of its heartbeat timer
};

}  // namespace gleaner::simulator
