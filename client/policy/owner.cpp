#include "client/policy/owner.h"

#include <algorithm>
#include <cmath>

namespace gleaner::client_policy {
namespace {

using Kind = Observation::Kind;

void forbid(OwnerVerdict& verdict, const char* source, const std::string& sentence) {
  verdict.signals.push_back({source, RunMode::pause, sentence});
}

void recheck_in(OwnerVerdict& verdict, Duration wait) {
  if (!verdict.recheck || wait < *verdict.recheck) verdict.recheck = wait;
}

bool fresh(const Observation& observation) {
  return observation.age <= OwnerPolicy::age_max;
}

std::string detail_of(const Observation& observation) {
  const std::string age =
      observation.age >= std::chrono::seconds{1} ? " (" + rough_text(observation.age) + " ago)" : "";
  switch (observation.kind) {
    case Kind::input:
      return observation.source + ": last input " +
             (observation.idle ? rough_text(*observation.idle) + " ago" : "unknown") + age;
    case Kind::screen:
      return observation.source +
             (observation.idle ? ": unused for " + rough_text(*observation.idle)
                               : ": somebody is logged in; whether they are there is not known") +
             age;
    case Kind::battery:
      return observation.source + (observation.value > 0 ? ": discharging" : ": on mains power");
    case Kind::temperature:
      return observation.source + ": " + std::to_string(std::lround(observation.value)) + " degrees";
  }
  return observation.source;
}

bool within(const std::vector<Hours>& hours, int minute) {
  return std::any_of(hours.begin(), hours.end(), [minute](const Hours& span) {
    return span.begin <= span.end ? minute >= span.begin && minute < span.end
                                  : minute >= span.begin || minute < span.end;
  });
}

// Minutes until `within` changes; a week if it never does.
int until_change(const std::vector<Hours>& hours, int minute) {
  const bool now = within(hours, minute);
  for (int ahead = 1; ahead < minutes_per_week; ++ahead)
    if (within(hours, (minute + ahead) % minutes_per_week) != now) return ahead;
  return minutes_per_week;
}

}  // namespace

std::string rough_text(Duration duration) {
  const double seconds = std::max(0.0, to_seconds(duration));
  const auto count = [](double value, const char* unit) {
    const long whole = std::lround(value);
    return std::to_string(whole) + " " + unit + (whole == 1 ? "" : "s");
  };
  if (seconds < 100) return count(seconds, "second");
  if (seconds < 6000) return count(seconds / 60, "minute");
  return count(seconds / 3600, "hour");
}

void OwnerPolicy::judge_people(const OwnerView& view, OwnerVerdict& verdict) {
  const Observation* latest = nullptr;
  Duration least = Duration::max();
  for (const Observation& observation : view.observations) {
    if (observation.kind != Kind::input && observation.kind != Kind::screen) continue;
    if (!observation.idle || !fresh(observation)) {
      if (observation.kind == Kind::screen)
        forbid(
            verdict, "people",
            "somebody is logged in (" + observation.source +
                ") and nothing tells whether they are there: it computes when the screen is locked or idle; "
                "`gleaner prefs set run always` computes beside them");
      continue;
    }
    const Duration idle = std::max(Duration{0}, *observation.idle) + std::max(Duration{0}, observation.age);
    if (idle < least) {
      least = idle;
      latest = &observation;
    }
  }
  const bool used = latest != nullptr && least < view.wishes.idle_after;
  if (used || !verdict.signals.empty()) {
    if (!people_at_) people_at_ = view.now;
  } else if (people_at_ && view.now - *people_at_ < dwell) {
    const Duration left = dwell - (view.now - *people_at_);
    forbid(verdict, "people", "a moment ago somebody was here: it waits " + rough_text(left) + " more");
    recheck_in(verdict, left);
  } else {
    people_at_.reset();
  }
  if (!used) return;
  forbid(verdict, "people",
         "somebody used this computer " + rough_text(least) + " ago (" + latest->source +
             "): it computes after " + rough_text(view.wishes.idle_after) + " without");
  recheck_in(verdict, view.wishes.idle_after - least);
}

void OwnerPolicy::judge_machine(const OwnerView& view, OwnerVerdict& verdict) {
  std::string trouble;
  double hottest = -300;
  for (const Observation& observation : view.observations) {
    if (observation.kind == Kind::battery && observation.value > 0 && !view.wishes.on_battery)
      trouble = "this computer runs on its battery (" + observation.source + ")";
    if (observation.kind == Kind::temperature && std::isfinite(observation.value))
      hottest = std::max(hottest, observation.value);
  }
  hot_ = hottest >= view.wishes.temperature_max - (hot_ ? cooling : 0);
  if (hot_)
    trouble = "it is too hot: " + std::to_string(std::lround(hottest)) + " degrees; it computes below " +
              std::to_string(std::lround(view.wishes.temperature_max - cooling));
  if (!trouble.empty()) {
    trouble_ = trouble;
    trouble_at_ = view.now;
    return forbid(verdict, "machine", trouble);
  }
  if (!trouble_at_ || view.now - *trouble_at_ >= dwell) return;
  const Duration left = dwell - (view.now - *trouble_at_);
  forbid(verdict, "machine", "a moment ago " + trouble_ + ": it waits " + rough_text(left) + " more");
  recheck_in(verdict, left);
}

OwnerVerdict OwnerPolicy::judge(const OwnerView& view) {
  OwnerVerdict verdict;
  for (const Observation& observation : view.observations) verdict.details.push_back(detail_of(observation));
  if (view.wishes.run == RunWhen::never)
    forbid(verdict, "preferences", "the preferences say run = \"never\"");
  if (!view.wishes.hours.empty()) {
    const int minute = std::clamp(view.minute_of_week, 0, minutes_per_week - 1);
    const int left = until_change(view.wishes.hours, minute);
    if (!within(view.wishes.hours, minute))
      forbid(
          verdict, "hours",
          "outside of the hours in the preferences; they begin in " + rough_text(std::chrono::minutes{left}));
    recheck_in(verdict, std::chrono::minutes{left});
  }
  judge_machine(view, verdict);
  if (view.wishes.run == RunWhen::idle) judge_people(view, verdict);
  return verdict;
}

}  // namespace gleaner::client_policy
