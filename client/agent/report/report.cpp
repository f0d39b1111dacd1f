#include "client/agent/report/report.h"

#include <algorithm>
#include <cmath>

#include "shared/base/clean_text.h"
#include "shared/json/text.h"

namespace gleaner::agent {
namespace {

using Json = json::Value;
using Busy = SessionReport::Busy;

constexpr const char* full_screen = "full-screen";
constexpr const char* inhibitor = "inhibitor";

Result<std::string> text_of(const Json& object, const char* key, bool needed) {
  const Json* found = object.find(key);
  if (found == nullptr && !needed) return std::string();
  if (found == nullptr || !found->is_string())
    return Error{ErrorKind::invalid, std::string("the report's ") + key + " is not a text"};
  return printable(found->string());
}

Result<SessionReport::Input> input_of(const Json& object) {
  SessionReport::Input input;
  if (!object.is_object()) return Error{ErrorKind::invalid, "an input of the report is not an object"};
  TRY_ASSIGN(input.source, text_of(object, "source", true));
  const Json& active = object["active"];
  const Json& idle = object["idle"];
  if (!active.is_boolean() || !idle.is_number())
    return Error{ErrorKind::invalid, "an input of the report does not say active and idle"};
  const double seconds = idle.number();
  if (!(seconds >= 0) || seconds > to_seconds(report_idle_max))
    return Error{ErrorKind::invalid, "an idle time in the report is out of bounds"};
  input.active = active.boolean();
  input.idle = input.active ? Duration{0} : from_seconds(seconds);
  TRY_ASSIGN(const std::string how, text_of(object, "how", false));
  input.asked = how == "asked";
  return input;
}

Result<Busy> busy_of(const Json& object) {
  if (!object.is_object()) return Error{ErrorKind::invalid, "a reason in the report is not an object"};
  TRY_ASSIGN(const std::string kind, text_of(object, "kind", true));
  if (kind != full_screen && kind != inhibitor)
    return Error{ErrorKind::invalid, "a reason in the report is of an unknown kind"};
  TRY_ASSIGN(std::string what, text_of(object, "what", true));
  return Busy{kind == full_screen ? Busy::Kind::full_screen : Busy::Kind::inhibitor, std::move(what)};
}

Result<std::string> sentence_of(const Json& text) {
  if (!text.is_string()) return Error{ErrorKind::invalid, "what the report misses is not a text"};
  return printable(text.string());
}

// A list of at most `count` things.
template <typename Item, typename Read>
Status read_list(const Json& report, const char* key, std::size_t count, std::vector<Item>& into, Read read) {
  const Json* found = report.find(key);
  if (found == nullptr) return {};
  if (!found->is_array() || found->size() > count)
    return Error{ErrorKind::invalid, std::string("the report's ") + key + " are not a short list"};
  for (const Json& one : found->elements()) {
    TRY_ASSIGN(Item item, read(one));
    into.push_back(std::move(item));
  }
  return {};
}

}  // namespace

std::string printable(std::string_view text) {
  return clean_line(text, report_text_max);
}

std::string encode(const SessionReport& report) {
  Json inputs = Json::array();
  for (std::size_t i = 0; i < std::min(report.inputs.size(), report_inputs_max); ++i) {
    const auto& input = report.inputs[i];
    const Duration idle = std::clamp(input.idle, Duration{0}, report_idle_max);
    inputs.push_back(Json{{"source", printable(input.source)},
                          {"active", input.active},
                          {"idle", input.active ? 0.0 : to_seconds(idle)},
                          {"how", input.asked ? "asked" : "event"}});
  }
  Json busy = Json::array();
  for (std::size_t i = 0; i < std::min(report.busy.size(), report_busy_max); ++i)
    busy.push_back(Json{{"kind", report.busy[i].kind == Busy::Kind::full_screen ? full_screen : inhibitor},
                        {"what", printable(report.busy[i].what)}});
  Json missing = Json::array();
  for (std::size_t i = 0; i < std::min(report.missing.size(), report_missing_max); ++i)
    missing.push_back(printable(report.missing[i]));
  Json all = {{"version", 1},
              {"session", printable(report.session)},
              {"display", printable(report.display)},
              {"inputs", inputs},
              {"busy", busy},
              {"missing", missing},
              {"takes_notices", report.takes_notices}};
  if (report.locked) all["locked"] = *report.locked;
  return json::write(all);
}

Result<SessionReport> decode(std::string_view line) {
  if (line.size() > report_line_bytes_max) return Error{ErrorKind::too_large, "the report is too long"};
  const Json all = json::parse_or_null(line);
  if (!all.is_object()) return Error{ErrorKind::invalid, "the report is not a JSON object"};
  if (all["version"] != 1) return Error{ErrorKind::invalid, "this client takes reports of version 1 only"};
  SessionReport report;
  TRY_ASSIGN(report.session, text_of(all, "session", false));
  TRY_ASSIGN(report.display, text_of(all, "display", false));
  if (const Json* locked = all.find("locked")) {
    if (!locked->is_boolean()) return Error{ErrorKind::invalid, "the report's locked is not true or false"};
    report.locked = locked->boolean();
  }
  TRY(read_list(all, "inputs", report_inputs_max, report.inputs, input_of));
  TRY(read_list(all, "busy", report_busy_max, report.busy, busy_of));
  TRY(read_list(all, "missing", report_missing_max, report.missing, sentence_of));
  report.takes_notices = all["takes_notices"] == Json(true);
  return report;
}

}  // namespace gleaner::agent
