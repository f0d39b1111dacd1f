#include "client/state/days.h"

#include "shared/json/text.h"

namespace gleaner::state {
namespace {

using Json = json::Value;

constexpr std::int64_t days_bytes_max = 64 << 10;
constexpr double use_max = 1e15;
constexpr std::int64_t day_max = 1'000'000;

double sensible(const Json& value) {
  if (!value.is_number()) return 0;
  const double number = value.number();
  return number >= 0 && number <= use_max ? number : 0;
}

}  // namespace

std::int64_t day_of(Timestamp time) {
  constexpr std::int64_t day_microseconds = std::int64_t{86'400} * 1'000'000;
  return to_microseconds(time) / day_microseconds;
}

void add_to_days(Days& days, std::int64_t day, const DayUse& more) {
  DayUse& use = days[day];
  use.core_seconds += more.core_seconds;
  use.joules += more.joules;
  while (days.size() > days_kept_max) days.erase(days.begin());
}

Days load_days(const io::Files& files, const io::Path& path) {
  Days days;
  const auto text = files.read(path, days_bytes_max);
  if (!text.ok()) return days;
  const Json all = json::parse_or_null(*text);
  for (const Json& entry : all.elements()) {
    if (entry.elements().size() != 3 || !entry[0].is_integer()) continue;
    if (entry[0].integer() < 0 || entry[0].integer() > day_max) continue;
    add_to_days(days, entry[0].integer(), {sensible(entry[1]), sensible(entry[2])});
  }
  return days;
}

Status save_days(io::Files& files, const io::Path& path, const Days& days) {
  Json all = Json::array();
  for (const auto& [day, use] : days) all.push_back(Json::array({day, use.core_seconds, use.joules}));
  return files.write(path, json::write(all, {-1, true}), io::Mode::secret);
}

}  // namespace gleaner::state
