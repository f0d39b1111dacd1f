// The fields of the values in a log, by name, for the writer and the reader alike: those of the wire's
// messages (shared/protocol/json_reader.h), in the form that logs have. A field that is added to one of these
// types has to be added here, or replays part from the log where it matters (log_test.cpp watches the
// sizes). Internal to this module and dispatch.
#pragma once

#include <limits>
#include <variant>

#include "server/policy/journal/entry.h"
#include "shared/protocol/json_reader.h"
#include "shared/protocol/json_writer.h"

namespace gleaner::policy {

inline constexpr std::int64_t log_whole_max = 1'000'000'000'000'000;
inline constexpr int log_count_max = 1'000'000'000;

// Reads the alternative of that number. REQUIRES: there is one.
template <typename Variant, std::size_t I = 0, typename Reader>
Variant read_alternative(std::size_t index, Reader& reader) {
  if constexpr (I + 1 < std::variant_size_v<Variant>)
    if (index != I) return read_alternative<Variant, I + 1>(index, reader);
  std::variant_alternative_t<I, Variant> value;
  visit(reader, value);
  return value;
}

// How a log has a value of the type.
template <typename T>
constexpr auto log_kind() {
  namespace codec = protocol::codec;
  if constexpr (codec::is_list<T>)
    return codec::List{std::numeric_limits<std::size_t>::max(), log_kind<typename T::value_type>()};
  else if constexpr (std::is_same_v<T, Timestamp>)  // simulations may begin before 1970
    return codec::Whole{-10 * log_whole_max, 10 * log_whole_max};
  else if constexpr (std::is_same_v<T, Range>)
    return codec::Row{};
  else if constexpr (std::is_enum_v<T>)
    return codec::Numbered{};
  else if constexpr (std::is_same_v<T, double>)
    return codec::Real{};
  else if constexpr (std::is_same_v<T, std::string>)
    return codec::Document{std::numeric_limits<std::size_t>::max()};
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return codec::Whole{0, log_whole_max};
  else if constexpr (std::is_same_v<T, int>)
    return codec::Whole{0, log_count_max};
  else
    return codec::Plain{};
}

template <typename Archive>
class LogFields {
 public:
  explicit LogFields(Archive& archive) : archive_(archive) {}

  template <typename T>
  void operator()(const char* name, T& value) const {
    archive_(name, value, log_kind<std::remove_const_t<T>>());
  }
  // What logs from before there was such a field lack: it keeps its default.
  template <typename T>
  void added(const char* name, T& value) const {
    archive_.defaulted(name, value, log_kind<std::remove_const_t<T>>());
  }
  // Absent if it is empty.
  template <typename T>
  void maybe(const char* name, T& value) const {
    archive_(name, value, log_kind<typename std::remove_const_t<T>::value_type>());
  }
  // A list of lists: of each element's fields, without their names.
  template <typename T>
  void rows(const char* name, T& values) const {
    archive_(name, values,
             protocol::codec::List{std::numeric_limits<std::size_t>::max(), protocol::codec::Row{}});
  }

