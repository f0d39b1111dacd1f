// A stage whose every event is written down with what was decided. Without a sink, or with one that is full,
// it costs nothing. Use it like the stage it holds; everything that changes nothing is asked of view(). Not
// thread-safe.
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "server/policy/journal/events.h"

namespace gleaner::policy {

// Where the lines of a log go (lines.h, without the newline). True in conditions while it takes any: who
// writes asks first, so that no line is made for nothing.
class LogSink {
 public:
  using Write = std::function<void(const std::string& line)>;
  // Whether a line of so many bytes or more still has its place. False: nothing has from then on, for a log
  // that lacks a line leads nowhere.
  using Room = std::function<bool(std::size_t bytes)>;

  LogSink() = default;
  template <typename Call>
  requires std::constructible_from<Write, Call> LogSink(
      Call write, Room room = {})  // NOLINT(google-explicit-constructor): lambdas
      : write_(std::move(write)), room_(std::move(room)) {}

  [[nodiscard]] bool has_room(std::size_t bytes) const { return write_ && (!room_ || room_(bytes)); }
  explicit operator bool() const { return has_room(0); }
  void operator()(const std::string& line) const { write_(line); }

 private:
  Write write_;
  Room room_;
};

class RecordedStage {
 public:
  using Sink = LogSink;

  // Told after every event what changed (of earlier events, too, if the caller gathers them).
  using Observer = std::function<void(const Changes& changes, Timestamp now)>;

  explicit RecordedStage(const StageSetup& setup, Sink sink = {}, Observer observer = {});

  void restore(const std::vector<Range>& accepted, const std::vector<Unit>& units,
               const std::vector<HostRecord>& hosts, const std::vector<Range>& set_aside,
               const std::vector<Range>& undecided, Timestamp now);
  [[nodiscard]] Grant request(const Requester& requester, Timestamp now, Changes& changes);
  [[nodiscard]] protocol::UnitOrder report(HostId host, const protocol::UnitReport& report, Timestamp now,
                                           Changes& changes);
  [[nodiscard]] protocol::UnitOrder report(HostId host, const RelayReport& report, Timestamp now,
                                           Changes& changes);
  [[nodiscard]] CommitOutcome commit(HostId host, UnitId unit, Range range, bool last, Timestamp now,
                                     Changes& changes);
  void give_back(HostId host, UnitId unit, Stage::GiveBack why, std::int64_t item, const std::string& reason,
                 Timestamp now, Changes& changes);
  void tick(Timestamp now, Changes& changes);
  void host_left(HostId host, const std::string& reason, Timestamp now, Changes& changes);
  void dispute(Range range, const std::vector<HostId>& hosts, Timestamp now, Changes& changes,
               const Unasked& unasked = {});
  void resolve(Range range, bool decided, Timestamp now, Changes& changes);
  void reject(Range range, const std::string& reason, Timestamp now, Changes& changes);
  // Not recorded: nothing is decided on it.
  void count_use(HostId host, Range range, Stage::Use use, Changes& changes) {
    stage_.count_use(host, range, use, changes);
  }
  void enough(Timestamp now, Changes& changes);
  void remember(const Unit& unit, Timestamp now);
  void expect(const std::vector<IdleHost>& hosts, Timestamp now);
  void admit_relay(HostId host, Timestamp now);
  void bring(Range range, double seconds, Timestamp now);
  void take_away(Range range, const std::string& reason, Timestamp now, Changes& changes);
  bool save(HostId host, UnitId unit, std::int64_t item, double share, Timestamp now);
  [[nodiscard]] Status set_sizing(const std::string& text, Timestamp now);
  void set_straggler(Straggler rule, Timestamp now);
  // Any other event, with its answer in words.
  StageAnswer play(const StageEvent& event, Timestamp now);

  [[nodiscard]] const Stage& view() const { return stage_; }

 private:
  void record(StageEvent event, std::string answer, Timestamp now, const Changes& changes,
              std::size_t before);

  void observe(const Changes& changes, Timestamp now) const {
    if (observer_) observer_(changes, now);
  }

  Stage stage_;
  Sink sink_;
  Observer observer_;
};

}  // namespace gleaner::policy
