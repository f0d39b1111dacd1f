// A stage whose every event is written down with what was decided. Without a sink, or with one that is full,
// it costs nothing. Tell it events like the stage it holds; everything that changes nothing is asked of
// view(). Not thread-safe.
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "server/policy/journal/play.h"

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

  // What Stage::apply() of that event says.
  template <typename Event>
  auto apply(const Event& event, Timestamp now, Changes& changes) {
    const std::size_t before = changes.decisions.size();
    const auto noted = [&](const std::string& answer) {
      if (sink_) record(event, answer, now, changes, before);
      if (observer_) observer_(changes, now);
    };
    if constexpr (std::is_void_v<decltype(stage_.apply(event, now, changes))>) {
      stage_.apply(event, now, changes);
      noted({});
    } else {
      auto answer = stage_.apply(event, now, changes);
      noted(sink_ ? text_of(answer) : std::string());
      return answer;
    }
  }
  template <typename Event>
  auto apply(const Event& event, Timestamp now) {
    if constexpr (std::is_void_v<decltype(stage_.apply(event, now))>) {
      stage_.apply(event, now);
      if (sink_) record(event, {}, now);
    } else {
      auto answer = stage_.apply(event, now);
      if (sink_) record(event, text_of(answer), now);
      return answer;
    }
  }
  void apply(const RestoreEvent& event, Timestamp now);
  // Of a log.
  StageAnswer play(const StageEvent& event, Timestamp now);
  // Not recorded: nothing is decided on it.
  void count_use(HostId host, Range range, Stage::Use use, Changes& changes) {
    stage_.count_use(host, range, use, changes);
  }

  [[nodiscard]] const Stage& view() const { return stage_; }

 private:
  // Decisions from `before` on are the event's.
  void record(const StageEvent& event, std::string answer, Timestamp now, const Changes& changes = {},
              std::size_t before = 0) const;

  Stage stage_;
  Sink sink_;
  Observer observer_;
};

}  // namespace gleaner::policy
