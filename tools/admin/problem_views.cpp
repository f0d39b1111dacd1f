#include "tools/admin/problem_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "shared/base/limits.h"
#include "shared/protocol/text.h"
#include "tools/admin/figures.h"
#include "tools/admin/progress.h"

namespace gleaner::admin {
namespace {

std::string line_of(const std::string& prose) {
  return protocol::clean_line(prose, limits::message_length_max);
}

std::string id_text(std::int64_t id) {
  return id > 0 ? std::to_string(id) : "-";
}

// Interpreters put what was wrong at the end.
std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const auto line = text.find_last_of('\n');
  return line_of(line == std::string::npos ? text : text.substr(line + 1));
}

// Without the server's mark of such an entry, "set aside; last: ".
std::string why_quarantined(const std::string& message) {
  const auto last = message.find("last: ");
  return message == "set aside" ? "-"
                                : last_line(last == std::string::npos ? message : message.substr(last + 6));
}

std::string sentence_of(const protocol::ErrorGroup& error) {
  const std::string words = line_of(error.words.empty() ? last_line(error.message) : error.words);
  return words.empty() ? error.kind : words;
}

}  // namespace

std::string estimate_text(const protocol::ProblemEstimate& estimate, const Display& display) {
  const auto span = [](double seconds, double low, double high) {
    return seconds < 0 ? std::string("not known") : interval_text(seconds, low, high);
  };
  std::vector<std::pair<std::string, Cell>> fields{
      {"application", {estimate.application, Tint::bold}},
      {"items", count_text(estimate.items) + " in its first stage"},
      {"work", span(estimate.core_seconds, estimate.core_low_seconds, estimate.core_high_seconds) +
                   (estimate.core_seconds < 0 ? "" : " of core time")},
      {"done in", span(estimate.eta_seconds, estimate.eta_low_seconds, estimate.eta_high_seconds)}};
  if (!estimate.waits.empty())
    fields.emplace_back("because", protocol::clean_line(estimate.waits, limits::message_length_max));
  fields.emplace_back("computed by", counted(estimate.cores, "core") + " of " +
                                         counted(estimate.hosts, "host") + " online, its share " +
                                         percent_text(estimate.share, 1));
  fields.emplace_back("known from", counted(estimate.tried, "earlier problem") +
                                        (estimate.same_parameters ? " with the same parameters" : ""));
  return render_fields(fields, display);
}

std::string items_text(Range range) {
  if (range.empty()) return "-";
  if (range.size() == 1) return std::to_string(range.begin);
  return std::to_string(range.begin) + "-" + std::to_string(range.end - 1);
}

Table problem_table(const std::vector<protocol::ProblemInfo>& problems) {
  Table table({{"ID", Align::right},
               {"NAME"},
               {"APPLICATION"},
               {"STATE"},
               {"DONE", Align::right},
               {"ITEMS", Align::right},
               {"RATE", Align::right},
               {"TIME LEFT", Align::right},
               {"HOSTS", Align::right},
               {"CREATED"}});
  for (const auto& each : problems) {
    const bool over = ended(each.state);
    table.add({std::to_string(each.id.value),
               {each.name, Tint::bold},
               each.application,
               {protocol::name_of(each.state), tint_of(each.state)},
               percent_text(fraction_of(each), 1),
               count_text(each.items),
               over ? "-" : figure_text(each.rate),
               over                 ? "-"
               : each.waits.empty() ? time_left(each)
                                    : "waits",
               over ? "-" : std::to_string(each.hosts),
               time_text(each.created_at)});
  }
  return table;
}

