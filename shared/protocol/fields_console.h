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
  archive("secret", message.secret, Text{});
  archive("expires_at", message.expires_at);
}

template <>
inline constexpr const char* title<OpenSession> = "log-in";
template <typename Archive>
void visit(Archive& archive, Of<Archive, OpenSession>& message) {
  archive.defaulted("link", message.link, Text{});
  archive.defaulted("token", message.token, Text{});
  archive.defaulted("instead", message.instead);
}

template <>
inline constexpr const char* title<SessionInfo> = "session";
template <typename Archive>
void visit(Archive& archive, Of<Archive, SessionInfo>& message) {
  archive("name", message.name, Text{});
  archive("role", message.role);
  archive("guard", message.guard, Text{});
  archive("project", message.project, long_text);
  archive.defaulted("instead_of", message.instead_of, Text{});
}

template <>
inline constexpr const char* title<OverviewSample> = "sample";
template <typename Archive>
void visit(Archive& archive, Of<Archive, OverviewSample>& message) {
  archive("at", message.at);
  archive("hosts_active", message.hosts_active, Whole{});
  archive("cores_busy", message.cores_busy, Whole{});
  archive("items_per_second", message.items_per_second, Number{});
  archive("core_hours", message.core_hours, Number{});
}

template <>
inline constexpr const char* title<DayInfo> = "day";
template <typename Archive>
void visit(Archive& archive, Of<Archive, DayInfo>& message) {
  archive("at", message.at);
  archive("core_hours", message.core_hours, Number{});
  archive("kilowatt_hours", message.kilowatt_hours, Number{});
  archive("items", message.items, Whole{});
}

template <>
inline constexpr const char* title<ProblemSample> = "sample of a problem";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ProblemSample>& message) {
  archive("at", message.at);
  archive("stage", message.stage, stage_number);
  archive("done", message.done, Number{});
  archive("rate", message.rate, Number{});
  archive("eta_seconds", message.eta_seconds, Number{-1});
  archive.defaulted("eta_low_seconds", message.eta_low_seconds, Number{-1});
  archive.defaulted("eta_high_seconds", message.eta_high_seconds, Number{-1});
}

template <>
inline constexpr const char* title<LiveView> = "event";
template <>
inline constexpr std::int64_t values_max<LiveView> = limits::json_list_values_max;
template <typename Archive>
void visit(Archive& archive, Of<Archive, LiveView>& message) {
  archive("status", message.status);
  archive("problems", message.problems, List{limits::problems_live_max});
  archive("problems_total", message.problems_total, Whole{});
  archive("errors", message.errors, List{limits::error_groups_max});
  archive("sample", message.sample);
}

template <>
inline constexpr const char* title<ItemMap> = "map of items";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ItemMap>& message) {
  constexpr List percents{limits::map_cells_max, Whole{0, 100}};
  archive("id", message.id);
  archive("stage", message.stage, stage_number);
  archive("stage_name", message.stage_name, Text{});
  archive("items", message.items, Whole{});
  archive("items_per_cell", message.items_per_cell, Whole{1});
  archive("accepted", message.accepted, percents);
  archive("held", message.held, percents);
  archive("set_aside", message.set_aside, percents);
  archive("holders", message.holders, List{limits::map_cells_max});
}

template <>
inline constexpr const char* title<HostPage> = "page of hosts";
template <>
inline constexpr std::int64_t values_max<HostPage> = limits::json_list_values_max;
template <typename Archive>
void visit(Archive& archive, Of<Archive, HostPage>& message) {
  archive("hosts", message.hosts, List{limits::hosts_per_page_max});
  archive("next", message.next);
  archive("total", message.total, Whole{});
  archive("now", message.now);
  archive.defaulted("cost_accepted", message.cost_accepted, Number{});
}

template <>
inline constexpr const char* title<SettingInfo> = "setting";
template <typename Archive>
void visit(Archive& archive, Of<Archive, SettingInfo>& message) {
  archive("name", message.name, Text{});
  archive("value", message.value, long_text);
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
