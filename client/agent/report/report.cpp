#include "client/agent/report/report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace gleaner::agent {
namespace {

using Json = nlohmann::json;
using Busy = SessionReport::Busy;

constexpr const char* full_screen = "full-screen";
constexpr const char* inhibitor = "inhibitor";

// Length of the well-formed UTF-8 sequence at the beginning of `text` (RFC 3629); 0 if there is none.
std::size_t sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return tail(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = first == 0xED && byte(1) > 0x9F;
    return tail(1) && tail(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && byte(1) < 0x90;
    const bool beyond = first == 0xF4 && byte(1) > 0x8F;
    return tail(1) && tail(2) && tail(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

// Escapes, and what reorders or hides what is around it.
bool is_control(std::string_view one) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(one[i]); };
  if (one.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7F;
  if (one.size() == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;
  if (one.size() == 3 && byte(0) == 0xE2)
    return (byte(1) == 0x80 && (byte(2) >= 0xA8 || (byte(2) >= 0x8B && byte(2) <= 0x8F))) ||
           (byte(1) == 0x81 && byte(2) >= 0xA0);
  return false;
}

Result<std::string> text_of(const Json& object, const char* key, bool needed) {
  const auto found = object.find(key);
  if (found == object.end() && !needed) return std::string();
  if (found == object.end() || !found->is_string())
    return Error{ErrorKind::invalid, std::string("the report's ") + key + " is not a text"};
  return printable(found->get_ref<const std::string&>());
}

Result<SessionReport::Input> input_of(const Json& object) {
  SessionReport::Input input;
  if (!object.is_object()) return Error{ErrorKind::invalid, "an input of the report is not an object"};
  TRY_ASSIGN(input.source, text_of(object, "source", true));
  const auto active = object.find("active");
  const auto idle = object.find("idle");
  if (active == object.end() || !active->is_boolean() || idle == object.end() || !idle->is_number())
    return Error{ErrorKind::invalid, "an input of the report does not say active and idle"};
  const double seconds = idle->get<double>();
  if (!(seconds >= 0) || seconds > to_seconds(report_idle_max))
    return Error{ErrorKind::invalid, "an idle time in the report is out of bounds"};
  input.active = active->get<bool>();
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

// A list of at most `count` things.
template <typename Item, typename Read>
Status read_list(const Json& report, const char* key, std::size_t count, std::vector<Item>& into, Read read) {
  const auto found = report.find(key);
  if (found == report.end()) return {};
  if (!found->is_array() || found->size() > count)
    return Error{ErrorKind::invalid, std::string("the report's ") + key + " are not a short list"};
  for (const Json& one : *found) {
    TRY_ASSIGN(Item item, read(one));
    into.push_back(std::move(item));
  }
  return {};
}

}  // namespace

std::string printable(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(1, sequence(text));
    const bool good = sequence(text) > 0 && !is_control(text.substr(0, length));
    const std::string_view one = good ? text.substr(0, length) : std::string_view("?");
    if (clean.size() + one.size() > report_text_max) break;
    clean += one;
    text.remove_prefix(length);
  }
  return clean;
}

std::string encode(const SessionReport& report) {
  Json inputs = Json::array();
  for (std::size_t i = 0; i < std::min(report.inputs.size(), report_inputs_max); ++i) {
    const auto& input = report.inputs[i];
    const Duration idle = std::clamp(input.idle, Duration{0}, report_idle_max);
    inputs.push_back({{"source", printable(input.source)},
                      {"active", input.active},
                      {"idle", input.active ? 0.0 : to_seconds(idle)},
                      {"how", input.asked ? "asked" : "event"}});
  }
  Json busy = Json::array();
  for (std::size_t i = 0; i < std::min(report.busy.size(), report_busy_max); ++i)
    busy.push_back({{"kind", report.busy[i].kind == Busy::Kind::full_screen ? full_screen : inhibitor},
                    {"what", printable(report.busy[i].what)}});
  Json all = {{"version", 1},
              {"session", printable(report.session)},
              {"display", printable(report.display)},
              {"inputs", inputs},
              {"busy", busy}};
  if (report.locked) all["locked"] = *report.locked;
  return all.dump();
}

Result<SessionReport> decode(std::string_view line) {
  if (line.size() > report_line_bytes_max) return Error{ErrorKind::too_large, "the report is too long"};
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return Error{ErrorKind::invalid, "the report is not a JSON object"};
  const auto version = json.find("version");
  if (version == json.end() || *version != 1)
    return Error{ErrorKind::invalid, "this client takes reports of version 1 only"};
  SessionReport report;
  TRY_ASSIGN(report.session, text_of(json, "session", false));
  TRY_ASSIGN(report.display, text_of(json, "display", false));
  if (const auto locked = json.find("locked"); locked != json.end()) {
    if (!locked->is_boolean()) return Error{ErrorKind::invalid, "the report's locked is not true or false"};
    report.locked = locked->get<bool>();
  }
  TRY(read_list(json, "inputs", report_inputs_max, report.inputs, input_of));
  TRY(read_list(json, "busy", report_busy_max, report.busy, busy_of));
  return report;
}

}  // namespace gleaner::agent
