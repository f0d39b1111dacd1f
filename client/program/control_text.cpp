#include "client/program/control_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iterator>

#include "client/view/given.h"
#include "shared/base/clean_text.h"
#include "shared/base/figures.h"

namespace gleaner::program {
namespace {

using Json = json::Value;

std::int64_t whole_of(const Json& object, const char* name) {
  return std::llround(number_of(object, name));
}

std::string painted(const std::string& word, const char* code, Colour colour) {
  return colour == Colour::yes ? fmt::format("\033[{}m{}\033[0m", code, word) : word;
}

const char* code_of(const std::string& state) {
  if (state == "running") return "32";
  if (state == "paused") return "33";
  return "2";
}

std::string slot_line(const Json& slot, bool several, Colour colour) {
  const std::string state = text_of(slot, "state");
  const std::string head = fmt::format("  core {:<3.0f} {}", number_of(slot, "slot") + 1,
                                       painted(fmt::format("{:<10}", state), code_of(state), colour));
  if (number_of(slot, "unit") == 0) return head + "\n";
  const double begin = number_of(slot, "begin");
  const double size = number_of(slot, "end") - begin;
  const double part = size > 0 ? (number_of(slot, "finished") - begin) / size : 1;
  std::string line =
      fmt::format("{} {}: unit {:.0f}, items {:.0f}-{:.0f}, {}", head, problem_of(slot, several),
                  number_of(slot, "unit"), begin, number_of(slot, "end") - 1, percent_text(part, 1));
  if (state == "running") line += ", " + figure_text(number_of(slot, "rate")) + "/s";
  if (state == "running" && number_of(slot, "remaining_seconds") >= 0)
    line += ", " + duration_text(number_of(slot, "remaining_seconds")) + " left";
  if (!text_of(slot, "reason").empty()) line += " (" + text_of(slot, "reason") + ")";
  return line + "\n";
}

std::string contact_text(double ago) {
  return ago < 0 ? "no contact since the client started" : "last contact " + duration_text(ago) + " ago";
}

std::string problem_line(const Json& problem) {
  if (const Json& in_hand = problem["in_hand"]; in_hand.is_boolean() && !in_hand.boolean())
    return fmt::format("  last      {}: was {} done when this computer finished its part\n",
                       text_of(problem, "name"), percent_text(number_of(problem, "done"), 1));
  return fmt::format("  together  {}: {} done, {} in this stage, by {}\n", text_of(problem, "name"),
                     percent_text(number_of(problem, "done"), 1), counted(whole_of(problem, "items"), "item"),
                     counted(whole_of(problem, "hosts"), "computer"));
}

// With several projects a line each, else the one that is told of anyway.
std::string projects_lines(const Json& status) {
  if (!has_several_projects(status))
    return fmt::format("  project   {} at {}\n", text_of(status, "project_name"), text_of(status, "server"));
  std::string out;
  for (const Json& project : status["projects"].elements())
    out += fmt::format("  project   {} at {}: host {:.0f}, share {:g}, {:.0f} % recently, {}; {}\n",
                       text_of(project, "name"), text_of(project, "server"), number_of(project, "host"),
                       number_of(project, "share"), 100 * number_of(project, "recent_part"),
                       contact_text(number_of(project, "last_contact_seconds")), text_of(project, "state"));
  return out;
}

// As the console has it: two cores at 20 % are 0.4.
std::string cores_at(double cores, double share) {
  const std::string text = figure_text(cores * share);
  return text + (text == "1" ? " core" : " cores");
}

// Of a computer that the client may use only in part: "0.3 of 2 cores". With what a level leaves now.
std::string cores_text(const Json& status) {
  const double cores = number_of(status, "cores"), cores_now = number_of(status, "cores_now");
  const double share = number_of(status, "cpu_share"), share_now = number_of(status, "cpu_share_now");
  const double all = number_of(status, "computer_cores");
  const std::string most =
      all > 0 ? fmt::format("{} of {:.0f} cores", figure_text(cores * share), all) : cores_at(cores, share);
  if (cores_now == 0 || (cores_now == cores && share_now == share)) return most;
  return most + ", now " + cores_at(cores_now, share_now);
}

// How this computer is known: to several projects under a number each, which stand with them.
std::string computer_line(const Json& status) {
  const std::string name = text_of(status, "host_name");
  return has_several_projects(status)
             ? "  computer  " + name
             : fmt::format("  host      {:.0f} ({})", number_of(status, "host"), name);
}

std::string status_text(const Json& status, Colour colour) {
  std::string out = painted(text_of(status, "reason"), "1", colour) + "\n";
  out += projects_lines(status);
  out += computer_line(status) + fmt::format(", {}, {} Mflop/s a core\n", cores_text(status),
                                             count_text(whole_of(status, "benchmark_mflops")));
  out += fmt::format("  accepted  {} so far, {} of them today\n",
                     counted(whole_of(status, "items_total"), "item"),
                     count_text(whole_of(status, "items_today")));
  out += fmt::format("  results   {} accepted, {}, {} rejected since the client started\n",
                     count_text(whole_of(status, "commits_accepted")),
                     counted(whole_of(status, "commits_duplicate"), "duplicate"),
                     count_text(whole_of(status, "commits_refused")));
  if (const std::string why = text_of(status, "last_refusal"); !why.empty())
    out += fmt::format("  rejected  the last one because: {}\n", why);
  out += "  so far    " + given_text(status) + "\n";
  out += fmt::format("  waiting   {} for the server's answer; {}\n",
                     counted(whole_of(status, "outbox"), "result"),
                     contact_text(number_of(status, "last_contact_seconds")));
  for (const Json& project : status["projects"].elements())
    if (const std::string place = text_of(project, "place"); !place.empty())
      out += fmt::format("  place     {}\n", place);
  for (const Json& problem : status["problems"].elements()) out += problem_line(problem);
  for (const Json& slot : status["slots"].elements())
    out += slot_line(slot, has_several_projects(status), colour);
  return out;
}

std::string why_text(const Json& status) {
  std::string out = text_of(status, "reason") + "\n";
  for (const Json& detail : status["details"].elements())
    if (detail.is_string()) out += "  " + clean_line(detail.string()) + "\n";
  return out;
}

}  // namespace

std::string given_text(const Json& status) {
  const auto seconds = [&](const char* name) { return static_cast<std::int64_t>(number_of(status, name)); };
  return view::text_of(
      view::Given{seconds("core_seconds_today"), seconds("core_seconds_week"), seconds("core_seconds_year")});
}

std::string text_of(const Json& object, const char* name) {
  const Json& text = object[name];
  return text.is_string() ? clean_line(text.string()) : "";
}

double number_of(const Json& object, const char* name) {
  const Json& number = object[name];
  return number.is_number() ? number.number() : 0;
}

bool is_set(const Json& object, const char* name) {
  const Json& flag = object[name];
  return flag.is_boolean() && flag.boolean();
}

bool has_several_projects(const Json& status) {
  return status["projects"].elements().size() > 1;
}

std::string problem_of(const Json& slot, bool several) {
  const std::string project = text_of(slot, "project");
  return text_of(slot, "problem") + (several && !project.empty() ? " (" + project + ")" : "");
}

std::string reply_text(const std::string& command, const Json& reply, Colour colour) {
  if (const Json& status = reply["status"]; status.is_object())
    return command == "why" ? why_text(status) : status_text(status, colour);
  if (const Json& log = reply["log"]; command == "log" && log.is_array()) {
    std::string out;
    for (const Json& line : log.elements())
      if (line.is_string()) out += clean_line(line.string()) + "\n";
    return out;
  }
  return text_of(reply, "message") + "\n";
}

std::optional<double> seconds_until(const std::string& text, Timestamp now) {
  constexpr const char* days[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
  constexpr double longest = 366.0 * 24 * 3600;
  const std::time_t begin = std::chrono::system_clock::to_time_t(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(now));
  std::tm local{};
  if (::localtime_r(&begin, &local) == nullptr) return std::nullopt;
  const std::tm today = local;
  local.tm_sec = 0;
  local.tm_isdst = -1;  // as the zone says for that day
  std::string time = text;
  int step = 1;  // days from one such time to the next; 0: there is only one
  int year = 0, month = 0, day_of_month = 0, read = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2d %n", &year, &month, &day_of_month, &read) == 3 && read > 0) {
    local.tm_year = year - 1900;
    local.tm_mon = month - 1;
    local.tm_mday = day_of_month;
    step = 0;
    time = text.substr(static_cast<std::size_t>(read));
  } else if (text.size() > 4 && text[3] == ' ') {
    const auto* const day = std::find(std::begin(days), std::end(days), text.substr(0, 3));
    if (day == std::end(days)) return std::nullopt;
    local.tm_mday += (static_cast<int>(day - days) - today.tm_wday + 7) % 7;
    step = 7;
    time = text.substr(4);
  }
  int end = 0;
  if (std::sscanf(time.c_str(), "%2d:%2d%n", &local.tm_hour, &local.tm_min, &end) != 2 ||
      static_cast<std::size_t>(end) != time.size() || local.tm_hour < 0 || local.tm_hour > 23 ||
      local.tm_min < 0 || local.tm_min > 59)
    return std::nullopt;
  std::tm wanted = local;
  std::time_t then = std::mktime(&wanted);
  if (then <= begin && step > 0) {
    wanted = local;
    wanted.tm_mday += step;
    then = std::mktime(&wanted);
  }
  if (step == 0 && wanted.tm_mday != day_of_month) return std::nullopt;  // there is no such day
  if (then == -1 || then <= begin || static_cast<double>(then - begin) > longest) return std::nullopt;
  return static_cast<double>(then - begin);
}

std::optional<double> parse_duration(const std::string& text) {
  constexpr double year = 366.0 * 24 * 3600;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  if (end == text.c_str()) return std::nullopt;
  double seconds = 0;
  if (unit == "s") seconds = value;
  if (unit.empty() || unit == "m" || unit == "min") seconds = value * 60;
  if (unit == "h") seconds = value * 3600;
  if (unit == "d") seconds = value * 86400;
  if (!(seconds >= 1) || seconds > year) return std::nullopt;
  return seconds;
}

}  // namespace gleaner::program
