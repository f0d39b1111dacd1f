#include "client/state/notices.h"

#include <algorithm>

#include "shared/json/text.h"

namespace gleaner::state {
namespace {

using Json = json::Value;
using client_policy::NoticeMemory;
using client_policy::Trouble;

constexpr std::int64_t notices_bytes_max = 64 << 10;

std::optional<Timestamp> time_of(const Json& value) {
  if (!value.is_integer() || value.integer() < 0) return std::nullopt;
  return from_microseconds(value.integer());
}

std::optional<NoticeMemory::Entry> entry_of(const Json& value) {
  const Json& trouble = value["trouble"];
  const auto since = time_of(value["since"]);
  if (!value["project"].is_string() || !trouble.is_integer() || !since || !value["told"].is_boolean())
    return std::nullopt;
  if (trouble.integer() < 1 || trouble.integer() > client_policy::trouble_last) return std::nullopt;
  return NoticeMemory::Entry{value["project"].string(), static_cast<Trouble>(trouble.integer()), *since,
                             value["told"].boolean(), time_of(value["well_since"])};
}

}  // namespace

NoticeMemory load_notices(const io::Files& files, const io::Path& path) {
  NoticeMemory memory;
  const auto text = files.read(path, notices_bytes_max);
  if (!text.ok()) return memory;
  const Json all = json::parse_or_null(*text);
  if (!all.is_object()) return memory;
  memory.shown_at = time_of(all["shown_at"]);
  for (const Json& one : all["entries"].elements())
    if (auto entry = one.is_object() ? entry_of(one) : std::nullopt;
        entry && memory.entries.size() < notices_kept_max)
      memory.entries.push_back(*std::move(entry));
  return memory;
}

Status save_notices(io::Files& files, const io::Path& path, const NoticeMemory& memory) {
  Json entries = Json::array();
  for (const auto& entry : memory.entries) {
    Json one = {{"project", entry.project},
                {"trouble", static_cast<int>(entry.trouble)},
                {"since", to_microseconds(entry.since)},
                {"told", entry.told}};
    if (entry.well_since) one["well_since"] = to_microseconds(*entry.well_since);
    entries.push_back(one);
  }
  Json all = {{"entries", entries}};
  if (memory.shown_at) all["shown_at"] = to_microseconds(*memory.shown_at);
  return files.write(path, json::write(all, {-1, true}), io::Mode::secret);
}

}  // namespace gleaner::state
