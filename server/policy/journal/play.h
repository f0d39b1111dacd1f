// Plays events into a stage and puts its answers into words. Pure.
#pragma once

#include "server/policy/journal/entry.h"
#include "server/policy/stage/stage.h"

namespace gleaner::policy {

[[nodiscard]] StageAnswer play(Stage& stage, const StageEvent& event, Timestamp now, Changes& changes);

[[nodiscard]] std::string text_of(const Grant& grant);
[[nodiscard]] std::string text_of(const protocol::UnitOrder& order);
[[nodiscard]] std::string text_of(const CommitOutcome& outcome);
[[nodiscard]] std::string text_of(const Decision& decision);
[[nodiscard]] std::string text_of(const Status& changed);
[[nodiscard]] std::string text_of(bool kept);

}  // namespace gleaner::policy