 private:
  Archive& archive_;
};

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, EndgameRules>& rules) {
  const LogFields log(archive);
  log("rate_memory", rules.rate_memory);
  log("guided_fraction", rules.guided_fraction);
  log("unit_minimum", rules.unit_minimum);
  log("unit_maximum", rules.unit_maximum);
  log("fit", rules.fit);
  log("heartbeat", rules.heartbeat);
  log("heartbeat_endgame", rules.heartbeat_endgame);
  log("park", rules.park);
  log("heartbeat_late", rules.heartbeat_late);
  log("lease", rules.lease);
  log("request_delay", rules.request_delay);
  log("gain_minimum", rules.gain_minimum);
  log("holders_max", rules.holders_max);
  log("copy_budget", rules.copy_budget);
  log("lease_factor", rules.lease_factor);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, Unit>& unit) {
  const LogFields log(archive);
  log("id", unit.id);
  log("group", unit.group);
  log("host", unit.host);
  log("slot", unit.slot);
  log("kind", unit.kind);
  log("state", unit.state);
  log("range", unit.range);
  log("committed", unit.committed);
  log("finished", unit.finished);
  log("run_state", unit.run_state);
  log("pause_reason", unit.pause_reason);
  log("rate_minute", unit.rate_minute);
  log("item_seconds", unit.item_seconds);
  log("running_seconds", unit.running_seconds);
  log("issued", unit.issued);
  log("last_contact", unit.last_contact);
  log("deadline", unit.deadline);
  log("closed", unit.closed);
  log("cut_unheard", unit.cut_unheard);
  log("reason", unit.reason);
  log("handed_end", unit.handed_end);
  log.added("begun_share", unit.begun_share);
  log.added("begun_by", unit.begun_by);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, HostRecord>& record) {
  const LogFields log(archive);
  log("host", record.host);
  log("performance", record.performance);
  log("queue_unloaded", record.queue_unloaded);
  log("queue_current", record.queue_current);
  log("proposed_items", record.proposed_items);
  log("slots", record.slots);
  log("rate", record.rate);
  log("measured_seconds", record.measured_seconds);
  log("interruptions", record.interruptions);
  log("on_seconds", record.on_seconds);
  log("used_performance", record.used_performance);
  log("current_size", record.current_size);
  log("requests", record.requests);
  log("returned", record.returned);
  log("omitted", record.omitted);
  log("last_contact", record.last_contact);
  log("units", record.units);
  log("items_accepted", record.items_accepted);
  log("cost_accepted", record.cost_accepted);
  log("cost_wasted", record.cost_wasted);
  log("busy_seconds", record.busy_seconds);
  log("cuts", record.cuts);
  log("copies", record.copies);
  log("timed_units", record.times.units);
  log("weighted_items", record.times.weighted_items);
  log("weighted_seconds", record.times.weighted_seconds);
  log("weighted_elapsed", record.times.weighted_elapsed);
  log("timed_pieces", record.times.pieces);
  log("timed_items", record.times.items);
  log("timed_seconds", record.times.seconds);
  log("timed_squares", record.times.squares);
  log("memory_units", record.memory.units);
  log("memory_base", record.memory.base);
  log("memory_left", record.memory.left);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, RestoreEvent>& event) {
  const LogFields log(archive);
  log("accepted", event.accepted);
  log("units", event.units);
  log("hosts", event.hosts);
  log("set_aside", event.set_aside);
  log.added("undecided", event.undecided);
  log.added("leased", event.leased);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, RelayOffer>& offer) {
  const LogFields log(archive);
  log("rate", offer.rate);
  log("slots", offer.slots);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, ReportEvent>& event) {
  const LogFields log(archive);
  log("host", event.host);
  log("unit", event.report.unit);
  log("finished", event.report.finished);
  log("state", event.report.state);
  log("reason", event.report.reason);
  log("rate", event.report.rate);
  log("item_seconds", event.report.item_seconds);
  log.added("item_share", event.report.item_share);
  log("running_seconds", event.report.running_seconds);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, RelayReportEvent>& event) {
  const LogFields log(archive);
  log("host", event.host);
  log("unit", event.report.unit);
  log("begun", event.report.begun);
  log("seconds_left", event.report.seconds_left);
  log("rate", event.report.rate);
  log("slots", event.report.slots);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, AdmitRelayEvent>& event) {
  const LogFields log(archive);
  log("host", event.host);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, BringEvent>& event) {
  const LogFields log(archive);
  log("range", event.range);
  log("seconds", event.seconds);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, TakeAwayEvent>& event) {
  const LogFields log(archive);
  log("range", event.range);
  log("reason", event.reason);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, CommitEvent>& event) {
  const LogFields log(archive);
  log("host", event.host);
  log("unit", event.unit);
  log("range", event.range);
  log("last", event.last);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, GiveBackEvent>& event) {
  const LogFields log(archive);
  log("host", event.host);
  log("unit", event.unit);
  bool failed = event.why != GiveBack::returned;
  bool set_aside = event.why == GiveBack::set_aside;
  log("failed", failed);
  log.added("set_aside", set_aside);
  if constexpr (!Archive::writes)
    event.why = set_aside ? GiveBack::set_aside : failed ? GiveBack::failed : GiveBack::returned;
  log("item", event.item);
  log("reason", event.reason);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, HostLeftEvent>& event) {
  const LogFields log(archive);
  log("host", event.host);
  log("reason", event.reason);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, DisputeEvent>& event) {
  const LogFields log(archive);
  log("range", event.range);
  log("hosts", event.hosts);
  std::optional<std::vector<HostId>> barred;
  if (!event.unasked.hosts.empty()) barred = event.unasked.hosts;
  log.maybe("barred", barred);
  if constexpr (!Archive::writes)
    if (barred) event.unasked.hosts = std::move(*barred);
  log.added("strangers_until", event.unasked.strangers_until);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, ResolveEvent>& event) {
  const LogFields log(archive);
  log("range", event.range);
  log("decided", event.decided);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, RejectEvent>& event) {
  const LogFields log(archive);
  log("range", event.range);
  log("reason", event.reason);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, SizingEvent>& event) {
  const LogFields log(archive);
  log("strategy", event.strategy);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, StragglerEvent>& event) {
  const LogFields log(archive);
  log("rule", event.rule);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, SaveEvent>& event) {
  const LogFields log(archive);
  log("host", event.host);
  log("unit", event.unit);
  log("item", event.item);
  log("share", event.share);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, IdleHost>& host) {
  const LogFields log(archive);
  log("host", host.host);
  log("slots", host.slots);
  log("performance", host.performance);
  log("watts", host.watts);
  log("asks_at", host.asks_at);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, ExpectEvent>& event) {
  const LogFields log(archive);
  log("hosts", event.hosts);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, RememberEvent>& event) {
  const LogFields log(archive);
  log("remembered", event.unit);
}

template <typename Archive>
void visit(Archive&, protocol::codec::Of<Archive, TickEvent>&) {}
template <typename Archive>
void visit(Archive&, protocol::codec::Of<Archive, EnoughEvent>&) {}

}  // namespace gleaner::policy
