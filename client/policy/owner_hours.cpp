// Hours of computing, of the network and of expensive electricity, and the situations of the levels; see
// owner.h.
#include <algorithm>
#include <array>

#include "client/policy/owner.h"

namespace gleaner::client_policy {

using Kind = Observation::Kind;

namespace {
constexpr int day_minutes = 24 * 60;
}  // namespace

bool within(const std::vector<Hours>& hours, int minute) {
  return std::any_of(hours.begin(), hours.end(), [minute](const Hours& span) {
    return span.begin <= span.end ? minute >= span.begin && minute < span.end
                                  : minute >= span.begin || minute < span.end;
  });
}

std::string time_text(const LocalTime& local, int ahead) {
  constexpr std::array day_names{"Monday", "Tuesday",  "Wednesday", "Thursday",
                                 "Friday", "Saturday", "Sunday"};
  const int then = local.ahead(ahead);
  const int of_hour = then % 60;
  const std::string day = ahead <= day_minutes
                              ? ""
                              : day_names.at(static_cast<std::size_t>(then / day_minutes)) + std::string(" ");
  return day + std::to_string(then % day_minutes / 60) + (of_hour < 10 ? ":0" : ":") +
         std::to_string(of_hour);
}

namespace {

// "at 8:00, in 10 hours", "on Monday at 8:00, in 30 hours".
std::string when_text(const LocalTime& local, int ahead) {
  const std::string time = time_text(local, ahead);
  const auto space = time.find(' ');
  return (space == std::string::npos ? "at " + time
                                     : "on " + time.substr(0, space) + " at " + time.substr(space + 1)) +
         ", in " + rough_text(std::chrono::minutes{ahead});
}

// Minutes until `within` changes, as they pass; a week if it never does.
int until_change(const std::vector<Hours>& hours, const LocalTime& local) {
  const bool now = within(hours, local.ahead(0));
  for (int minutes = 1; minutes < minutes_per_week; ++minutes)
    if (within(hours, local.ahead(minutes)) != now) return minutes;
  return minutes_per_week;
}

struct Turn {
  bool within = false;
  std::string when;  // it changes: "at 8:00, in 10 hours"
};

Turn turn_of(const std::vector<Hours>& hours, const LocalTime& local, OwnerVerdict& verdict) {
  if (hours.empty()) return {};
  const int ahead = until_change(hours, local);
  const Duration left = std::chrono::minutes{ahead};
  if (!verdict.recheck || left < *verdict.recheck) verdict.recheck = left;
  return {within(hours, local.ahead(0)), when_text(local, ahead)};
}

}  // namespace

void OwnerPolicy::judge_hours(const OwnerView& view, OwnerVerdict& verdict) {
  const Turn hours = turn_of(view.rules.hours, view.local, verdict);
  if (!view.rules.hours.empty() && !hours.within)
    verdict.signals.push_back(
        {"hours", RunMode::pause, "outside of the hours in the preferences; they begin " + hours.when});
  const Turn expensive = turn_of(view.rules.expensive_hours, view.local, verdict);
  if (expensive.within)
    verdict.signals.push_back({"hours", RunMode::pause,
                               "electricity is dear now, say the preferences; that ends " + expensive.when});
}

OwnerPolicy::Now OwnerPolicy::level_now(const OwnerView& view, const std::string& used,
                                        OwnerVerdict& verdict) {
  Now now;
  if (!used.empty())
    now.add(view.rules, Situation::used, used);
  else
    now.add(view.rules, Situation::idle,
            minds_people(view.rules) ? "nobody uses this computer" : "it may compute always");
  if (turn_of(view.rules.night_hours, view.local, verdict).within)
    now.add(view.rules, Situation::night, "it is night");
  const auto battery = std::find_if(view.observations.begin(), view.observations.end(), [](const auto& one) {
    return one.kind == Kind::battery && one.value > 0;
  });
  if (battery != view.observations.end())
    now.add(view.rules, Situation::battery, "this computer runs on its battery (" + battery->source + ")");
  return now;
}

void OwnerPolicy::judge_network(const OwnerView& view, OwnerVerdict& verdict) {
  const Turn hours = turn_of(view.rules.network_hours, view.local, verdict);
  if (!view.rules.network_hours.empty() && !hours.within)
    verdict.no_network = "outside of the network's hours in the preferences; they begin " + hours.when;
  for (const Observation& observation : view.observations)
    if (observation.kind == Kind::metered && observation.value > 0 && !view.rules.on_metered)
      verdict.no_network = "the network costs by use (" + observation.source +
                           "): `gleaner prefs set on_metered true` uses it nevertheless";
}

}  // namespace gleaner::client_policy
