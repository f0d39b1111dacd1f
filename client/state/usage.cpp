#include "client/state/usage.h"

#include <nlohmann/json.hpp>

namespace gleaner::state {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t usage_bytes_max = 256 << 10;
constexpr double seconds_max = 1e12;

// Nothing where it is no sensible number.
double seconds_of(const Json& use, const char* name) {
  if (!use.contains(name) || !use[name].is_number()) return 0;
  const double value = use[name].get<double>();
  return value >= 0 && value <= seconds_max ? value : 0;
}

}  // namespace

ProjectUses load_usage(const io::Files& files, const io::Path& path) {
  ProjectUses uses;
  const auto text = files.read(path, usage_bytes_max);
  if (!text.ok()) return uses;
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) return uses;
  for (const auto& [key, use] : json.items())
    if (use.is_object())
      uses[key] = {seconds_of(use, "virtual_time"), seconds_of(use, "recent"),
                   use.contains("contends") && use["contends"] == true};
  return uses;
}

Status save_usage(io::Files& files, const io::Path& path, const ProjectUses& uses) {
  Json json = Json::object();
  for (const auto& [key, use] : uses)
    json[key] = {{"virtual_time", use.virtual_time}, {"recent", use.recent}, {"contends", use.contends}};
  return files.write(path, json.dump(), io::Mode::secret);
}

}  // namespace gleaner::state
