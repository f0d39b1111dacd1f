#include "client/policy/owner.h"

#include <algorithm>
#include <cmath>

#include "shared/base/figures.h"

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

std::string battery_text(const Observation& battery) {
  const std::string state = !battery.note.empty() ? battery.note
                            : battery.value > 0   ? "discharging"
                                                  : "on mains power";
  return battery.source + ": " + state +
         (battery.percent ? ", " + percent_text(*battery.percent / 100) + " charged" : "");
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
      return battery_text(observation);
    case Kind::saver:
      return observation.source + ": saves energy";
    case Kind::temperature:
      return observation.source + ": " + std::to_string(std::lround(observation.value)) + " degrees";
    case Kind::fan:
      return observation.source + ": " + std::to_string(std::lround(observation.value)) + " rpm";
    case Kind::watching:
    case Kind::sleep:
    case Kind::silent:
      return observation.source + age;
    case Kind::load:
      return observation.source + ": " + percent_text(observation.value) + " of all cores";
    case Kind::available:
      return observation.source + ": " + percent_text(observation.value) + " available" + age;
    case Kind::memory:
      return observation.source + ": " + percent_text(observation.value / 100) + " of the time";
    case Kind::program:
      return observation.source + " runs";
    case Kind::metered:
      return observation.source + (observation.value > 0 ? ": costs by use" : ": free of charge");
  }
  return observation.source;
}

// The largest that was seen; 0: none.
double most_of(const OwnerView& view, Kind kind) {
  double most = 0;
  for (const Observation& one : view.observations)
    if (one.kind == kind && std::isfinite(one.value)) most = std::max(most, one.value);
  return most;
}

// Why nothing is computed on a battery that is run on; empty: it is allowed.
std::string battery_trouble(const OwnerView& view, const Observation& battery) {
  const auto& level = view.rules.levels[Situation::battery];
  if (level ? level->off : !view.rules.on_battery)
    return "this computer runs on its battery (" + battery.source + ")";
  if (battery.percent && *battery.percent < view.rules.battery_percent_min)
    return "its battery (" + battery.source + ") is at " + percent_text(*battery.percent / 100) +
           ": it computes from " + percent_text(view.rules.battery_percent_min / 100) + " on";
  for (const Observation& one : view.observations)
    if (one.kind == Kind::saver)
      return "this computer runs on its battery and saves energy (" + one.source + ")";
  return {};
}

}  // namespace

bool minds_people(const OwnerRules& rules) {
  return rules.run == RunWhen::idle || (rules.run == RunWhen::always && rules.levels[Situation::used]);
}

bool minds_fans(const OwnerRules& rules) {
  return rules.fan_rpm_max ||
         std::ranges::any_of(rules.levels.of, [](const auto& one) { return one && one->fan_rpm_max; });
}

void OwnerPolicy::Now::add(const OwnerRules& rules, Situation situation, const std::string& told) {
  const auto& of_this = rules.levels[situation];
  if (!of_this) return;
  level = least_of(level, *of_this);
  words += (words.empty() ? "" : ", ") + told;
}

std::string rough_text(Duration duration) {
  const double seconds = std::max(0.0, to_seconds(duration));
  const auto count = [](double value, const char* unit) { return counted(std::llround(value), unit); };
  if (seconds < 100) return count(seconds, "second");
  if (seconds < 6000) return count(seconds / 60, "minute");
  return count(seconds / 3600, "hour");
}

