// The fields of the values in a log, by name, for the writer and the reader alike. A field that is added to
// one of these types has to be added here, or replays part from the log where it matters (journal_test.cpp
// watches the sizes). Internal.
#pragma once

#include "server/policy/journal/events.h"

namespace gleaner::policy {

template <typename Visit>
void fields(Visit& visit, EndgameRules& rules) {
  visit("rate_memory", rules.rate_memory);
  visit("heartbeat", rules.heartbeat);
  visit("heartbeat_endgame", rules.heartbeat_endgame);
  visit("stall_silence", rules.stall_silence);
  visit("stall_silence_endgame", rules.stall_silence_endgame);
  visit("stall_rate", rules.stall_rate);
  visit("look_ahead", rules.look_ahead);
  visit("gain_minimum", rules.gain_minimum);
  visit("look_at", rules.look_at);
  visit("live_copies", rules.live_copies);
  visit("flood_copies", rules.flood_copies);
  visit("copy_budget", rules.copy_budget);
  visit("guided_fraction", rules.guided_fraction);
  visit("unit_minimum", rules.unit_minimum);
  visit("unit_maximum", rules.unit_maximum);
  visit("lease", rules.lease);
  visit("park", rules.park);
  visit("request_delay", rules.request_delay);
  visit("fit", rules.fit);
  visit("lease_factor", rules.lease_factor);
  visit("lease_minimum", rules.lease_minimum);
  visit("failures_set_aside", rules.failures_set_aside);
  visit("opinions_max", rules.opinions_max);
  visit("long_items_first", rules.long_items_first);
  visit("learn_costs", rules.learn_costs);
  visit("copy_long", rules.copy_long);
  visit("settle", rules.settle);
  visit("fast_copies", rules.fast_copies);
  visit("see_progress", rules.see_progress);
  visit("move_checkpoints", rules.move_checkpoints);
  visit("save_energy", rules.save_energy);
}

template <typename Visit>
void fields(Visit& visit, Unit& unit) {
  visit("id", unit.id);
  visit("group", unit.group);
  visit("host", unit.host);
  visit("slot", unit.slot);
  visit("kind", unit.kind);
  visit("state", unit.state);
  visit("range", unit.range);
  visit("committed", unit.committed);
  visit("finished", unit.finished);
  visit("run_state", unit.run_state);
  visit("pause_reason", unit.pause_reason);
  visit("rate_minute", unit.rate_minute);
  visit("item_seconds", unit.item_seconds);
  visit("running_seconds", unit.running_seconds);
  visit("issued", unit.issued);
  visit("last_contact", unit.last_contact);
  visit("deadline", unit.deadline);
  visit("closed", unit.closed);
  visit("cut_unheard", unit.cut_unheard);
  visit("reason", unit.reason);
  visit("handed_end", unit.handed_end);
  visit.added("begun_share", unit.begun_share, 0.0);
  visit.added("begun_by", unit.begun_by, HostId{});
}

template <typename Visit>
void fields(Visit& visit, HostRecord& record) {
  visit("host", record.host);
  visit("performance", record.performance);
  visit("queue_unloaded", record.queue_unloaded);
  visit("queue_current", record.queue_current);
  visit("proposed_items", record.proposed_items);
  visit("slots", record.slots);
  visit("rate", record.rate);
  visit("measured_seconds", record.measured_seconds);
  visit("interruptions", record.interruptions);
  visit("on_seconds", record.on_seconds);
  visit("used_performance", record.used_performance);
  visit("current_size", record.current_size);
  visit("requests", record.requests);
  visit("returned", record.returned);
  visit("omitted", record.omitted);
  visit("last_contact", record.last_contact);
  visit("units", record.units);
  visit("items_accepted", record.items_accepted);
  visit("cost_accepted", record.cost_accepted);
  visit("cost_wasted", record.cost_wasted);
  visit("busy_seconds", record.busy_seconds);
  visit("cuts", record.cuts);
  visit("copies", record.copies);
  visit("timed_units", record.times.units);
  visit("weighted_items", record.times.weighted_items);
  visit("weighted_seconds", record.times.weighted_seconds);
  visit("weighted_elapsed", record.times.weighted_elapsed);
  visit("timed_pieces", record.times.pieces);
  visit("timed_items", record.times.items);
  visit("timed_seconds", record.times.seconds);
  visit("timed_squares", record.times.squares);
  visit("memory_units", record.memory.units);
  visit("memory_base", record.memory.base);
  visit("memory_left", record.memory.left);
}

template <typename Visit>
void fields(Visit& visit, RestoreEvent& event) {
  visit("accepted", event.accepted);
  visit("units", event.units);
  visit("hosts", event.hosts);
  visit("set_aside", event.set_aside);
}

template <typename Visit>
void fields(Visit& visit, RequestEvent& event) {
  Requester& requester = event.requester;
  visit("host", requester.host);
  visit("slot", requester.slot);
  visit("urgent", requester.urgent);
  visit("slots", requester.slots);
  visit("performance", requester.performance);
  visit("queue_unloaded", requester.queue_unloaded);
  visit("queue_current", requester.queue_current);
  visit("proposed_items", requester.proposed_items);
  visit.added("watts", requester.watts, 0.0);
  visit("unit", requester.unit);
  visit("planned", requester.planned);
  visit("planned_reason", requester.planned_reason);
}

template <typename Visit>
void fields(Visit& visit, ReportEvent& event) {
  visit("host", event.host);
  visit("unit", event.report.unit);
  visit("finished", event.report.finished);
  visit("state", event.report.state);
  visit("reason", event.report.reason);
  visit("rate", event.report.rate);
  visit("item_seconds", event.report.item_seconds);
  visit.added("item_share", event.report.item_share, 0.0);
  visit("running_seconds", event.report.running_seconds);
}

template <typename Visit>
void fields(Visit& visit, CommitEvent& event) {
  visit("host", event.host);
  visit("unit", event.unit);
  visit("range", event.range);
  visit("last", event.last);
}

template <typename Visit>
void fields(Visit& visit, GiveBackEvent& event) {
  visit("host", event.host);
  visit("unit", event.unit);
  bool failed = event.why != Stage::GiveBack::returned;
  bool set_aside = event.why == Stage::GiveBack::set_aside;
  visit("failed", failed);
  visit.added("set_aside", set_aside, false);
  event.why = set_aside ? Stage::GiveBack::set_aside
              : failed  ? Stage::GiveBack::failed
                        : Stage::GiveBack::returned;
  visit("item", event.item);
  visit("reason", event.reason);
}

template <typename Visit>
void fields(Visit& visit, HostLeftEvent& event) {
  visit("host", event.host);
  visit("reason", event.reason);
}

template <typename Visit>
void fields(Visit& visit, DisputeEvent& event) {
  visit("range", event.range);
  visit("hosts", event.hosts);
}

template <typename Visit>
void fields(Visit& visit, ResolveEvent& event) {
  visit("range", event.range);
  visit("decided", event.decided);
}

template <typename Visit>
void fields(Visit& visit, RejectEvent& event) {
  visit("range", event.range);
  visit("reason", event.reason);
}

template <typename Visit>
void fields(Visit& visit, SizingEvent& event) {
  visit("strategy", event.strategy);
}

template <typename Visit>
void fields(Visit& visit, StragglerEvent& event) {
  visit("rule", event.rule);
}

template <typename Visit>
void fields(Visit& visit, SaveEvent& event) {
  visit("host", event.host);
  visit("unit", event.unit);
  visit("item", event.item);
  visit("share", event.share);
}

template <typename Visit>
void fields(Visit& visit, IdleHost& host) {
  visit("host", host.host);
  visit("slots", host.slots);
  visit("performance", host.performance);
  visit("watts", host.watts);
  visit("asks_at", host.asks_at);
}

template <typename Visit>
void fields(Visit& visit, ExpectEvent& event) {
  visit("hosts", event.hosts);
}

template <typename Visit>
void fields(Visit& visit, RememberEvent& event) {
  visit("remembered", event.unit);
}

template <typename Visit>
void fields(Visit&, TickEvent&) {}
template <typename Visit>
void fields(Visit&, EnoughEvent&) {}

}  // namespace gleaner::policy
