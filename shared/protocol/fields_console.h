// The fields of console_messages.h, as fields_admin.h has those of admin_messages.h.
#pragma once

#include "shared/protocol/console_messages.h"
#include "shared/protocol/fields_access.h"
#include "shared/protocol/fields_admin.h"

namespace gleaner::protocol::codec {

template <>
inline constexpr const char* title<ConsoleLink> = "console link";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ConsoleLink>& message) {
  archive("secret", message.secret, Text{}, "of the link https://HOST:PORT/console#link=SECRET");
  archive("expires_at", message.expires_at);
}

template <>
inline constexpr const char* title<OpenSession> = "log-in";
template <>
inline constexpr const char* about<OpenSession> = "a log-in with a link or a token";
template <typename Archive>
void visit(Archive& archive, Of<Archive, OpenSession>& message) {
  archive.defaulted("link", message.link, Text{}, "secret of a ConsoleLink");
  archive.defaulted("token", message.token, Text{}, "admin token");
  archive.defaulted("instead", message.instead, Plain{}, "replace the session of another administrator");
}

template <>
inline constexpr const char* title<SessionInfo> = "session";
template <typename Archive>
void visit(Archive& archive, Of<Archive, SessionInfo>& message) {
  archive("name", message.name, Text{}, "of the admin token");
  archive("role", message.role);
  archive("guard", message.guard, Text{},
          "to send as X-Gleaner-Guard with everything that changes something");
  archive("project", message.project, long_text);
  archive.defaulted("instead_of", message.instead_of, Text{},
                    "administrator whose session stays because `instead` was not set; then there is no "
                    "guard, and a link stays valid");
}

template <>
inline constexpr const char* title<OverviewSample> = "sample";
template <>
inline constexpr const char* about<OverviewSample> = "the whole project at a moment";
template <typename Archive>
void visit(Archive& archive, Of<Archive, OverviewSample>& message) {
  archive("at", message.at);
  archive("hosts_active", message.hosts_active, Whole{});
  archive("cores_busy", message.cores_busy, Whole{}, "of hosts that reported lately");
  archive("items_per_second", message.items_per_second, Number{}, "accepted, since the sample before");
  archive("core_hours", message.core_hours, Number{}, "of busy cores, since the server started");
}

template <>
inline constexpr const char* title<DayInfo> = "day";
template <>
inline constexpr const char* about<DayInfo> = "contribution of hosts on a day (UTC)";
template <typename Archive>
void visit(Archive& archive, Of<Archive, DayInfo>& message) {
  archive("at", message.at, Plain{}, "beginning of the day");
  archive("core_hours", message.core_hours, Number{}, "of busy cores");
  archive("kilowatt_hours", message.kilowatt_hours, Number{}, "of hosts whose owners said what they draw");
  archive("items", message.items, Whole{}, "accepted");
}

template <>
inline constexpr const char* title<ProblemSample> = "sample of a problem";
template <>
inline constexpr const char* about<ProblemSample> = "a problem at a moment";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ProblemSample>& message) {
  archive("at", message.at);
  archive("stage", message.stage, stage_number);
  archive("done", message.done, Number{}, "of the stage's cost, 0 to 1");
  archive("rate", message.rate, Number{}, "hint units a second");
  archive("eta_seconds", message.eta_seconds, Number{-1},
          "until the whole problem is done; negative: unknown");
  archive.defaulted("eta_low_seconds", message.eta_low_seconds, Number{-1}, "negative: unknown");
  archive.defaulted("eta_high_seconds", message.eta_high_seconds, Number{-1}, "negative: unknown");
}

template <>
inline constexpr const char* title<LiveView> = "event";
template <>
inline constexpr const char* about<LiveView> = "data of one event";
template <>
inline constexpr std::int64_t values_max<LiveView> = limits::json_list_values_max;
template <typename Archive>
void visit(Archive& archive, Of<Archive, LiveView>& message) {
  archive("status", message.status);
  archive("problems", message.problems, List{limits::problems_live_max}, "open ones first, then the newest");
  archive("problems_total", message.problems_total, Whole{});
  archive("errors", message.errors, List{limits::error_groups_max}, "newest first");
  archive("sample", message.sample);
}

template <>
inline constexpr const char* title<ItemMap> = "map of items";
template <>
inline constexpr const char* about<ItemMap> = "state of a stage's items, in cells of equal size";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ItemMap>& message) {
  constexpr List percents{limits::map_cells_max, Whole{0, 100}};
  archive("id", message.id);
  archive("stage", message.stage, stage_number);
  archive("stage_name", message.stage_name, Text{});
  archive("items", message.items, Whole{});
  archive("items_per_cell", message.items_per_cell, Whole{1});
  archive("accepted", message.accepted, percents, "percent of each cell; what is missing to 100 is free");
  archive("held", message.held, percents, "percent of each cell");
  archive("set_aside", message.set_aside, percents, "percent of each cell");
  archive("holders", message.holders, List{limits::map_cells_max},
          "host that holds most of each cell; 0: none");
}

template <>
inline constexpr const char* title<HostPage> = "page of hosts";
template <>
inline constexpr std::int64_t values_max<HostPage> = limits::json_list_values_max;
template <typename Archive>
void visit(Archive& archive, Of<Archive, HostPage>& message) {
  archive("hosts", message.hosts, List{limits::hosts_per_page_max});
  archive("next", message.next, Plain{}, "`after` of the next page; 0: this is the last");
  archive("total", message.total, Whole{});
  archive("now", message.now);
  archive.defaulted("cost_accepted", message.cost_accepted, Number{}, "of all hosts together");
}

