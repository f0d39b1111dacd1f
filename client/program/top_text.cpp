#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "client/program/top_program.h"
#include "shared/base/figures.h"

namespace gleaner::program {
namespace {

using Json = json::Value;

constexpr int bar_columns = 24;
constexpr int lines_around = 9;  // besides those of the cores

// Cut between characters; escape sequences are added later.
std::string cut(std::string line, int columns) {
  int width = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if ((static_cast<unsigned char>(line[at]) & 0xc0U) == 0x80) continue;
    if (++width > columns) return line.substr(0, at);
  }
  return line;
}

std::string bar(double part) {
  const int full = static_cast<int>(std::clamp(part, 0.0, 1.0) * bar_columns + 0.5);
  return std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(bar_columns - full), '.');
}

std::string core_line(const Json& slot, bool several) {
  const double begin = number_of(slot, "begin");
  const double size = number_of(slot, "end") - begin;
  const double part = size > 0 ? (number_of(slot, "finished") - begin) / size : 0;
  std::string line = fmt::format("{:>5.0f}  {:<9} [{}] {:>3.0f} %", number_of(slot, "slot") + 1,
                                 text_of(slot, "state"), bar(part), 100 * part);
  if (number_of(slot, "rate") > 0) line += fmt::format("  {:8.3g}/s", number_of(slot, "rate"));
  if (number_of(slot, "unit") > 0)
    line += fmt::format("  {} {:.0f}-{:.0f}", problem_of(slot, several), begin, number_of(slot, "end") - 1);
  return line;
}

// "A 75 %, B 25 %": what each had of late.
std::string projects_line(const Json& projects) {
  std::string line;
  for (const Json& project : projects.elements())
    line += fmt::format("{}{} {:.0f} %{}", line.empty() ? "" : ", ", text_of(project, "name"),
                        100 * number_of(project, "recent_part"),
                        is_set(project, "suspended") ? " (suspended)" : "");
  return line;
}

}  // namespace

std::string top_text(const Json& reply, TopSize size, Colour colour) {
  const Json& status = reply["status"];
  std::string out;
  int lines = 0;
  const auto add = [&](const std::string& line, const char* code = "") {
    if (++lines > size.lines) return;
    const std::string shown = cut(line, size.columns);
    const bool painted = colour == Colour::yes && *code != '\0';
    out += (lines > 1 ? "\n" : "") + (painted ? fmt::format("\033[{}m{}\033[0m", code, shown) : shown);
  };
  add(text_of(status, "reason"), "1");
  add("");
  const bool several = has_several_projects(status);
  add(text_of(status, "host_name") + " for " +
      (several ? projects_line(status["projects"])
               : fmt::format("{} ({})", text_of(status, "project_name"), text_of(status, "server"))));
  add(given_text(status) + fmt::format("; waiting for an answer {}; rejected {}",
                                       count_text(std::llround(number_of(status, "outbox"))),
                                       count_text(std::llround(number_of(status, "commits_refused")))));
  const double contact = number_of(status, "last_contact_seconds");
  add(contact < 0 ? std::string("no contact with a server since the client started")
                  : fmt::format("last contact {:.0f} s ago{}", contact,
                                text_of(status, "trouble").empty() ? "" : ": " + text_of(status, "trouble")));
  add("");
  add(fmt::format("{:>5}  {:<9} {:<26} {:>5}  {:>10}  {}", "core", "state", "unit", "", "rate", "problem"),
      "7");
  if (const Json& slots = status["slots"]; slots.is_array()) {
    const int room = std::max(1, size.lines - lines_around);
    int shown = 0;
    for (const Json& slot : slots.elements()) {
      if (!slot.is_object()) continue;
      if (++shown > room) continue;
      add(core_line(slot, several), text_of(slot, "state") == "running"  ? "32"
                                    : text_of(slot, "state") == "paused" ? "33"
                                                                         : "2");
    }
    if (shown > room) add(fmt::format("       and {} more cores", shown - room));
  }
  add("");
  add("p pause for an hour   r resume   f finish   q close this view", "2");
  return out;
}

}  // namespace gleaner::program