std::string OwnerPolicy::judge_people(const OwnerView& view, OwnerVerdict& verdict) {
  const std::size_t others = verdict.signals.size();
  const bool beside = view.rules.levels.permits(Situation::used);
  std::string here;
  const Observation* latest = nullptr;
  Duration least = Duration::max();
  for (const Observation& observation : view.observations) {
    if (observation.kind == Kind::watching && !view.rules.when_watching && fresh(observation))
      forbid(verdict, "people",
             observation.source +
                 ": somebody may be watching; `gleaner prefs set when_watching true` computes beside it");
    if (observation.kind != Kind::input && observation.kind != Kind::screen) continue;
    if (!observation.idle || !fresh(observation)) {
      if (observation.kind != Kind::screen) continue;
      const std::string who = "somebody is logged in (" + observation.source + ")";
      if (beside)
        here = who;
      else
        forbid(
            verdict, "people",
            who +
                " and nothing tells whether they are there: it computes when the screen is locked or idle; "
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
  if (used || !here.empty() || verdict.signals.size() > others) {
    if (!people_at_) people_at_ = view.now;
  } else if (people_at_ && view.now - *people_at_ < view.rules.dwell) {
    const Duration left = view.rules.dwell - (view.now - *people_at_);
    if (beside)
      here = "a moment ago somebody was here";
    else
      forbid(verdict, "people", "a moment ago somebody was here: it waits " + rough_text(left) + " more");
    recheck_in(verdict, left);
  } else {
    people_at_.reset();
  }
  if (!used) return here;
  recheck_in(verdict, view.rules.idle_after - least);
  if (beside) return "somebody uses this computer (" + latest->source + ")";
  forbid(verdict, "people",
         "somebody used this computer " + rough_text(least) + " ago (" + latest->source +
             "): it computes after " + rough_text(view.rules.idle_after) + " without");
  return {};
}

void OwnerPolicy::judge_level(const Now& now, OwnerVerdict& verdict) {
  if (now.level.off) return forbid(verdict, "level", now.words + ": the preferences say \"off\"");
  if (!now.level.limits()) return;
  Signal signal{"level", RunMode::run, now.words + ": " + text_of(now.level)};
  signal.share_max = now.level.cpu_share;
  signal.cores_max = now.level.cores;
  verdict.signals.push_back(std::move(signal));
}

std::string OwnerPolicy::load_trouble(const OwnerView& view, OwnerVerdict& verdict) {
  const double load = most_of(view, Kind::load);
  const bool considers_load = view.rules.run == RunWhen::idle && view.rules.load_max < 1;
  const bool busy = considers_load && load >= view.rules.load_max * (loaded_ ? load_leave : 1);
  if (!busy)
    busy_since_.reset();
  else if (!busy_since_)
    busy_since_ = view.now;
  if (busy && !loaded_ && view.now - *busy_since_ < view.rules.load_grace) {
    recheck_in(verdict, view.rules.load_grace - (view.now - *busy_since_));
    return {};
  }
  loaded_ = busy;
  if (!loaded_) return {};
  return "other programs use " + percent_text(load) + " of all cores; it computes below " +
         percent_text(load_leave * view.rules.load_max) + " (preference load_max)";
}

std::string OwnerPolicy::memory_trouble(const OwnerView& view) {
  const bool waits = most_of(view, Kind::memory) >= (short_of_memory_ ? memory_leave : memory_enter);
  const Observation* left = nullptr;
  for (const Observation& one : view.observations)
    if (one.kind == Kind::available && one.value < (short_of_memory_ ? available_leave : available_enter))
      left = &one;
  short_of_memory_ = waits || left != nullptr;
  if (waits) return "memory is short: programs wait for it";
  if (left == nullptr) return {};
  return "memory is short: " + percent_text(left->value) + " of it is available; it computes above " +
         percent_text(available_leave);
}

// What about the machine itself stands against it now; no sentence if nothing does.
OwnerPolicy::Trouble OwnerPolicy::machine_trouble(const OwnerView& view, const Level& level,
                                                  OwnerVerdict& verdict) {
  Trouble trouble;
  const auto minds = [&trouble](const std::string& why) {
    if (!why.empty()) trouble = {"machine", why};
  };
  for (const Observation& one : view.observations) {
    if (one.kind == Kind::battery && one.value > 0) minds(battery_trouble(view, one));
    if (one.kind == Kind::sleep) minds(one.source);
    if (one.kind == Kind::program) trouble = {"program", one.source + " runs, which is to have it alone"};
  }
  minds(load_trouble(view, verdict));
  minds(memory_trouble(view));
  if (const auto rpm = least_of(view.rules.fan_rpm_max, level.fan_rpm_max); !rpm)
    noise_ = SteppedLimit(SteppedLimit::Of::fans);
  else
    minds(limit_trouble(noise_, Kind::fan, *rpm, view, verdict));
  const double degrees = *least_of(view.rules.temperature_max, level.temperature_max);
  minds(limit_trouble(heat_, Kind::temperature, degrees, view, verdict));
  return trouble;
}

std::string OwnerPolicy::limit_trouble(SteppedLimit& limit, Kind kind, double maximum, const OwnerView& view,
                                       OwnerVerdict& verdict) {
  std::vector<SteppedLimit::Reading> readings;
  for (const Observation& one : view.observations)
    if (one.kind == kind) readings.push_back({one.source, one.value});
  const SteppedLimit::Verdict judged = limit.judge(readings, maximum, view.now);
  verdict.details.insert(verdict.details.end(), judged.details.begin(), judged.details.end());
  if (kind == Kind::temperature && judged.highest) verdict.celsius = judged.highest->value;
  if (judged.stop) return judged.sentence;
  if (judged.share < 1)
    verdict.signals.push_back({limit.name(), RunMode::throttle, judged.sentence, judged.share});
  return {};
}

void OwnerPolicy::judge_machine(const OwnerView& view, const Level& level, OwnerVerdict& verdict) {
  verdict.before_sleep = std::any_of(view.observations.begin(), view.observations.end(),
                                     [](const auto& one) { return one.kind == Kind::sleep; });
  if (verdict.before_sleep) recheck_in(verdict, sleep_look);
  const Trouble trouble = machine_trouble(view, level, verdict);
  if (!trouble.sentence.empty()) {
    trouble_ = trouble;
    trouble_at_ = view.now;
    return forbid(verdict, trouble.source, trouble.sentence);
  }
  if (!trouble_at_ || view.now - *trouble_at_ >= view.rules.dwell) return;
  const Duration left = view.rules.dwell - (view.now - *trouble_at_);
  forbid(verdict, trouble_.source,
         "it waits " + rough_text(left) + " more, to be sure that this is over: " + trouble_.sentence);
  recheck_in(verdict, left);
}

OwnerVerdict OwnerPolicy::judge(const OwnerView& view) {
  OwnerVerdict verdict;
  for (const Observation& observation : view.observations) verdict.details.push_back(detail_of(observation));
  if (view.rules.run == RunWhen::never) forbid(verdict, "preferences", "the preferences say run = \"never\"");
  judge_hours(view, verdict);
  judge_network(view, verdict);
  OwnerVerdict of_people;  // told after the machine
  const std::string used = minds_people(view.rules) ? judge_people(view, of_people) : "";
  const bool away = used.empty() && of_people.signals.empty();
  const Now level = level_now(view, used, verdict);
  judge_machine(view, level.level, verdict);
  std::move(of_people.signals.begin(), of_people.signals.end(), std::back_inserter(verdict.signals));
  if (of_people.recheck) recheck_in(verdict, *of_people.recheck);
  if (!used.empty() || away) judge_level(level, verdict);
  return verdict;
}

}  // namespace gleaner::client_policy
