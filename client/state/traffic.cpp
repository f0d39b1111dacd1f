#include "client/state/traffic.h"

#include <algorithm>

#include "shared/json/text.h"

namespace gleaner::state {
namespace {

constexpr std::int64_t traffic_bytes_max = 4 << 10;
constexpr std::int64_t count_max = std::int64_t{1} << 53;

}  // namespace

client_policy::TrafficCount load_traffic(const io::Files& files, const io::Path& path) {
  client_policy::TrafficCount count;
  const auto text = files.read(path, traffic_bytes_max);
  if (!text.ok()) return count;
  const json::Value stored = json::parse_or_null(*text);
  const auto number = [&stored](const char* name) {
    const json::Value& one = stored[name];
    return one.is_integer() ? std::clamp<std::int64_t>(one.integer(), 0, count_max) : 0;
  };
  count.date = {number("day"), number("month")};
  count.day_bytes = number("day_bytes");
  count.month_bytes = number("month_bytes");
  return count;
}

Status save_traffic(io::Files& files, const io::Path& path, const client_policy::TrafficCount& count) {
  const json::Value stored = {{"day", count.date.day},
                              {"month", count.date.month},
                              {"day_bytes", count.day_bytes},
                              {"month_bytes", count.month_bytes}};
  return files.write(path, json::write(stored, {-1, true}), io::Mode::secret);
}

}  // namespace gleaner::state