Table share_table(const protocol::ProblemInfo& problem) {
  Table table({{"HOST"},
               {"REQUESTS", Align::right},
               {"UNITS", Align::right},
               {"ITEMS", Align::right},
               {"SHARE", Align::right},
               {"RATE", Align::right},
               {"BUSY", Align::right},
               {"SPLITS", Align::right},
               {"COPIES", Align::right},
               {"WASTED", Align::right},
               {"LAST CONTACT"}});
  for (const auto& share : problem.shares) {
    table.add({share.name, count_text(share.requests), count_text(share.units), count_text(share.items),
               percent_text(share.cost, problem.cost_accepted), figure_text(share.rate),
               duration_text(share.busy_seconds), count_text(share.splits), count_text(share.duplicates),
               share.cost + share.wasted_cost > 0
                   ? percent_text(share.wasted_cost, share.cost + share.wasted_cost)
                   : "0.0 %",
               ago_text(share.last_contact_seconds)});
  }
  return table;
}

Table host_unit_table(const std::vector<protocol::UnitInfo>& units) {
  Table table({{"UNIT", Align::right},
               {"PROBLEM"},
               {"STAGE", Align::right},
               {"SLOT", Align::right},
               {"ITEMS"},
               {"DELIVERED", Align::right},
               {"STATE"},
               {"KIND"},
               {"HANDED OUT"},
               {"ENDED"},
               {"COMPUTED", Align::right}});
  for (const auto& unit : units)
    table.add({std::to_string(unit.id.value), unit.problem_name, std::to_string(unit.stage + 1),
               std::to_string(unit.slot), items_text(unit.range), count_text(unit.delivered), unit.state,
               unit.kind, time_text(unit.issued), time_text(unit.closed),
               duration_text(unit.running_seconds)});
  return table;
}

Table decision_table(const std::vector<protocol::DecisionInfo>& decisions) {
  Table table({{"TIME"}, {"KIND"}, {"HOST", Align::right}, {"UNIT", Align::right}, {"ITEMS"}, {"REASON"}});
  for (const auto& each : decisions)
    table.add({time_text(each.at), each.kind, id_text(each.host.value), id_text(each.unit.value),
               items_text(each.range), line_of(each.reason)});
  return table;
}

Table unit_table(const protocol::ProblemInfo& problem, const std::vector<protocol::DecisionInfo>& decisions) {
  std::map<HostId, const protocol::HostShare*> hosts;
  for (const auto& share : problem.shares) hosts[share.host] = &share;
  Table table(
      {{"TIME"}, {"UNIT", Align::right}, {"HOST"}, {"RATE", Align::right}, {"ITEMS"}, {"WHY THIS SIZE"}});
  for (const auto& each : decisions) {
    const auto host = hosts.find(each.host);
    const bool known = host != hosts.end();
    table.add({time_text(each.at), id_text(each.unit.value),
               known ? host->second->name : id_text(each.host.value),
               known ? figure_text(host->second->rate) + "/s" : std::string("-"), items_text(each.range),
               (each.kind == "fresh" ? std::string() : each.kind + ": ") + line_of(each.reason)});
  }
  return table;
}

std::string error_text(const std::vector<protocol::ErrorGroup>& errors, ErrorDetail detail,
                       const Display& display) {
  if (detail == ErrorDetail::sentence) {
    Table table(
        {{"TIMES", Align::right}, {"HOSTS", Align::right}, {"PROBLEM"}, {"FIRST"}, {"LAST"}, {"ERROR"}});
    for (const auto& each : errors)
      table.add({count_text(each.times),
                 count_text(each.hosts),
                 each.problem_name,
                 time_text(each.first_at),
                 time_text(each.last_at),
                 {sentence_of(each), Tint::bad}});
    return table.render(display);
  }
  std::string text;
  for (const auto& each : errors) {
    text += tinted(sentence_of(each), Tint::bad, display) + "\n  " + each.kind + " in " + each.problem_name +
            " (" + each.application + "), " + counted(each.times, "time") + " on " +
            counted(each.hosts, "host") + ", first " + time_text(each.first_at) + ", last " +
            time_text(each.last_at) + "\n";
    for (const auto& host : each.by)
      text += "  " + counted(host.times, "time") + " on " +
              (host.name.empty() ? "host " + std::to_string(host.host.value) : host.name) + "\n";
    for (std::size_t begin = 0; begin < each.message.size();) {
      const std::size_t end = std::min(each.message.find('\n', begin), each.message.size());
      text += "  | " + line_of(each.message.substr(begin, end - begin)) + "\n";
      begin = end + 1;
    }
  }
  return text;
}

