// One entry of the decision log about a stage: an event with what the stage made of it. Value types.
#pragma once

#include <string>
#include <vector>

#include "server/policy/stage/events.h"

namespace gleaner::policy {

// In words that say all that was decided: equal texts are equal decisions.
struct StageAnswer {
  std::string answer;
  std::vector<std::string> decisions;
  friend bool operator==(const StageAnswer&, const StageAnswer&) = default;
};

struct JournalEntry {
  Timestamp at;
  StageEvent event;
  StageAnswer answer;
};

}  // namespace gleaner::policy
