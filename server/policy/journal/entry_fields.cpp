#include "server/policy/journal/entry_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "server/policy/journal/log_fields.h"
#include "server/policy/journal/restorable.h"

namespace gleaner::policy {
namespace {

constexpr int version = 3;
constexpr std::int64_t items_max = 1'000'000'000'000;
const char* const event_names[] = {"report",       "commit",   "give_back", "host_left", "tick",
                                   "dispute",      "resolve",  "reject",    "enough",    "sizing",
                                   "straggler",    "remember", "save",      "expect",    "admit_relay",
                                   "relay_report", "bring",    "take_away"};
static_assert(std::size(event_names) == std::variant_size_v<StageEvent>);

using protocol::codec::JsonReader;
using protocol::codec::JsonWriter;

std::string outside(Range range, std::int64_t items) {
  if (range.end <= items) return {};
  return fmt::format("range: expected [begin, end] within the stage's {} items, got [{},{}]", items,
                     range.begin, range.end);
}

// What the stage itself takes for granted of its caller: empty, or what is wrong.
struct Impossible {
  std::int64_t items;

  std::string operator()(const GiveBackEvent& event) const { return beyond(event.item); }
  std::string operator()(const SaveEvent& event) const { return beyond(event.item); }
  std::string operator()(const RememberEvent& event) const { return impossible(event, items); }
  std::string operator()(const ExpectEvent& event) const {
    for (const IdleHost& host : event.hosts) {
      if (!host.host.valid() || host.slots < 1 || host.slots > slots_max)
        return "hosts: expected numbers from 1 on, with 1 to 100000 slots";
    }
    return {};
  }
  std::string operator()(const DisputeEvent& event) const {
    if (event.hosts.empty()) return "hosts: expected one or more";
    return outside(event.range, items);
  }
  std::string operator()(const AdmitRelayEvent& event) const {
    return event.host.valid() ? "" : "host: expected a number from 1 on";
  }
  std::string operator()(const RelayReportEvent& event) const {
    return possible(event.report.rate, event.report.slots) ? "" : not_an_offer;
  }
  std::string operator()(const BringEvent& event) const { return outside(event.range, items); }
  std::string operator()(const TakeAwayEvent& event) const { return outside(event.range, items); }
  std::string operator()(const CommitEvent& event) const { return outside(event.range, items); }
  std::string operator()(const ResolveEvent& event) const { return outside(event.range, items); }
  std::string operator()(const RejectEvent& event) const { return outside(event.range, items); }
  template <typename Other>
  std::string operator()(const Other&) const {
    return {};
  }

 private:
  static constexpr int slots_max = 100'000;
  static constexpr const char* not_an_offer = "rate and slots: expected 0 or more, and 1 to 100000000";
  [[nodiscard]] static bool possible(double rate, int slots) {
    return rate >= 0 && slots >= 1 && slots <= 100'000'000;
  }
  [[nodiscard]] std::string beyond(std::int64_t item) const {
    return item < items ? "" : "item: expected one of the stage's";
  }
};

}  // namespace

void visit(JsonWriter& writer, const StageSetup& setup) {
  const LogFields log(writer);
  const std::string straggler = name_of(setup.straggler);
  log("gleaner_stage_log", version);
  log("items", setup.items);
  if (!setup.costs.empty()) log("costs", setup.costs);
  log("strategy", setup.sizing);
  log("straggler", straggler);
  log("commit_seconds", setup.commit_seconds);
  log("may_split", setup.may_split);
  log("rules", setup.rules);
  log("benchmark_worth", setup.benchmark_worth);
  if (setup.elsewhere) log("elsewhere", setup.elsewhere);
}

void visit(JsonReader& reader, StageSetup& setup) {
  const LogFields log(reader);
  int theirs = 0;
  std::string straggler;
  log("gleaner_stage_log", theirs);
  reader.require(theirs == version,
                 fmt::format("expected gleaner_stage_log {}, got {}: rules of another version decided "
                             "otherwise; replay the log with the gleaner-sim of its time",
                             version, theirs)
                     .c_str());
  log("items", setup.items);
  log.added("costs", setup.costs);
  log("strategy", setup.sizing);
  log("straggler", straggler);
  log.added("commit_seconds", setup.commit_seconds);
  log("may_split", setup.may_split);
  log("rules", setup.rules);
  log("benchmark_worth", setup.benchmark_worth);
  log.added("elsewhere", setup.elsewhere);
  if (reader.failed()) return;
  const auto rule = straggler_from(straggler);
  if (rule.ok())
    setup.straggler = *rule;
  else
    reader.require(false, rule.error().message.c_str());
}

void visit(JsonWriter& writer, const JournalEntry& entry) {
  const LogFields log(writer);
  const std::string name = event_names[entry.event.index()];
  log("at", entry.at);
  log("event", name);
  std::visit([&](const auto& event) { visit(writer, event); }, entry.event);
  if (!entry.answer.answer.empty()) log("answer", entry.answer.answer);
  if (!entry.answer.decisions.empty()) log("decisions", entry.answer.decisions);
}

void visit(JsonReader& reader, JournalEntry& entry) {
  const LogFields log(reader);
  std::string name;
  log("at", entry.at);
  log("event", name);
  if (reader.failed()) return;
  const auto* const found = std::find(std::begin(event_names), std::end(event_names), name);
  if (found == std::end(event_names))
    return reader.require(
        false, fmt::format("expected one of {}, got \"{}\"", fmt::join(event_names, ", "), name).c_str());
  entry.event =
      read_alternative<StageEvent>(static_cast<std::size_t>(found - std::begin(event_names)), reader);
  log.added("answer", entry.answer.answer);
  log.added("decisions", entry.answer.decisions);
}

std::size_t restore_bytes_least(std::size_t units, std::size_t hosts) {
  constexpr std::size_t unit_bytes = 350, host_bytes = 550;  // the fields' names alone take as much
  return units * unit_bytes + hosts * host_bytes;
}

std::string impossible(const StageSetup& setup) {
  if (setup.items < 1 || setup.items > items_max) return "items: expected a whole number from 1 on";
  if (!setup.costs.empty() && static_cast<std::int64_t>(setup.costs.size()) != setup.items)
    return fmt::format("costs: expected {}, one an item, got {}", setup.items, setup.costs.size());
  for (const double cost : setup.costs)
    if (!std::isfinite(cost) || cost <= 0) return "costs: expected numbers above 0";
  const auto sizing = make_sizing(setup.sizing);
  return sizing.ok() ? "" : "strategy: " + sizing.error().message;
}

std::string impossible(const StageEvent& event, std::int64_t items) {
  return std::visit(Impossible{items}, event);
}

}  // namespace gleaner::policy
