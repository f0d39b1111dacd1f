#include "shared/contract/kernel_grammar.h"

#include <algorithm>
#include <utility>

#include "shared/base/check.h"
#include "shared/base/limits.h"
#include "shared/contract/words.h"
#include "shared/protocol/text.h"

namespace gleaner::contract {

using protocol::FailureKind;

void KernelGrammar::problem_sent() {
  CHECK_TRUE(idle());
  problem_due_ = true;
}

void KernelGrammar::unit_sent(Range range) {
  CHECK_TRUE(idle() && range.begin >= 0 && range.begin <= range.end);
  unit_ = Unit{range, range.begin, range.end};
}

bool KernelGrammar::end_sent(std::int64_t end) {
  if (!unit_ || end >= unit_->end) return false;
  unit_->end = std::max<std::int64_t>(end, 0);
  return true;
}

void KernelGrammar::feed(std::string_view bytes) {
  while (!bytes.empty() && !offence_) {
    if (in_item_) {
      const auto missing = static_cast<std::size_t>(item_length_) - item_.size();
      const std::string_view piece = bytes.substr(0, missing);
      item_ += piece;
      bytes.remove_prefix(piece.size());
      finish_item();
      continue;
    }
    const auto end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (line_.size() + piece.size() >= line_bytes_max)
      return break_off("wrote a line longer than " + std::to_string(line_bytes_max) + " bytes");
    if (end == std::string_view::npos) {
      line_ += piece;
      return;
    }
    bytes.remove_prefix(end + 1);
    if (line_.empty()) {
      take_line(piece);
    } else {
      line_ += piece;
      take_line(std::exchange(line_, std::string{}));
    }
  }
}

void KernelGrammar::take_line(std::string_view line) {
  Words words(line);
  const std::string_view word = words.next();
  if (word == "log" || word == "progress") talk_bytes_ += static_cast<std::int64_t>(line.size()) + 1;
  if (word == "log") {
    KernelEvent event;
    event.text = protocol::clean_line(words.rest(), limits::message_length_max);
    add_event(std::move(event));
  } else if (word == "error") {
    const std::string text = protocol::clean_line(words.rest(), limits::message_length_max / 2);
    break_off("reports: " + (text.empty() ? "an error, without saying which" : text),
              FailureKind::kernel_error);
  } else if (!greeted_ || problem_due_) {
    take_before_unit(word, words, line);
  } else if (word == "checkpoint") {
    take_checkpoint(words, line);
  } else if (unit_) {
    take_in_unit(word, words, line);
  } else {
    unexpected(line, "nothing, because it had nothing to do");
  }
}

void KernelGrammar::take_before_unit(std::string_view word, Words words, std::string_view line) {
  if (greeted_) {
    if (line != "ok") return unexpected(line, "ok, or error and a reason");
    problem_due_ = false;
    return;
  }
  if (word != "ready" || words.next() != "1") return unexpected(line, "ready 1");
  greeted_ = true;
  while (!words.ended()) offers_checkpoints_ = words.next() == "checkpoint" || offers_checkpoints_;
}

void KernelGrammar::take_in_unit(std::string_view word, Words words, std::string_view line) {
  if (word == "item") return take_item(words, line);
  if (word == "done") return take_done(words, line);
  if (word != "progress") return unexpected(line, "item, progress, done or error");
  KernelEvent event;
  event.kind = KernelEvent::Kind::progress;
  const auto index = words.number();
  const auto fraction = words.fraction(1);
  if (!index || !fraction || !words.ended()) return unexpected(line, "progress INDEX FRACTION");
  if (*index < unit_->next || *index >= unit_->range.end)
    return break_off("reports progress of item " + std::to_string(*index) +
                     ", but the first item not written is " + std::to_string(unit_->next) +
                     " and the unit's last one " + std::to_string(unit_->range.end - 1));
  event.item = *index;
  event.fraction = *fraction;
  // Only the latest counts; a kernel that reports too often costs nothing.
  if (!events_.empty() && events_.back().kind == KernelEvent::Kind::progress)
    events_.back() = std::move(event);
  else
    add_event(std::move(event));
}

void KernelGrammar::take_item(Words words, std::string_view line) {
  const auto index = words.number();
  const auto length = words.number();
  if (!index || !length || !words.ended()) return unexpected(line, "item INDEX LENGTH");
  if (*index != unit_->next || *index >= unit_->range.end)
    return break_off("wrote item " + std::to_string(*index) + ", but " +
                     (unit_->next < unit_->range.end
                          ? "item " + std::to_string(unit_->next) + " was next"
                          : "its unit ended before item " + std::to_string(unit_->next)));
  if (*length > item_bytes_max_)
    return break_off("announced " + std::to_string(*length) + " bytes for item " + std::to_string(*index) +
                     "; its manifest allows " + std::to_string(item_bytes_max_) + " (limits.item_bytes)");
  in_item_ = true;
  item_length_ = *length;
  finish_item();
}

void KernelGrammar::finish_item() {
  if (static_cast<std::int64_t>(item_.size()) < item_length_) return;
  KernelEvent event;
  event.kind = KernelEvent::Kind::item;
  event.item = unit_->next++;
  event.data = std::exchange(item_, Bytes{});
  in_item_ = false;
  add_event(std::move(event));
}

void KernelGrammar::take_done(Words words, std::string_view line) {
  const auto next = words.number();
  if (!next || !words.ended()) return unexpected(line, "done NEXT");
  if (*next != unit_->next)
    return break_off("says that item " + std::to_string(*next) +
                     " is the first one it did not write, but it is " + std::to_string(unit_->next));
  if (*next < unit_->end)
    return break_off("ended too early: before item " + std::to_string(*next) + " instead of before item " +
                     std::to_string(unit_->end));
  KernelEvent event;
  event.kind = KernelEvent::Kind::done;
  event.item = *next;
  unit_.reset();
  add_event(std::move(event));
}

void KernelGrammar::take_checkpoint(Words words, std::string_view line) {
  if (checkpoints_due_ == 0) return unexpected(line, "no checkpoint, because none was asked for");
  --checkpoints_due_;
  KernelEvent event;
  event.kind = KernelEvent::Kind::checkpointed;
  event.item = -1;
  if (line != "checkpoint none") {
    const auto index = words.number();
    if (!index || !words.ended()) return unexpected(line, "checkpoint INDEX or checkpoint none");
    if (!unit_ || *index != unit_->next || *index >= unit_->range.end)
      return break_off("saved item " + std::to_string(*index) + ", which it was not computing");
    event.item = *index;
  }
  add_event(std::move(event));
}

void KernelGrammar::add_event(KernelEvent event) {
  queued_bytes_ += sizeof(event) + event.data.size() + event.text.size();
  events_.push_back(std::move(event));
}

std::optional<KernelEvent> KernelGrammar::next_event() {
  if (events_.empty()) return std::nullopt;
  KernelEvent event = std::move(events_.front());
  events_.pop_front();
  queued_bytes_ -= sizeof(event) + event.data.size() + event.text.size();
  return event;
}

std::string KernelGrammar::occupation() const {
  if (!greeted_) return "before it was ready";
  if (problem_due_) return "while reading the problem";
  if (!unit_) return "while it had nothing to do";
  if (unit_->next >= unit_->range.end) return "at the end of its unit";
  return "while computing item " + std::to_string(unit_->next);
}

void KernelGrammar::break_off(std::string text, FailureKind kind) {
  offence_ = Offence{kind, std::move(text)};
  line_ = {};
  item_ = {};
}

void KernelGrammar::unexpected(std::string_view line, const std::string& expected) {
  break_off("said " + in_quotes(line) + " " + occupation() + "; expected " + expected);
}

}  // namespace gleaner::contract
