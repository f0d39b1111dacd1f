#include "server/policy/journal/recorded_stage.h"

namespace gleaner::policy {

StageAnswer RecordedStage::play(const StageEvent& event, Timestamp now) {
  Changes changes;
  StageAnswer answer = policy::play(stage_, event, now, changes);
  if (records()) observer_->record({now, event, answer});
  if (observer_) observer_->changed(changes, now);
  return answer;
}

JournalEntry RecordedStage::entry_of(StageEvent event, std::string answer, Timestamp now,
                                     const Changes& changes, std::size_t before) {
  JournalEntry entry{now, std::move(event), {std::move(answer), {}}};
  for (std::size_t i = before; i < changes.decisions.size(); ++i)
    entry.answer.decisions.push_back(text_of(changes.decisions[i]));
  return entry;
}

}  // namespace gleaner::policy