Table day_table(const std::vector<protocol::DayInfo>& days) {
  Table table({{"DAY"}, {"CORE-HOURS", Align::right}, {"KWH", Align::right}, {"ITEMS", Align::right}});
  for (const auto& day : days)
    table.add({to_rfc3339(day.at).substr(0, 10), core_hours_text(day.core_hours),
               day.kilowatt_hours > 0 ? figure_text(day.kilowatt_hours) : "-", count_text(day.items)});
  return table;
}

std::string problem_text(const protocol::ProblemInfo& problem, const Display& display) {
  const std::string stage =
      std::to_string(problem.stage + 1) + (problem.stage_name.empty() ? "" : " (" + problem.stage_name + ")");
  std::string text = render_fields(
      {{"problem", {std::to_string(problem.id.value) + " " + problem.name, Tint::bold}},
       {"application", problem.application},
       {"state", {protocol::name_of(problem.state), tint_of(problem.state)}},
       {"message", {line_of(problem.message), Tint::warning}},
       {"strategy", problem.strategy + ", stragglers: " + problem.straggler},
       {"weight, priority", figure_text(problem.weight) + ", " + std::to_string(problem.priority)},
       {"validation", problem.validation},
       {"stage", stage},
       {"items", count_text(problem.accepted) + " accepted, " + count_text(problem.handed_out) +
                     " handed out, " + count_text(problem.free) + " free, of " + count_text(problem.items)},
       {"done", percent_text(fraction_of(problem), 1) + ", " + figure_text(problem.rate) + "/s, " +
                    time_left_text(problem)},
       {"waits", {line_of(problem.waits), Tint::warning}},
       {"hosts", line_of(problem.needs)},
       {"units", count_text(problem.units) + " handed out, " + count_text(problem.open_units) + " open, " +
                     counted(problem.splits, "split") + ", " + count_text(problem.recovered) +
                     " recovered, " + counted(problem.duplicates, "duplicate")},
       {"wasted", wasted_text(problem)},
       {"disagreements",
        problem.disagreements > 0 ? Cell(count_text(problem.disagreements), Tint::warning) : Cell("none")},
       {"created", time_text(problem.created_at)},
       {"started", time_text(problem.started_at)},
       {"finished", time_text(problem.finished_at)},
       {"elapsed", duration_text(problem.elapsed_seconds)}},
      display);
  if (!problem.shares.empty()) text += "\n" + share_table(problem).render(display);
  if (const auto shown = std::ssize(problem.shares); problem.shares_total > shown)
    text += "these did most of " + counted(problem.shares_total, "host") + "\n";
  Table aside({{"QUARANTINED"}, {"WHY"}});
  for (const auto& each : problem.set_aside)
    if (!each.unit.valid())  // the others are failures
      aside.add({{"items " + items_text(each.range), Tint::bad}, why_quarantined(each.message)});
  if (!aside.empty()) text += "\n" + aside.render(display);
  if (!problem.errors.empty()) {
    text += "\n" + error_text(problem.errors, ErrorDetail::sentence, display);
    text +=
        "all that was said: gleaner-admin problem errors " + std::to_string(problem.id.value) + " --full\n";
  }
  if (!problem.results.empty()) {
    Table table({{"RESULT"}, {"SIZE", Align::right}, {"TYPE"}, {"DIGEST"}});
    for (const auto& each : problem.results)
      table.add({each.name, bytes_text(each.bytes), each.media_type, each.digest});
    text += "\n" + table.render(display);
  }
  return text;
}

}  // namespace gleaner::admin
