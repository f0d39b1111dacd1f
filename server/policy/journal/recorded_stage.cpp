#include "server/policy/journal/recorded_stage.h"

#include "server/policy/journal/lines.h"

namespace gleaner::policy {

RecordedStage::RecordedStage(const StageSetup& setup, Sink sink, Observer observer)
    : stage_(setup), sink_(std::move(sink)), observer_(std::move(observer)) {
  if (sink_) sink_(setup_line(setup));
}

void RecordedStage::apply(const RestoreEvent& event, Timestamp now) {
  stage_.apply(event, now);
  // It may be large: no line is made of it for nothing.
  if (sink_.has_room(restore_bytes_least(event.units.size(), event.hosts.size()))) record(event, {}, now);
}

StageAnswer RecordedStage::play(const StageEvent& event, Timestamp now) {
  Changes changes;
  StageAnswer answer = policy::play(stage_, event, now, changes);
  if (sink_) sink_(entry_line({now, event, answer}));
  if (observer_) observer_(changes, now);
  return answer;
}

void RecordedStage::record(const StageEvent& event, std::string answer, Timestamp now, const Changes& changes,
                           std::size_t before) const {
  JournalEntry entry{now, event, {std::move(answer), {}}};
  for (std::size_t i = before; i < changes.decisions.size(); ++i)
    entry.answer.decisions.push_back(text_of(changes.decisions[i]));
  sink_(entry_line(entry));
}

}  // namespace gleaner::policy
