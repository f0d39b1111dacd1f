#include "client/state/usage.h"

#include "shared/json/text.h"

namespace gleaner::state {
namespace {

using Json = json::Value;

constexpr std::int64_t usage_bytes_max = 256 << 10;
constexpr double seconds_max = 1e12;

// Nothing where it is no sensible number.
double seconds_of(const Json& use, const char* name) {
  if (!use[name].is_number()) return 0;
  const double value = use[name].number();
  return value >= 0 && value <= seconds_max ? value : 0;
}

}  // namespace

ProjectUses load_usage(const io::Files& files, const io::Path& path) {
  ProjectUses uses;
  const auto text = files.read(path, usage_bytes_max);
  if (!text.ok()) return uses;
  const Json all = json::parse_or_null(*text);
  for (const auto& [key, use] : all.members())
    if (use.is_object())
      uses[key] = {seconds_of(use, "virtual_time"), seconds_of(use, "recent"), use["contends"] == Json(true)};
  return uses;
}

Status save_usage(io::Files& files, const io::Path& path, const ProjectUses& uses) {
  Json all = Json::object();
  for (const auto& [key, use] : uses)
    all[key] = {{"virtual_time", use.virtual_time}, {"recent", use.recent}, {"contends", use.contends}};
  return files.write(path, json::write(all, {-1, true}), io::Mode::secret);
}

}  // namespace gleaner::state
