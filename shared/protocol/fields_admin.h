// Field lists of the admin API's messages. As fields_signed.h.
#pragma once

#include "shared/protocol/fields_work.h"

namespace gleaner::protocol::codec {

inline constexpr Text file_name{limits::file_name_length_max};
inline constexpr Text long_text{limits::text_length_max};
inline constexpr List tags{limits::tags_max, Text{}};

template <>
inline constexpr const char* title<ParameterInfo> = "parameter";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ParameterInfo>& message) {
  const Number bound{-limits::declared_bound_max, limits::declared_bound_max};
  archive("name", message.name, Text{});
  archive("type", message.type, Text{});
  archive("meaning", message.meaning, Text{limits::meaning_length_max});
  archive.defaulted("default_value", message.default_value, Document{limits::default_length_max});
  archive.defaulted("required", message.required);
  archive("low", message.low, bound);
  archive("high", message.high, bound);
  archive.defaulted("length", message.length, Whole{0, limits::parameters_bytes_max});
  archive.defaulted("choices", message.choices, List{limits::declared_choices_max, Text{}});
}

template <>
inline constexpr const char* title<InputInfo> = "input of an application";
template <typename Archive>
void visit(Archive& archive, Of<Archive, InputInfo>& message) {
  archive("name", message.name, file_name);
  archive("meaning", message.meaning, Text{limits::meaning_length_max});
  archive.defaulted("required", message.required);
}

template <>
inline constexpr const char* title<ApplicationInfo> = "application";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ApplicationInfo>& message) {
  archive("name", message.name, Text{});
  archive("application_version", message.version, Text{});  // "version" is the protocol's
  archive("title", message.title, long_text);
  archive("archive", message.archive, Digest{});
  archive("archive_bytes", message.archive_bytes, Whole{0, limits::bundle_bytes_max});
  archive("platforms", message.platforms, List{limits::platforms_max, Text{}});
  archive("signer", message.signer, Text{});
  archive("added_at", message.added_at);
  archive.defaulted("parameters", message.parameters, List{limits::declared_parameters_max});
  archive.defaulted("inputs", message.inputs, List{limits::declared_inputs_max});
  archive.defaulted("signer_expires", message.signer_expires);
}

template <>
inline constexpr const char* title<AddApplication> = "new application";
template <typename Archive>
void visit(Archive& archive, Of<Archive, AddApplication>& message) {
  archive("application", message.application);
  archive("signer", message.signer);
}

// People write this one by hand: what has a sensible default may be left out.
template <>
inline constexpr const char* title<AddProblem> = "new problem";
template <typename Archive>
void visit(Archive& archive, Of<Archive, AddProblem>& message) {
  archive("application", message.application, file_name);
  archive("name", message.name, Text{});
  archive("parameters", message.parameters, Document{});
  archive.defaulted("inputs", message.inputs, List{limits::inputs_max});
  archive.defaulted("strategy", message.strategy, long_text);
  archive.defaulted("straggler", message.straggler, Text{});
  archive.defaulted("weight", message.weight, Number{});
  archive.defaulted("priority", message.priority, Whole{-1000, 1000});
  archive.defaulted("commit_seconds", message.commit_seconds, period_seconds);
  archive.defaulted("validation", message.validation, Text{});
}

template <>
inline constexpr const char* title<ProblemEstimate> = "estimate of a problem";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ProblemEstimate>& message) {
  archive("application", message.application, file_name);
  archive("items", message.items, Whole{});
  archive("cost", message.cost, Number{});
  archive("hosts", message.hosts, Whole{});
  archive("cores", message.cores, Whole{});
  archive("share", message.share, Number{});
  archive("tried", message.tried, Whole{});
  archive("same_parameters", message.same_parameters);
  archive("core_seconds", message.core_seconds, Number{-1});
  archive("core_low_seconds", message.core_low_seconds, Number{-1});
  archive("core_high_seconds", message.core_high_seconds, Number{-1});
  archive("eta_seconds", message.eta_seconds, Number{-1});
  archive("eta_low_seconds", message.eta_low_seconds, Number{-1});
  archive("eta_high_seconds", message.eta_high_seconds, Number{-1});
  archive("waits", message.waits, Prose{});
}

