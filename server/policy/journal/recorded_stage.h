// A stage whose every event somebody hears of, with what was decided (dispatch.h writes them down). Tell it
// events like the stage it holds; everything that changes nothing is asked of view(). Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "server/policy/journal/play.h"

namespace gleaner::policy {

class StageObserver {
 public:
  StageObserver() = default;
  virtual ~StageObserver() = default;
  StageObserver(const StageObserver&) = delete;
  StageObserver& operator=(const StageObserver&) = delete;

  // False: record() is not called, and no entry is made for nothing.
  [[nodiscard]] virtual bool records() const = 0;
  virtual void record(JournalEntry entry) = 0;
  // After every event that was applied with `changes` (of earlier events, too, if the caller gathers them).
  virtual void changed(const Changes& changes, Timestamp now) = 0;
};

class RecordedStage {
 public:
  // Null: nobody hears.
  explicit RecordedStage(const StageSetup& setup, std::unique_ptr<StageObserver> observer = nullptr)
      : stage_(setup), observer_(std::move(observer)) {}

  // What Stage::apply() of that event says.
  template <typename Event>
  auto apply(const Event& event, Timestamp now, Changes& changes) {
    const std::size_t before = changes.decisions.size();
    const auto heard = [&](const auto&... answer) {
      record(event, now, changes, before, answer...);
      if (observer_) observer_->changed(changes, now);
    };
    if constexpr (std::is_void_v<decltype(stage_.apply(event, now, changes))>) {
      stage_.apply(event, now, changes);
      heard();
    } else {
      auto answer = stage_.apply(event, now, changes);
      heard(answer);
      return answer;
    }
  }
  template <typename Event>
  auto apply(const Event& event, Timestamp now) {
    if constexpr (std::is_void_v<decltype(stage_.apply(event, now))>) {
      stage_.apply(event, now);
      record(event, now, {}, 0);
    } else {
      auto answer = stage_.apply(event, now);
      record(event, now, {}, 0, answer);
      return answer;
    }
  }
  // Of a log.
  StageAnswer play(const StageEvent& event, Timestamp now);
  // Not recorded: nothing is decided on it.
  void count_use(HostId host, Range range, Stage::Use use, Changes& changes) {
    stage_.count_use(host, range, use, changes);
  }

  [[nodiscard]] const Stage& view() const { return stage_; }

 private:
  [[nodiscard]] bool records() const { return observer_ && observer_->records(); }
  // Decisions from `before` on are the event's.
  template <typename Event, typename... Answer>
  void record(const Event& event, Timestamp now, const Changes& changes, std::size_t before,
              const Answer&... answer) const {
    if constexpr (std::is_constructible_v<StageEvent, const Event&>)
      if (records())
        observer_->record(entry_of(event, (std::string() + ... + text_of(answer)), now, changes, before));
  }
  [[nodiscard]] static JournalEntry entry_of(StageEvent event, std::string answer, Timestamp now,
                                             const Changes& changes, std::size_t before);

  Stage stage_;
  std::unique_ptr<StageObserver> observer_;
};

}  // namespace gleaner::policy
