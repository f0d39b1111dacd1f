#include "client/policy/run_decision.h"

#include <algorithm>
#include <cmath>

#include "shared/base/figures.h"

namespace gleaner::client_policy {
namespace {

std::string more_text(Duration left) {
  const auto seconds = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(to_seconds(left))));
  if (seconds < 60) return counted(seconds, "more second");
  const auto minutes = (seconds + 59) / 60;
  constexpr std::int64_t day = 24 * 60;
  if (minutes >= 4 * day) return counted((minutes + day / 2) / day, "more day");
  if (minutes >= 180) return counted((minutes + 30) / 60, "more hour");
  return counted(minutes, "more minute");
}

std::string share_text(double share) {
  return "kernels use at most " + std::to_string(static_cast<int>(std::lround(share * 100))) +
         " % of a core each";
}

}  // namespace

const char* name_of(RunMode mode) {
  switch (mode) {
    case RunMode::pause:
      return "pause";
    case RunMode::throttle:
      return "throttle";
    case RunMode::run:
      return "run";
  }
  return "unknown";
}

RunDecision decide(const Preferences& preferences, const std::vector<Signal>& signals) {
  RunDecision decision;
  // A share that is not a number is no permission at all.
  decision.cpu_share = preferences.cpu_share > 0 ? std::min(preferences.cpu_share, 1.0) : 0;
  decision.cores = std::max(1, preferences.cores);
  decision.mode = RunMode::run;
  decision.reason =
      preferences.at_any_time ? "your preferences let it compute at any time" : "this computer is idle";

  const auto restrict_to = [&decision](RunMode allows, const std::string& source,
                                       const std::string& sentence) {
    if (static_cast<int>(allows) >= static_cast<int>(decision.mode)) return;
    decision.mode = allows;
    decision.source = source;
    decision.reason = sentence.empty() ? "something that gave no reason asked for it" : sentence;
  };
  if (!preferences.enabled)
    restrict_to(RunMode::pause, "preferences", "computing is switched off in the preferences");
  if (preferences.paused_for && *preferences.paused_for > Duration{0}) {
    const bool for_ever = *preferences.paused_for == Duration::max();
    if (preferences.until_saved)
      decision.reason = "you paused it: each core stops at its next saved point; `gleaner pause` stops now";
    else
      restrict_to(RunMode::pause, "owner",
                  for_ever
                      ? "you paused it; `gleaner resume` continues"
                      : "you paused it for " + more_text(*preferences.paused_for) +
                            (preferences.paused_until.empty() ? "" : ", until " + preferences.paused_until));
    if (!for_ever) decision.recheck = *preferences.paused_for;
  }
  if (decision.cpu_share <= 0) restrict_to(RunMode::pause, "preferences", "the CPU share is zero");
  for (const Signal& signal : signals) {
    restrict_to(signal.allows, signal.source, signal.sentence);
    const bool limits =
        signal.share_max < decision.cpu_share || (signal.cores_max > 0 && signal.cores_max < decision.cores);
    if (!limits) continue;
    restrict_to(RunMode::throttle, signal.source, signal.sentence);
    decision.cpu_share = std::min(decision.cpu_share, std::max(signal.share_max, 0.01));
    if (signal.cores_max > 0) decision.cores = std::min(decision.cores, signal.cores_max);
  }
  for (const Signal& signal : signals) decision.cpu_share *= std::clamp(signal.share, 0.01, 1.0);
  if (decision.cpu_share < 1) restrict_to(RunMode::throttle, "preferences", share_text(decision.cpu_share));
  return decision;
}

std::string told_to_project(const RunDecision& decision) {
  struct General {
    const char* source;
    const char* sentence;
  };
  static constexpr General general[] = {
      {"owner", "its owner paused it"},
      {"preferences", "its owner's preferences limit it now"},
      {"hours", "its owner's preferences do not let it compute at this hour"},
      {"level", "its owner's preferences limit it now"},
      {"people", "somebody uses this computer"},
      {"program", "a program runs that is to have the computer alone"},
      {"outside", "a program of its owner's says no"},
      {"disk", "its disk does not take results"},
  };
  for (const General& one : general)
    if (decision.source == one.source) return one.sentence;
  return decision.reason;
}

}  // namespace gleaner::client_policy