template <>
inline constexpr const char* title<ResultFile> = "result file";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ResultFile>& message) {
  archive("name", message.name, file_name);
  archive("digest", message.digest, Digest{});
  archive("bytes", message.bytes, Whole{0, limits::blob_bytes_max});
  archive("media_type", message.media_type, file_name);
}

template <>
inline constexpr const char* title<Preview> = "preview";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Preview>& message) {
  archive("id", message.id);
  archive("stage", message.stage, stage_number);
  archive("stage_name", message.stage_name, Text{});
  archive("items", message.items, Whole{});
  archive("accepted", message.accepted, Whole{});
  archive("files", message.files, List{limits::inputs_max});
}

template <>
inline constexpr const char* title<HostShare> = "host share";
template <typename Archive>
void visit(Archive& archive, Of<Archive, HostShare>& message) {
  archive("host", message.host);
  archive("name", message.name, Text{});
  archive("requests", message.requests, Whole{});
  archive("units", message.units, Whole{});
  archive("items", message.items, Whole{});
  archive("cost", message.cost, Number{});
  archive("wasted_cost", message.wasted_cost, Number{});
  archive("rate", message.rate, Number{});
  archive("busy_seconds", message.busy_seconds, Number{});
  archive("splits", message.splits, Whole{});
  archive("duplicates", message.duplicates, Whole{});
  archive("last_contact_seconds", message.last_contact_seconds, Number{-1});
}

template <>
inline constexpr const char* title<SetAside> = "range set aside";
template <typename Archive>
void visit(Archive& archive, Of<Archive, SetAside>& message) {
  archive("unit", message.unit);
  archive("range", message.range);
  archive("message", message.message, Prose{});
}

template <>
inline constexpr const char* title<ErrorGroup> = "group of errors";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ErrorGroup>& message) {
  archive("problem", message.problem);
  archive("problem_name", message.problem_name, Text{});
  archive("application", message.application, file_name);
  archive("kind", message.kind, Text{});
  archive.defaulted("words", message.words, Prose{});
  archive("message", message.message, Prose{});
  archive("times", message.times, Whole{});
  archive("hosts", message.hosts, Whole{});
  archive("first_at", message.first_at);
  archive("last_at", message.last_at);
}

template <>
inline constexpr const char* title<ProblemInfo> = "problem";
template <>
inline constexpr std::int64_t values_max<ProblemInfo> = limits::json_list_values_max;
template <typename Archive>
void visit(Archive& archive, Of<Archive, ProblemInfo>& message) {
  archive("id", message.id);
  archive("name", message.name, Text{});
  archive("application", message.application, file_name);
  archive("state", message.state);
  archive("message", message.message, Prose{});
  archive("strategy", message.strategy, long_text);
  archive("straggler", message.straggler, Text{});
  archive("weight", message.weight, Number{});
  archive("priority", message.priority, Whole{-1000, 1000});
  archive.defaulted("validation", message.validation, Text{});
  archive("stage", message.stage, stage_number);
  archive("stage_name", message.stage_name, Text{});
  archive("items", message.items, Whole{});
  archive("accepted", message.accepted, Whole{});
  archive("free", message.free, Whole{});
  archive("handed_out", message.handed_out, Whole{});
  archive("cost", message.cost, Number{});
  archive("cost_accepted", message.cost_accepted, Number{});
  archive("rate", message.rate, Number{});
  archive("eta_seconds", message.eta_seconds, Number{-1});
  archive.defaulted("eta_low_seconds", message.eta_low_seconds, Number{-1});
  archive.defaulted("eta_high_seconds", message.eta_high_seconds, Number{-1});
  archive.defaulted("waits", message.waits, Prose{});
  archive.defaulted("done", message.done, Number{-1, 1});
  archive("units", message.units, Whole{});
  archive("open_units", message.open_units, Whole{});
  archive("splits", message.splits, Whole{});
  archive("recovered", message.recovered, Whole{});
  archive("duplicates", message.duplicates, Whole{});
  archive("wasted_cost", message.wasted_cost, Number{});
  archive.defaulted("wasted", message.wasted, Number{-1, 1});
  archive("disagreements", message.disagreements, Whole{});
  archive("hosts", message.hosts, Whole{});
  archive("created_at", message.created_at);
  archive("started_at", message.started_at);
  archive("finished_at", message.finished_at);
  archive("elapsed_seconds", message.elapsed_seconds, Number{});
  archive("shares", message.shares, List{limits::list_length_max});
  archive.defaulted("shares_total", message.shares_total, Whole{});
  archive("results", message.results, List{limits::inputs_max});
  archive("set_aside", message.set_aside, List{limits::list_length_max});
  archive.defaulted("errors", message.errors, List{limits::error_groups_max});
}

