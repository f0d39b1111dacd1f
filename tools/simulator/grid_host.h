// A simulated client: slots with a unit in hand and one waiting, progress by piecewise constant speed,
// reports and commits as the real client makes them. Knows nothing of the server; the loop (grid_loop.h)
// carries its messages. Internal.
#pragma once

#include <optional>
#include <vector>

#include "server/policy/ledger/costs.h"
#include "shared/protocol/messages.h"
#include "tools/simulator/agenda.h"
#include "tools/simulator/grid.h"

namespace gleaner::simulator {

// What every host of a run computes from; one a problem.
struct GridWork {
  const GridProblem& problem;
  policy::Costs costs;
  policy::Costs hints;
  // Hint cost of all items before `work`, the item in progress in proportion.
  [[nodiscard]] double hint_done(double work) const;
};

using Jobs = std::vector<GridWork>;

struct LocalUnit {
  UnitId id;
  std::size_t problem = 0;
  Range range;
  std::int64_t committed = 0;
  double work = 0;  // true cost done, counted from item 0
  double transfer_left = 0;
  double running_seconds = 0;
  double last_commit = 0;
  double last_save = 0;
  std::int64_t fails_at = -1;  // item; -1: none
  double taken_at = 0;
  policy::UnitKind kind = policy::UnitKind::fresh;
  bool wrong = false;  // its results are
  [[nodiscard]] std::int64_t finished(const policy::Costs& costs) const;
};

struct Commit {
  UnitId unit;
  Range range;
  bool last = false;
  bool wrong = false;
  std::size_t problem = 0;
};

struct Report {
  std::size_t problem = 0;
  protocol::UnitReport report;
};

// What it has done of its item in progress goes on elsewhere.
struct Saved {
  std::size_t problem = 0;
  UnitId unit;
  std::int64_t item = 0;
  double share = 0;
};

// What a client tells the server in one message.
struct Message {
  std::size_t host = 0;
  std::vector<Commit> commits;
  std::vector<Report> reports;
  std::vector<Saved> saved;
  std::optional<Commit> failure;  // range.begin: the item
  std::optional<int> slot;        // asks for work for it
  bool urgent = true;
  bool answered = true;  // false: the answer is lost
};

struct LocalSlot {
  std::vector<LocalUnit> units;  // the first is computed, the rest wait
  bool asking = false;           // a request is under way, or a retry is due
  double ends_at = Agenda::never, asks_at = Agenda::never, retries_at = Agenda::never;
  double dry_at = 0;
  double idle_seconds = 0;
  // The last minute's rate: hint cost done at two marks, at least `rate_window` apart once it has run so
  // long. Each problem's hints are its own: another problem's unit starts it anew.
  std::size_t rated = 0;  // the problem
  double hint_done = 0;
  double old_mark = -1, old_done = 0, mark = -1, mark_done = 0;
  void forget_rate(std::size_t problem);
};

class LocalHost {
 public:
  explicit LocalHost(const GridHost& host)
      : host_(&host), slots(static_cast<std::size_t>(host.slots)), trace(host) {}

  [[nodiscard]] double speed() const { return host_->speed * state.share(); }
  [[nodiscard]] bool on() const { return state.on(); }
  [[nodiscard]] bool answers() const { return state.answers(); }

  // Computes on until `now` at the present speed.
  void advance(const Jobs& jobs, double now);
  void apply(const Jobs& jobs, const HostEvent& event);
  // Seconds until the unit in hand of `slot` ends or fails at the present speed; never: not at this speed.
  [[nodiscard]] double seconds_left(const Jobs& jobs, const LocalSlot& slot) const;
  [[nodiscard]] std::vector<Report> reports(const Jobs& jobs, double now) const;
  // Finished prefixes that are due, `every` so many seconds.
  void take_commits(const Jobs& jobs, double now, double every, std::vector<Commit>& commits);
  // Items in progress that are saved `every` so many seconds, where kernels can.
  void take_saved(const Jobs& jobs, double now, double every, std::vector<Saved>& saved);
  // When the first of its own events is due.
  [[nodiscard]] double due() const;

 private:
  [[nodiscard]] protocol::UnitReport report(const Jobs& jobs, const LocalSlot& slot, const LocalUnit& unit,
                                            double now) const;
  const GridHost* host_;

 public:
  std::vector<LocalSlot> slots;
  std::vector<Message> held;  // what it could not say while it was cut off
  double delivered_at = 0;    // when what it delivered last arrives
  HostTrace trace;
  HostState state;
  HostEvent coming{Agenda::never, HostEventKind::on, 1};
  double advanced_to = 0;
  double work = 0;
  double interval = 60;
  double beats_at = Agenda::never;
};

}  // namespace gleaner::simulator