template <>
inline constexpr const char* title<TableRow> = "row of a table";
template <typename Archive>
void visit(Archive& archive, Of<Archive, TableRow>& message) {
  archive("values", message.values, List{limits::table_columns_max, long_text}, "long ones are cut");
}

template <>
inline constexpr const char* title<TablePage> = "page of a table";
template <>
inline constexpr std::int64_t values_max<TablePage> = limits::json_list_values_max;
template <typename Archive>
void visit(Archive& archive, Of<Archive, TablePage>& message) {
  archive("columns", message.columns, List{limits::table_columns_max, long_text});
  archive("rows", message.rows, Whole{}, "of the table");
  archive("failed", message.failed, Whole{}, "of these; their `status` is not \"ok\"");
  archive("chosen", message.chosen, Whole{}, "that were requested, on all pages");
  archive("first", message.first, Whole{}, "of these, on this page");
  archive("page", message.page, List{limits::table_page_rows_max});
}

template <>
inline constexpr const char* title<FlowLink> = "link of a flow";
template <typename Archive>
void visit(Archive& archive, Of<Archive, FlowLink>& message) {
  archive("node", message.node, Text{FlowInfo::name_length_max});
  archive.defaulted("results", message.results, List{limits::inputs_max, file_name},
                    "of that node; none: it only has to be finished");
}

template <>
inline constexpr const char* title<FlowStep> = "node of a flow";
template <typename Archive>
void visit(Archive& archive, Of<Archive, FlowStep>& message) {
  archive("name", message.name, Text{FlowInfo::name_length_max});
  archive("application", message.application, file_name);
  archive.defaulted("after", message.after, List{FlowInfo::nodes_max},
                    "nodes before it in the list that have to be finished first");
  archive.defaulted("problem", message.problem, Plain{}, "the newest that was added for it; 0: none");
  archive.defaulted("state", message.state, Text{},
                    "of its problem; without one waiting, blocked (a node that it needs cannot finish) or "
                    "refused");
  archive.defaulted("done", message.done, Number{-1, 1}, "of its problem; negative: unknown");
  archive.defaulted("message", message.message, Prose{},
                    "why it failed, was stopped, or was refused by the server");
}

template <>
inline constexpr const char* title<FlowInfo> = "flow";
template <>
inline constexpr const char* about<FlowInfo> =
    "problems of which some need others' results; a new plan says no problem, state and done";
template <>
inline constexpr std::int64_t values_max<FlowInfo> = limits::json_list_values_max;
template <typename Archive>
void visit(Archive& archive, Of<Archive, FlowInfo>& message) {
  archive("name", message.name, Text{FlowInfo::name_length_max}, "its problems are called NAME/NODE");
  archive("nodes", message.nodes, List{FlowInfo::nodes_max}, "each after those that it needs");
}

template <>
inline constexpr const char* title<UnsuitedHosts> = "hosts that cannot compute a problem";
template <typename Archive>
void visit(Archive& archive, Of<Archive, UnsuitedHosts>& message) {
  archive("kind", message.kind, Text{},
          "platform, need, memory, cores, on hold, failures (of this application) or silent (it has not "
          "requested work since the server started); treat others as text");
  archive("value", message.value, long_text, "the need or the number that they lack, or their platform");
  archive("text", message.text, Prose{}, "for people");
  archive("hosts", message.hosts, Whole{1});
  archive("examples", message.examples, List{UnsuitedHosts::examples_max});
  archive("names", message.names, List{UnsuitedHosts::examples_max, Text{}}, "of the examples");
}

template <>
inline constexpr const char* title<ProblemHosts> = "hosts of a problem";
template <>
inline constexpr const char* about<ProblemHosts> =
    "needs of a problem, and the online hosts that can compute it";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ProblemHosts>& message) {
  archive("needs", message.needs, List{limits::needs_max, Text{}}, "such as \"python>=3.9\"");
  archive("platforms", message.platforms, List{limits::platforms_max, Text{}},
          "that it has kernels for; \"any\": all");
  archive("memory_bytes", message.memory_bytes, Whole{0, limits::memory_bytes_max}, "of one kernel");
  archive("cores", message.cores, Whole{0, limits::cores_max}, "of one kernel");
  archive("hosts", message.hosts, Whole{}, "online; hosts under a relay count by what their relay offers");
  archive("suited", message.suited, Whole{}, "that can compute it");
  archive("unsuited", message.unsuited, List{ProblemHosts::unsuited_max}, "most hosts first");
}

template <>
inline constexpr const char* title<SettingInfo> = "setting";
template <typename Archive>
void visit(Archive& archive, Of<Archive, SettingInfo>& message) {
  archive("name", message.name, Text{});
  archive("value", message.value, long_text);
  archive.defaulted("meaning", message.meaning, Prose{});
  archive.defaulted("default_value", message.default_value, long_text);
}

template <>
inline constexpr const char* title<std::vector<DayInfo>> = "list of days";
template <>
inline constexpr const char* title<std::vector<OverviewSample>> = "history";
template <>
inline constexpr const char* title<std::vector<ProblemSample>> = "history of a problem";
template <>
inline constexpr const char* title<std::vector<SettingInfo>> = "list of settings";

}  // namespace gleaner::protocol::codec
