// The outside signal: a program or a server of this computer that the owner named says whether to compute,
// and why: cheap or green power, home automation. Rules: its first line is "yes", "no" or a share of each
// core ("40%"), then the reason if it gives one. An answer holds until the next one. Without a new one it
// holds for three intervals, at least ten minutes; then, and before the first, nothing is computed. What was
// said before this computer slept does not count. Pure. Cost: O(1).
#pragma once

#include <optional>
#include <string>

#include "client/policy/run_decision.h"
#include "shared/base/clock.h"

namespace gleaner::client_policy {

struct OutsideAnswer {
  double share = 1;    // of each core; 0: no
  std::string reason;  // clean, at most a line; empty: none given
};
// Nothing if it is no such line.
[[nodiscard]] std::optional<OutsideAnswer> parse_outside(const std::string& text);

struct OutsideView {
  const std::string& where;  // what is asked
  Duration interval{0};
  std::optional<OutsideAnswer> answer;  // the latest
  SteadyTime answered_at{};
  const std::string& trouble;  // why there was no answer since; empty: there was, or it is not asked yet
  SteadyTime now{};
};
struct OutsideVerdict {
  std::optional<Signal> signal;  // nothing: it says yes
  std::string detail;
};
[[nodiscard]] OutsideVerdict judge_outside(const OutsideView& view);

// Is it the absolute path of a program, or an address like http://127.0.0.1:8123/power of this computer?
[[nodiscard]] bool is_outside_program(const std::string& where);
[[nodiscard]] bool is_outside_server(const std::string& where);

inline constexpr Duration outside_holds_min = std::chrono::minutes{10};
inline constexpr int outside_intervals = 3;

}  // namespace gleaner::client_policy