template <>
inline constexpr const char* title<HostInfo> = "host";
template <typename Archive>
void visit(Archive& archive, Of<Archive, HostInfo>& message) {
  archive("id", message.id);
  archive("name", message.name, Text{});
  archive("state", message.state);
  archive("platform", message.platform, Text{});
  archive("cores", message.cores, Whole{0, limits::cores_max});
  archive("memory_bytes", message.memory_bytes, Whole{0, limits::memory_bytes_max});
  archive("client_version", message.client_version, Text{});
  archive("mflops", message.mflops, Number{});
  archive("speeds", message.speeds);
  archive("items_accepted", message.items_accepted, Whole{});
  archive("cost_accepted", message.cost_accepted, Number{});
  archive("failures", message.failures, Whole{});
  archive("disagreements", message.disagreements, Whole{});
  archive("enrolled_at", message.enrolled_at);
  archive("last_contact", message.last_contact);
  archive("open_units", message.open_units, Whole{});
  archive("state_reason", message.state_reason, Prose{});
  archive.defaulted("code", message.code, Text{});
  archive.defaulted("tags", message.tags, tags);
  archive.defaulted("on_hold", message.on_hold, Prose{});
  archive.defaulted("trust", message.trust, Number{-1, 1});
  archive("relay", message.relay);
  archive("item", message.item);
}

template <>
inline constexpr const char* title<HoldHost> = "hold of a host";
template <typename Archive>
void visit(Archive& archive, Of<Archive, HoldHost>& message) {
  archive.defaulted("reason", message.reason, Prose{});
}

template <>
inline constexpr const char* title<TagHost> = "tags of a host";
template <typename Archive>
void visit(Archive& archive, Of<Archive, TagHost>& message) {
  archive("tags", message.tags, tags);
}

template <>
inline constexpr const char* title<UnitInfo> = "unit of a host";
template <typename Archive>
void visit(Archive& archive, Of<Archive, UnitInfo>& message) {
  archive("id", message.id);
  archive("problem", message.problem);
  archive("problem_name", message.problem_name, Text{});
  archive("stage", message.stage, stage_number);
  archive("slot", message.slot, Whole{0, limits::cores_max});
  archive("kind", message.kind, Text{});
  archive("state", message.state, Text{});
  archive("range", message.range);
  archive("delivered", message.delivered, Whole{});
  archive("running_seconds", message.running_seconds, Number{});
  archive("issued", message.issued);
  archive("closed", message.closed);
  archive("reason", message.reason, Prose{});
}

template <>
inline constexpr const char* title<CodeInfo> = "enrolment code";
template <typename Archive>
void visit(Archive& archive, Of<Archive, CodeInfo>& message) {
  archive("name", message.name, Text{});
  archive("state", message.state, Text{});
  archive("hosts", message.hosts, Whole{});
  archive("hosts_max", message.hosts_max, Whole{});
  archive("own", message.own);
  archive("tags", message.tags, tags);
  archive("made_at", message.made_at);
  archive("expires_at", message.expires_at);
  archive("withdrawn_at", message.withdrawn_at);
  archive("children", message.children, Whole{1, limits::relay_children_max});
  archive.defaulted("made_by", message.made_by, Text{});
}

