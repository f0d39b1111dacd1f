#include "client/policy/owner.h"

#include <algorithm>
#include <array>
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

std::string percent_text(double part) {
  return std::to_string(std::lround(100 * part)) + " %";
}

std::string detail_of(const Observation& observation) {
  std::string age = observation.note;
  if (observation.age >= std::chrono::seconds{1})
    age += (age.empty() ? "" : ", ") + rough_text(observation.age) + " ago";
  if (!age.empty()) age = " (" + age + ")";
  switch (observation.kind) {
    case Kind::input:
      return observation.source + ": last input " +
             (!observation.idle                  ? "unknown"
              : *observation.idle <= Duration{0} ? "now"
                                                 : rough_text(*observation.idle) + " ago") +
             age;
    case Kind::screen:
      return observation.source +
             (observation.idle ? ": unused for " + rough_text(*observation.idle)
                               : ": somebody is logged in; whether they are there is not known") +
             age;
    case Kind::battery:
      return observation.source + (observation.value > 0 ? ": discharging" : ": on mains power");
    case Kind::temperature:
      return observation.source + ": " + std::to_string(std::lround(observation.value)) + " degrees";
    case Kind::watching:
    case Kind::sleep:
      return observation.source + age;
    case Kind::load:
      return observation.source + ": " + percent_text(observation.value) + " of all cores";
    case Kind::memory:
      return observation.source + ": " + percent_text(observation.value / 100) + " of the time";
    case Kind::program:
      return observation.source + " runs";
    case Kind::metered:
      return observation.source + (observation.value > 0 ? ": costs by use" : ": free of charge");
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

struct Turn {
  bool within = false;
  Duration until_change{0};
  std::string when;  // it changes: "at 8:00, in 10 hours"
};

// By this computer's clock, with the day if it is not within one.
std::string when_text(int minute, int ahead) {
  constexpr std::array day_names{"Monday", "Tuesday",  "Wednesday", "Thursday",
                                 "Friday", "Saturday", "Sunday"};
  constexpr int day_minutes = 24 * 60;
  const int then = (minute + ahead) % minutes_per_week;
  const std::string day =
      ahead <= day_minutes
          ? ""
          : std::string("on ") + day_names.at(static_cast<std::size_t>(then / day_minutes)) + " ";
  const int of_hour = then % 60;
  return day + "at " + std::to_string(then % day_minutes / 60) + (of_hour < 10 ? ":0" : ":") +
         std::to_string(of_hour) + ", in " + rough_text(std::chrono::minutes{ahead});
}

Turn turn_of(const std::vector<Hours>& hours, int minute_of_week, OwnerVerdict& verdict) {
  if (hours.empty()) return {};
  const int minute = std::clamp(minute_of_week, 0, minutes_per_week - 1);
  const int ahead = until_change(hours, minute);
  const Duration left = std::chrono::minutes{ahead};
  recheck_in(verdict, left);
  return {within(hours, minute), left, when_text(minute, ahead)};
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
  const std::size_t others = verdict.signals.size();
  const Observation* latest = nullptr;
  Duration least = Duration::max();
  for (const Observation& observation : view.observations) {
    if (observation.kind == Kind::watching && !view.rules.when_watching && fresh(observation))
      forbid(verdict, "people",
             observation.source +
                 ": somebody may be watching; `gleaner prefs set when_watching true` computes beside it");
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
  const bool used = latest != nullptr && least < view.rules.idle_after;
  if (used || verdict.signals.size() > others) {
    if (!people_at_) people_at_ = view.now;
  } else if (people_at_ && view.now - *people_at_ < view.rules.dwell) {
    const Duration left = view.rules.dwell - (view.now - *people_at_);
    forbid(verdict, "people", "a moment ago somebody was here: it waits " + rough_text(left) + " more");
    recheck_in(verdict, left);
  } else {
    people_at_.reset();
  }
  if (!used) return;
  forbid(verdict, "people",
         "somebody used this computer " + rough_text(least) + " ago (" + latest->source +
             "): it computes after " + rough_text(view.rules.idle_after) + " without");
  recheck_in(verdict, view.rules.idle_after - least);
}

// What about the machine itself stands against it now; empty if nothing does.
std::string OwnerPolicy::machine_trouble(const OwnerView& view) {
  std::string trouble;
  double hottest = -300;
  double load = 0;
  double memory = 0;
  const auto raise = [](double& to, double value) {
    if (std::isfinite(value)) to = std::max(to, value);
  };
  for (const Observation& observation : view.observations) {
    if (observation.kind == Kind::battery && observation.value > 0 && !view.rules.on_battery)
      trouble = "this computer runs on its battery (" + observation.source + ")";
    if (observation.kind == Kind::sleep) trouble = observation.source;
    if (observation.kind == Kind::program) trouble = observation.source + " runs, which is to have it alone";
    if (observation.kind == Kind::temperature) raise(hottest, observation.value);
    if (observation.kind == Kind::load) raise(load, observation.value);
    if (observation.kind == Kind::memory) raise(memory, observation.value);
  }
  const bool considers_load = view.rules.run == RunWhen::idle && view.rules.load_max < 1;
  loaded_ = considers_load && load >= view.rules.load_max * (loaded_ ? load_leave : 1);
  if (loaded_)
    trouble = "other programs use " + percent_text(load) + " of all cores; it computes below " +
              percent_text(load_leave * view.rules.load_max);
  short_of_memory_ = memory >= (short_of_memory_ ? memory_leave : memory_enter);
  if (short_of_memory_) trouble = "memory is short: programs wait for it";
  hot_ = hottest >= view.rules.temperature_max - (hot_ ? cooling : 0);
  if (hot_)
    trouble = "it is too hot: " + std::to_string(std::lround(hottest)) + " degrees; it computes below " +
              std::to_string(std::lround(view.rules.temperature_max - cooling));
  return trouble;
}

void OwnerPolicy::judge_machine(const OwnerView& view, OwnerVerdict& verdict) {
  verdict.before_sleep = std::any_of(view.observations.begin(), view.observations.end(),
                                     [](const auto& one) { return one.kind == Kind::sleep; });
  if (verdict.before_sleep) recheck_in(verdict, sleep_look);
  const std::string trouble = machine_trouble(view);
  if (!trouble.empty()) {
    trouble_ = trouble;
    trouble_at_ = view.now;
    return forbid(verdict, "machine", trouble);
  }
  if (!trouble_at_ || view.now - *trouble_at_ >= view.rules.dwell) return;
  const Duration left = view.rules.dwell - (view.now - *trouble_at_);
  forbid(verdict, "machine",
         "it waits " + rough_text(left) + " more, to be sure that this is over: " + trouble_);
  recheck_in(verdict, left);
}

void OwnerPolicy::judge_hours(const OwnerView& view, OwnerVerdict& verdict) {
  const Turn hours = turn_of(view.rules.hours, view.minute_of_week, verdict);
  if (!view.rules.hours.empty() && !hours.within)
    forbid(verdict, "hours", "outside of the hours in the preferences; they begin " + hours.when);
  const Turn expensive = turn_of(view.rules.expensive_hours, view.minute_of_week, verdict);
  if (expensive.within)
    forbid(verdict, "hours", "electricity is dear now, say the preferences; that ends " + expensive.when);
}

void OwnerPolicy::judge_network(const OwnerView& view, OwnerVerdict& verdict) {
  const Turn hours = turn_of(view.rules.network_hours, view.minute_of_week, verdict);
  if (!view.rules.network_hours.empty() && !hours.within)
    verdict.no_network = "outside of the network's hours in the preferences; they begin " + hours.when;
  for (const Observation& observation : view.observations)
    if (observation.kind == Kind::metered && observation.value > 0 && !view.rules.on_metered)
      verdict.no_network = "the network costs by use (" + observation.source +
                           "): `gleaner prefs set on_metered true` uses it nevertheless";
}

OwnerVerdict OwnerPolicy::judge(const OwnerView& view) {
  OwnerVerdict verdict;
  for (const Observation& observation : view.observations) verdict.details.push_back(detail_of(observation));
  if (view.rules.run == RunWhen::never) forbid(verdict, "preferences", "the preferences say run = \"never\"");
  judge_hours(view, verdict);
  judge_network(view, verdict);
  judge_machine(view, verdict);
  if (view.rules.run == RunWhen::idle) judge_people(view, verdict);
  return verdict;
}

}  // namespace gleaner::client_policy
