#include "server/policy/journal/replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/policy/journal/lines.h"
#include "server/policy/journal/play.h"

namespace gleaner::policy {
namespace {

std::string shown(const StageAnswer& answer) {
  std::string text = answer.answer;
  for (const std::string& decision : answer.decisions) text += (text.empty() ? "" : "\n") + decision;
  return text.empty() ? "nothing" : text;
}

}  // namespace

Status Replay::feed(std::string_view line, const std::string& file) {
  ++lines_;
  const auto wrong = [&](const std::string& message) {
    return Error{ErrorKind::invalid, fmt::format("{}:{}: {}", file, lines_, message)};
  };
  if (line.find_first_not_of(" \r\t") == std::string_view::npos) return {};
  if (!stage_ || line.find("\"gleaner_stage_log\"") != std::string_view::npos) {
    auto setup = read_setup_line(line);
    if (!setup.ok()) return wrong(setup.error().message);
    items_ = setup->items;
    last_unit_ = 0;
    fresh_ = true;
    stage_.emplace(std::move(*setup));
    return {};
  }
  const auto entry = read_entry_line(line, items_);
  if (!entry.ok()) return wrong(entry.error().message);
  if (const auto* request = std::get_if<RequestEvent>(&entry->event)) {
    const std::int64_t unit = request->requester.unit.value;
    if (unit < last_unit_ || stage_->unit(request->requester.unit) != nullptr)
      return wrong(fmt::format("unit: {} was given before", unit));
    last_unit_ = unit;
  } else if (const auto* restore = std::get_if<RestoreEvent>(&entry->event)) {
    if (!fresh_) return wrong("event: expected restore only right after the stage's setup, got it later");
    for (const Unit& unit : restore->units) last_unit_ = std::max(last_unit_, unit.id.value + 1);
  }
  fresh_ = false;
  ++events_;
  const StageAnswer answer = play(*stage_, entry->event, entry->at);
  decisions_ += static_cast<std::int64_t>(answer.decisions.size());
  if (!(answer == entry->answer)) parting_ = Parting{lines_, shown(entry->answer), shown(answer)};
  return {};
}

}  // namespace gleaner::policy
