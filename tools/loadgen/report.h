// What a run came to, as text for people and as JSON for programs. Pure.
#pragma once

#include <optional>
#include <string>

#include "tools/loadgen/engine.h"
#include "tools/loadgen/process_usage.h"
#include "tools/loadgen/working.h"

namespace gleaner::loadgen {

struct Report {
  double seconds = 0;  // measured
  Counters counters;   // in them
  Tally tally;         // in them
  Duration own_cpu{0};
  std::optional<ProcessUsage> server;  // CPU in them, memory at their end
  // Of the whole run.
  std::int64_t accepted = 0, duplicate = 0, refused = 0, unanswered = 0;
  Tally whole;
  std::string trouble;  // the last connection lost or error answered; empty: none
  std::string fault;    // the first answer that was wrong; empty: none
};

[[nodiscard]] Tally difference(const Tally& late, const Tally& early);
[[nodiscard]] std::string text_of(const Report& report);
[[nodiscard]] std::string json_of(const Report& report);

}  // namespace gleaner::loadgen
