#include "server/policy/journal/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "server/policy/journal/log_fields.h"
#include "server/policy/journal/restorable.h"
#include "shared/json/text.h"

namespace gleaner::policy {
namespace {

constexpr int version = 3;
constexpr const char* no_object = "expected one JSON object on the line";
constexpr std::int64_t items_max = 1'000'000'000'000;
const char* const event_names[] = {"restore",   "request",     "report",       "commit",   "give_back",
                                   "host_left", "tick",        "dispute",      "resolve",  "reject",
                                   "enough",    "sizing",      "straggler",    "remember", "save",
                                   "expect",    "admit_relay", "relay_report", "bring",    "take_away"};
static_assert(std::size(event_names) == std::variant_size_v<StageEvent>);

using protocol::codec::JsonReader;
using protocol::codec::JsonWriter;

template <std::size_t I = 0>
StageEvent make_event(std::size_t index, JsonReader& reader) {
  if constexpr (I < std::variant_size_v<StageEvent>) {
    if (index != I) return make_event<I + 1>(index, reader);
    std::variant_alternative_t<I, StageEvent> event;
    visit(reader, event);
    return event;
  }
  return TickEvent{};
}

Error invalid(std::string message) {
  return {ErrorKind::invalid, std::move(message)};
}

std::string outside(Range range, std::int64_t items) {
  if (range.end <= items) return {};
  return fmt::format("range: expected [begin, end] within the stage's {} items, got [{},{}]", items,
                     range.begin, range.end);
}

// What the stage itself takes for granted of its caller: empty, or what is wrong.
struct Impossible {
  std::int64_t items;

  std::string operator()(const RequestEvent& event) const {
    const Requester& requester = event.requester;
    if (!requester.host.valid() || !requester.unit.valid())
      return "host and unit: expected numbers from 1 on";
    if (requester.slots < 1 || requester.slots > slots_max) return "slots: expected 1 to 100000";
    if (requester.relay && !possible(requester.relay->rate, requester.relay->slots)) return not_an_offer;
    return requester.planned ? outside(*requester.planned, items) : "";
  }
  std::string operator()(const GiveBackEvent& event) const { return beyond(event.item); }
  std::string operator()(const SaveEvent& event) const { return beyond(event.item); }
  std::string operator()(const RestoreEvent& event) const { return impossible(event, items); }
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

std::string setup_line(const StageSetup& setup) {
  JsonWriter writer;
  const LogFields log(writer);
  const std::string straggler = name_of(setup.straggler);
  writer.open();
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
  writer.close();
  return writer.take();
}

Result<StageSetup> read_setup_line(std::string_view line) {
  return read_setup(json::parse_or_null(line));
}

Result<StageSetup> read_setup(const json::Value& object) {
  if (!object.is_object()) return invalid(no_object);
  const json::Value& theirs = object["gleaner_stage_log"];
  if (theirs == json::Value(1) || theirs == json::Value(2))
    return invalid(
        "gleaner_stage_log: this log is of an older version, whose rules decided differently: replay it with "
        "the gleaner-sim of that time");
  if (theirs != json::Value(version))
    return invalid(fmt::format("gleaner_stage_log: expected {}: is this a stage's log?", version));
  StageSetup setup;
  std::string straggler;
  JsonReader reader(object);
  const LogFields log(reader);
  log("items", setup.items);
  log.added("costs", setup.costs);
  log("strategy", setup.sizing);
  log("straggler", straggler);
  log.added("commit_seconds", setup.commit_seconds);
  log("may_split", setup.may_split);
  log("rules", setup.rules);
  log("benchmark_worth", setup.benchmark_worth);
  log.added("elsewhere", setup.elsewhere);
  if (reader.failed()) return invalid(reader.failure());
  if (setup.items < 1 || setup.items > items_max) return invalid("items: expected a whole number from 1 on");
  if (!setup.costs.empty() && static_cast<std::int64_t>(setup.costs.size()) != setup.items)
    return invalid(fmt::format("costs: expected {}, one an item, got {}", setup.items, setup.costs.size()));
  for (const double cost : setup.costs) {
    if (!std::isfinite(cost) || cost <= 0) return invalid("costs: expected numbers above 0");
  }
  const auto sizing = make_sizing(setup.sizing);
  if (!sizing.ok()) return invalid("strategy: " + sizing.error().message);
  const auto rule = straggler_from(straggler);
  if (!rule.ok()) return invalid("straggler: " + rule.error().message);
  setup.straggler = *rule;
  return setup;
}

std::string entry_line(const JournalEntry& entry) {
  JsonWriter writer;
  const LogFields log(writer);
  const std::string name = event_names[entry.event.index()];
  writer.open();
  log("at", entry.at);
  log("event", name);
  std::visit([&](const auto& event) { visit(writer, event); }, entry.event);
  if (!entry.answer.answer.empty()) log("answer", entry.answer.answer);
  if (!entry.answer.decisions.empty()) log("decisions", entry.answer.decisions);
  writer.close();
  return writer.take();
}

std::size_t restore_bytes_least(std::size_t units, std::size_t hosts) {
  constexpr std::size_t unit_bytes = 350, host_bytes = 550;  // the fields' names alone take as much
  return units * unit_bytes + hosts * host_bytes;
}

Result<JournalEntry> read_entry_line(std::string_view line, std::int64_t items) {
  return read_entry(json::parse_or_null(line), items);
}

Result<JournalEntry> read_entry(const json::Value& object, std::int64_t items) {
  if (!object.is_object()) return invalid(no_object);
  JournalEntry entry;
  std::string name;
  JsonReader reader(object);
  const LogFields log(reader);
  log("at", entry.at);
  log("event", name);
  if (reader.failed()) return invalid(reader.failure());
  const auto* const found = std::find(std::begin(event_names), std::end(event_names), name);
  if (found == std::end(event_names)) {
    return invalid(fmt::format("event: expected one of {}, got \"{}\"", fmt::join(event_names, ", "), name));
  }
  entry.event = make_event(static_cast<std::size_t>(found - std::begin(event_names)), reader);
  log.added("answer", entry.answer.answer);
  log.added("decisions", entry.answer.decisions);
  if (reader.failed()) return invalid(reader.failure());
  const std::string mistake = std::visit(Impossible{items}, entry.event);
  if (!mistake.empty()) return invalid(mistake);
  return entry;
}

}  // namespace gleaner::policy
