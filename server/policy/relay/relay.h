// A relay's side of its parent. Its own stage decides for its hosts as a server's does; this object says what
// the relay leases for that stage, when it asks for more, and what it passes up: one message for all its
// hosts. The live relay and the simulator drive this same object. Pure: no I/O, `now` is an argument. Not
// thread-safe. [server/policy/relay/RELAYS.md]
//
// Cost: of a message O(units that its hosts hold + ranges passed up).
#pragma once

#include <vector>

#include "server/policy/journal/recorded_stage.h"
#include "server/policy/relay/messages.h"

namespace gleaner::policy {

struct RelayRules {
  // Seconds: it asks for more when what is free lasts its hosts no longer than this, and than half of its
  // latest lease, which its parent sizes by what is left.
  double horizon = 600;
  // A piece goes up once it is this part of its unit, and what is finished of a unit of which nothing has
  // been free for so many seconds; all of it with the last result.
  int pieces = 16;
  double deliver = 1800;
};

struct RelayLease {
  UnitId unit;
  Range range;                  // `end` shrinks when it is cut
  std::int64_t handed_end = 0;  // results up to there are welcome
};

class Relay {
 public:
  // `stage`, which must outlive it, was set up with nothing here (StageSetup::elsewhere).
  Relay(RecordedStage& stage, const RelayRules& rules)
      : recorded_(&stage), stage_(&stage.view()), rules_(rules) {}
  // After a restart: what it holds, and what was accepted here and may not have been passed up. REQUIRES: the
  // stage was told what the leases bring.
  void restore(std::vector<RelayLease> leases, RangeSet waiting);

  // Its stage was restored with more items, and with all that it had.
  void follow(RecordedStage& stage) {
    recorded_ = &stage;
    stage_ = &stage.view();
  }

  // ---- What its hosts do
  // Results of these were accepted here for the first time.
  void accepted(const std::vector<Range>& ranges);
  // One of them asked and got nothing.
  void missed() { idle_ = true; }
  // Nothing is free here, but more may come from above: a host that asks waits for that, instead of taking a
  // part of what another one has.
  [[nodiscard]] bool more_may_come() const { return !dry_; }

  // ---- What it says
  // When it has to say something, if nothing happens meanwhile; not before it was told() or not_told() what
  // became of the message before.
  [[nodiscard]] Timestamp due(Timestamp now) const;
  // `performance`: benchmarks of all slots of its hosts.
  [[nodiscard]] RelayMessage say(double performance, Timestamp now);
  // The answer to that.
  void told(const RelayReply& reply, Timestamp now, Changes& changes);
  // It was lost, or its answer: all of it is said again, not before `again`.
  void not_told(Timestamp again);

  // ---- For people and tests
  [[nodiscard]] std::size_t leases() const { return leases_.size(); }
  // Whether it speaks for that unit: something of it is lacking, or was not passed up.
  [[nodiscard]] bool holds(UnitId unit) const;
  [[nodiscard]] const RangeSet& waiting() const { return waiting_; }  // accepted here, not passed up yet

 private:
  struct Lease : RelayLease {
    Timestamp spent_at = Timestamp::max();  // nothing has been free of it since
  };
  // Seconds that what is free is to last.
  [[nodiscard]] double ahead(double rate) const;
  [[nodiscard]] bool looks_ahead() const;
  [[nodiscard]] bool wants_more(Timestamp now) const;
  [[nodiscard]] bool complete(const Lease& lease) const;
  void pass_up(const Lease& lease, bool all, std::vector<RelayCommit>& commits) const;
  [[nodiscard]] RelayReport report_of(const Lease& lease, double free_before, const StageCounts& counts,
                                      Timestamp now) const;
  void obey(const protocol::UnitOrder& order, Timestamp now, Changes& changes);
  void drop_complete();
  void end(std::size_t place);

  RecordedStage* recorded_;
  const Stage* stage_;  // that it holds
  RelayRules rules_;
  std::vector<Lease> leases_;  // in order of grant
  std::vector<Lease> ended_;   // the latest: late results of them may be welcome
  RangeSet waiting_, under_way_;
  Timestamp speaks_at_ = Timestamp::min(), asks_at_ = Timestamp::min();
  Timestamp said_at_ = Timestamp::min(), silent_until_ = Timestamp::min();
  double round_trip_ = 0;   // the latest, seconds
  double latest_cost_ = 0;  // of the latest lease
  bool busy_ = false;       // an answer is awaited
  bool idle_ = false;       // one of its hosts found nothing
  bool dry_ = false;
};

}  // namespace gleaner::policy