template <>
inline constexpr const char* title<AddCode> = "new enrolment code";
template <typename Archive>
void visit(Archive& archive, Of<Archive, AddCode>& message) {
  archive("name", message.name, Text{});
  archive.defaulted("hosts_max", message.hosts_max, Whole{});
  archive.defaulted("lifetime_seconds", message.lifetime_seconds, Whole{0, limits::code_seconds_max});
  archive("own", message.own);
  archive.defaulted("tags", message.tags, tags);
}

template <>
inline constexpr const char* title<MadeCode> = "join code";
template <typename Archive>
void visit(Archive& archive, Of<Archive, MadeCode>& message) {
  archive("code", message.code);
  archive("join_code", message.join_code, long_text);
}

template <>
inline constexpr const char* title<WithdrawCode> = "withdrawal of an enrolment code";
template <typename Archive>
void visit(Archive& archive, Of<Archive, WithdrawCode>& message) {
  archive.defaulted("with_hosts", message.with_hosts);
}

template <>
inline constexpr const char* title<RevokeHost> = "revocation of a host";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RevokeHost>& message) {
  archive.defaulted("may_return", message.may_return);
}

template <>
inline constexpr const char* title<ServerStatus> = "server status";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ServerStatus>& message) {
  archive("project", message.project, Digest{});
  archive("name", message.name, Text{});
  archive("server_version", message.server_version, Text{});
  archive("join_code", message.join_code, long_text);
  archive("started_at", message.started_at);
  archive("now", message.now);
  archive("hosts", message.hosts, Whole{});
  archive("hosts_active", message.hosts_active, Whole{});
  archive("problems_open", message.problems_open, Whole{});
  archive("open_units", message.open_units, Whole{});
  archive("work_certificate_expires", message.work_certificate_expires);
  archive("warnings", message.warnings, List{limits::list_length_max, Prose{}});
  archive("stored", message.stored, Prose{});
}

template <>
inline constexpr const char* title<ChangeStrategy> = "change of strategy";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ChangeStrategy>& message) {
  archive("strategy", message.strategy, long_text);
  archive("straggler", message.straggler, Text{});
  archive("weight", message.weight, Number{});
  archive("priority", message.priority, Whole{-1000, 1000});
}

template <>
inline constexpr const char* title<ChangeApplication> = "change of application";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ChangeApplication>& message) {
  archive("application", message.application, file_name);
}

template <>
inline constexpr const char* title<StrategyInfo> = "strategy";
template <typename Archive>
void visit(Archive& archive, Of<Archive, StrategyInfo>& message) {
  archive("name", message.name, Text{});
  archive("kind", message.kind, Text{});
  archive("summary", message.summary, Prose{});
  archive("source", message.source, Prose{});
  archive("options", message.options, List{limits::list_length_max, Prose{}});
}

template <>
inline constexpr const char* title<DecisionInfo> = "decision";
template <typename Archive>
void visit(Archive& archive, Of<Archive, DecisionInfo>& message) {
  archive("at", message.at);
  archive("host", message.host);
  archive("unit", message.unit);
  archive("kind", message.kind, Text{});
  archive("range", message.range);
  archive("reason", message.reason, Prose{});
}

// Lists: {"version":1,"items":[...]}.
template <typename Element>
inline constexpr std::int64_t values_max<std::vector<Element>> = limits::json_list_values_max;
template <>
inline constexpr const char* title<std::vector<ApplicationInfo>> = "list of applications";
template <>
inline constexpr const char* title<std::vector<ProblemInfo>> = "list of problems";
template <>
inline constexpr const char* title<std::vector<ErrorGroup>> = "list of errors";
template <>
inline constexpr const char* title<std::vector<UnitInfo>> = "list of units";
template <>
inline constexpr const char* title<std::vector<HostInfo>> = "list of hosts";
template <>
inline constexpr const char* title<std::vector<CodeInfo>> = "list of enrolment codes";
template <>
inline constexpr const char* title<std::vector<DecisionInfo>> = "list of decisions";
template <>
inline constexpr const char* title<std::vector<StrategyInfo>> = "list of strategies";

}  // namespace gleaner::protocol::codec
