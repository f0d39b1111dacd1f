// A simulated client: slots with a unit in hand and one waiting, units that are over and not delivered yet,
// progress by piecewise constant speed. When it speaks, what it asks for and what it delivers is decided by
// client/policy, as in the real client; what a server makes of it is none of its business: the loop
// (grid_loop.h) carries its messages. Internal.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <optional>
#include <vector>

#include "client/policy/prefetch.h"
#include "client/policy/session_pacing.h"
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
  double work = 0;  // true cost done, counted from item 0
  double transfer_left = 0;
  double running_seconds = 0;  // since it began, pauses included
  double last_save = 0;        // or when it began
  std::int64_t fails_at = -1;  // item; -1: none
  double taken_at = 0;
  policy::UnitKind kind = policy::UnitKind::fresh;
  bool wrong = false;  // its results are

  // Delivery. Of what is finished, [committed, cut) is in a segment, and all before was acknowledged.
  std::int64_t committed = 0, cut = 0;
  double ran = 0, commit_seconds = 60;  // computing time since the segment before; between two of them
  double deliver_at = 0;                // not before
  bool in_flight = false;               // it, or its failure, is being told
  bool over = false;                    // nothing more is computed
  bool failed = false;                  // and the failure is not told yet
  [[nodiscard]] bool pending() const { return cut > committed; }
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

struct Failure {
  std::size_t problem = 0;
  UnitId unit;
  std::int64_t item = 0;
};

// What a client tells the server in one exchange.
struct Message {
  std::size_t host = 0;
  std::int64_t exchange = 0;  // the host's number of it
  client_policy::Exchange kind = client_policy::Exchange::none;
  std::vector<Commit> commits = {};
  std::vector<Report> reports = {};
  std::vector<Saved> saved = {};
  std::optional<Failure> failure = {};
  std::vector<protocol::SlotRequest> slots = {};
  protocol::Proposal proposal = {};
  bool answered = true;  // false: the answer is lost
  void clear();
};

struct LocalSlot {
  // The first is computed, the rest wait. In the slot itself, since every event of a host looks at all of
  // them.
  boost::container::small_vector<LocalUnit, 1> units;
  double ends_at = Agenda::never;
  double start_at = 0;  // no kernel before: one failed lately
  client_policy::Backoff failures;
  double dry_at = 0;
  double idle_seconds = 0;
  // The last minute's rate: hint cost done at two marks, at least `rate_window` apart once it has run so
  // long. Each problem's hints are its own: another problem's unit starts it anew.
  std::size_t rated = 0;  // the problem
  double hint_done = 0;   // of units before
  double rated_work = 0;  // where the present one counts from
  double old_mark = -1, old_done = 0, mark = -1, mark_done = 0;
  void forget_rate(std::size_t problem);
  void note_end(const Jobs& jobs);  // of the unit in hand
  [[nodiscard]] double hint_cost_done(const GridWork& job) const;
};

class LocalHost {
 public:
  explicit LocalHost(const GridHost& host)
      : host_(&host), slots(static_cast<std::size_t>(host.slots)), trace(host) {}

  [[nodiscard]] bool hoards() const { return host_->cheating.hoards; }
  [[nodiscard]] double speed() const { return hoards() ? 0 : host_->speed * state.share(); }
  [[nodiscard]] bool on() const { return state.on(); }

  // Asks the processor's cache for what an event of it looks at: of many thousand hosts, the next one's is
  // nearly always far away.
  void fetch() const {
    fetch(this, sizeof *this);
    fetch(slots.data(), std::min<std::size_t>(slots.size(), 8) * sizeof(LocalSlot));
  }
  // Computes on until `now` at the present speed.
  void advance(const Jobs& jobs, double now);
  void apply(const Jobs& jobs, const HostEvent& event);
  // Seconds until the unit in hand of `slot` ends or fails at the present speed; never: not at this speed.
  [[nodiscard]] double seconds_left(const Jobs& jobs, const LocalSlot& slot) const;
  // The unit in hand begins now, if there is one.
  void begin(LocalSlot& slot, double now) const;
  // REQUIRES: advanced to `now`.
  [[nodiscard]] client_policy::PrefetchView prefetch_view(const LocalSlot& slot, double now) const;
  void report_units(const Jobs& jobs, double now, std::vector<Report>& reports) const;
  // Cuts what is due into segments; those of units that are over may wait `piggyback` seconds for a request.
  void cut_segments(const Jobs& jobs, double now, double piggyback);
  // Segments that may go now, with a request for work those that wait for one, too; they are under way then.
  enum class With { work, other };
  void take_commits(const Jobs& jobs, double now, With with, std::vector<Commit>& commits);
  [[nodiscard]] std::optional<Failure> take_failure(const Jobs& jobs);
  // Items in progress that are saved now and then, where kernels can.
  void take_saved(const Jobs& jobs, double now, std::vector<Saved>& saved);
  [[nodiscard]] client_policy::Outgoing outgoing(double now) const;
  // When the first segment that waits may go; never: none waits.
  [[nodiscard]] double delivers_at(double now) const;
  // What was under way was told, or was not.
  void told();
  void not_told();
  // When the first of its own events is due.
  [[nodiscard]] double due() const;

 private:
  [[nodiscard]] protocol::UnitReport report(const Jobs& jobs, const LocalSlot& slot, const LocalUnit& unit,
                                            double now) const;
  // What a hoarder says of it: that it is nearly done.
  [[nodiscard]] protocol::UnitReport boast(const Jobs& jobs, const LocalUnit& unit, double now) const;
  void cut(const Jobs& jobs, LocalUnit& unit, double now, double piggyback);
  void take_commit(const Jobs& jobs, LocalUnit& unit, double now, With with,
                   std::vector<Commit>& commits) const;
  template <typename Visit>
  void visit_units(Visit visit) {
    for (LocalSlot& slot : slots)
      for (LocalUnit& unit : slot.units) visit(unit);
    for (LocalUnit& unit : ending) visit(unit);
  }
  static void fetch(const void* from, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(static_cast<const char*>(from) + at);
  }
  const GridHost* host_;

 public:
  std::vector<LocalSlot> slots;
  std::vector<LocalUnit> ending;  // over, and not wholly delivered
  HostTrace trace;
  HostState state;
  HostEvent coming{Agenda::never, HostEventKind::on, 1};
  double advanced_to = 0;
  double work = 0;

  // Its session with the server.
  client_policy::SessionPacing session;
  client_policy::RecentMean round_trip{client_policy::round_trip_weight};
  client_policy::RecentMean preparation{client_policy::preparation_weight};
  std::int64_t exchange = 0;  // the number of the last one
  bool busy = false;          // it is under way
  double said_at = 0, gives_up_at = Agenda::never;
  double talks_at = Agenda::never;  // when it looks again what there is to say
  double uploaded_at = 0;           // when its link is free again
  double slowest_performance = 0;   // of all hosts, as the server told
};

}  // namespace gleaner::simulator
