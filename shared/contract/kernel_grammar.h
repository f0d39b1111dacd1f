// What a kernel may say and when (apps/CONTRACT.md), apart from how it is said: bytes in, events or an
// offence out. Memory is bounded by one line, one item and the events not taken yet; after an offence
// everything is ignored. Pure: no processes, no clocks. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "shared/base/words.h"
#include "shared/contract/kernel_session.h"

namespace gleaner::contract {

class KernelGrammar {
 public:
  // It was greeted; nothing else is expected yet.
  explicit KernelGrammar(std::int64_t item_bytes_max) : item_bytes_max_(item_bytes_max) {}

  // What the kernel was told, in that order. REQUIRES (both): idle().
  void problem_sent();
  void unit_sent(Range range);
  // Ignored without a unit or if it is no earlier end than before. True if the kernel must be told.
  bool end_sent(std::int64_t end);
  void checkpoint_sent() { ++checkpoints_due_; }

  void feed(std::string_view bytes);
  [[nodiscard]] std::optional<KernelEvent> next_event();
  void add_event(KernelEvent event);  // one that did not come from the kernel

  // Nothing is in its hands (it may still be greeting or reading a problem).
  [[nodiscard]] bool idle() const { return !unit_.has_value(); }
  // It said so when it was greeted.
  [[nodiscard]] bool offers_checkpoints() const { return offers_checkpoints_; }
  // Of all log and progress lines so far.
  [[nodiscard]] std::int64_t talk_bytes() const { return talk_bytes_; }
  [[nodiscard]] std::size_t queued_bytes() const { return queued_bytes_; }
  // "while computing item 17", for sentences about its end.
  [[nodiscard]] bool greeted() const { return greeted_; }
  [[nodiscard]] std::string occupation() const;

  struct Offence {
    protocol::FailureKind kind = protocol::FailureKind::bad_output;
    std::string text;
  };
  [[nodiscard]] const std::optional<Offence>& offence() const { return offence_; }

 private:
  struct Unit {
    Range range;            // as handed out
    std::int64_t next = 0;  // first item not written
    std::int64_t end = 0;   // as trimmed
  };

  void take_line(std::string_view line);
  void take_before_unit(std::string_view word, Words words, std::string_view line);
  void take_in_unit(std::string_view word, Words words, std::string_view line);
  void take_item(Words words, std::string_view line);
  void take_done(Words words, std::string_view line);
  void take_checkpoint(Words words, std::string_view line);
  void finish_item();
  void break_off(std::string text, protocol::FailureKind kind = protocol::FailureKind::bad_output);
  void unexpected(std::string_view line, const std::string& expected);

  const std::int64_t item_bytes_max_;
  bool greeted_ = false;
  bool offers_checkpoints_ = false;
  bool problem_due_ = false;
  std::optional<Unit> unit_;
  std::int64_t checkpoints_due_ = 0;

  std::int64_t talk_bytes_ = 0;
  std::string line_;      // begun, not ended
  bool in_item_ = false;  // `item_` is filling up to item_length_
  std::int64_t item_length_ = 0;
  Bytes item_;

  std::deque<KernelEvent> events_;
  std::size_t queued_bytes_ = 0;
  std::optional<Offence> offence_;
};

}  // namespace gleaner::contract
