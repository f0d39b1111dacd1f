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
  archive("type", message.type, Text{},
          "integer, number, boolean, text, choice or json (any value); treat others as json");
  archive("meaning", message.meaning, Text{limits::meaning_length_max});
  archive.defaulted("default_value", message.default_value, Document{limits::default_length_max},
                    "JSON text; empty: none, or the application decides");
  archive.defaulted("required", message.required);
  archive("low", message.low, bound);
  archive("high", message.high, bound);
  archive.defaulted("length", message.length, Whole{0, limits::parameters_bytes_max},
                    "of a text, bytes at most; 0: no limit");
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
  archive("archive", message.archive, Digest{}, "digest of the packed bundle");
  archive("archive_bytes", message.archive_bytes, Whole{0, limits::bundle_bytes_max});
  archive("platforms", message.platforms, List{limits::platforms_max, Text{}});
  archive("signer", message.signer, Text{}, "name in the signer's certificate");
  archive("added_at", message.added_at);
  archive.defaulted("parameters", message.parameters, List{limits::declared_parameters_max},
                    "of one application only, not in lists; empty: it declares none");
  archive.defaulted("inputs", message.inputs, List{limits::declared_inputs_max},
                    "of one application only, not in lists; empty: it declares none");
  archive.defaulted("signer_expires", message.signer_expires, Plain{}, "end of the signer's certificate");
  archive.defaulted("needs", message.needs, List{limits::needs_max, Text{}},
                    "that a host must meet, such as \"python>=3.9\"");
}

template <>
inline constexpr const char* title<AddApplication> = "new application";
template <typename Archive>
void visit(Archive& archive, Of<Archive, AddApplication>& message) {
  archive("application", message.application, Plain{}, "an ApplicationStatement");
  archive("signer", message.signer, Plain{}, "a KeyCertificate by the root key");
}

// People write this one by hand: what has a sensible default may be left out.
template <>
inline constexpr const char* title<AddProblem> = "new problem";
template <typename Archive>
void visit(Archive& archive, Of<Archive, AddProblem>& message) {
  archive("application", message.application, file_name, "NAME@VERSION, or NAME: its newest version");
  archive("name", message.name, Text{});
  archive("parameters", message.parameters, Document{}, "JSON text");
  archive.defaulted("inputs", message.inputs, List{limits::inputs_max}, "uploaded before");
  archive.defaulted("strategy", message.strategy, long_text,
                    "NAME[,key=value...]; empty: the server's setting");
  archive.defaulted("straggler", message.straggler, Text{},
                    "a rule of GET /v1/admin/strategies; empty: the server's setting");
  archive.defaulted("weight", message.weight, Number{},
                    "share of the slots' time among problems of the same priority");
  archive.defaulted("priority", message.priority, Whole{-1000, 1000},
                    "strict: a slot works for a lower one only if no higher one has work for it");
  archive.defaulted("commit_seconds", message.commit_seconds, period_seconds, "0: the project's");
  archive.defaulted("validation", message.validation, Text{},
                    "none, checks, spot:P, quorum:N or adaptive; empty: checks where the application's "
                    "manager finds every wrong result, else adaptive");
}

template <>
inline constexpr const char* title<ProblemEstimate> = "estimate of a problem";
template <>
inline constexpr const char* about<ProblemEstimate> = "cost and finish time of a problem";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ProblemEstimate>& message) {
  archive("application", message.application, file_name, "NAME@VERSION");
  archive("items", message.items, Whole{}, "of the first stage");
  archive("cost", message.cost, Number{}, "hint units, of all stages as far as the application says");
  archive("hosts", message.hosts, Whole{}, "online");
  archive("cores", message.cores, Whole{}, "of these hosts");
  archive("share", message.share, Number{}, "of the cores' time; 0: problems of a higher priority go first");
  archive("tried", message.tried, Whole{},
          "earlier problems of the application that the estimate is based on");
  archive("same_parameters", message.same_parameters, Plain{}, "these had the same parameters and inputs");
  archive("core_seconds", message.core_seconds, Number{-1}, "of work; negative: unknown");
  archive("core_low_seconds", message.core_low_seconds, Number{-1}, "negative: unknown");
  archive("core_high_seconds", message.core_high_seconds, Number{-1}, "negative: unknown");
  archive("eta_seconds", message.eta_seconds, Number{-1}, "from its start; negative: unknown");
  archive("eta_low_seconds", message.eta_low_seconds, Number{-1}, "negative: unknown");
  archive("eta_high_seconds", message.eta_high_seconds, Number{-1}, "negative: unknown");
  archive("waits", message.waits, Prose{}, "why the finish time is unknown; empty: it is known");
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
template <>
inline constexpr const char* about<Preview> = "files made of the accepted items";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Preview>& message) {
  archive("id", message.id);
  archive("stage", message.stage, stage_number);
  archive("stage_name", message.stage_name, Text{});
  archive("items", message.items, Whole{}, "of this stage");
  archive("accepted", message.accepted, Whole{}, "items that it was made from");
  archive("files", message.files, List{limits::inputs_max});
}

template <>
inline constexpr const char* title<HostShare> = "host share";
template <typename Archive>
void visit(Archive& archive, Of<Archive, HostShare>& message) {
  archive("host", message.host);
  archive("name", message.name, Text{});
  archive("requests", message.requests, Whole{}, "for units, that were granted");
  archive("units", message.units, Whole{});
  archive("items", message.items, Whole{}, "accepted");
  archive("cost", message.cost, Number{}, "accepted hint units");
  archive("wasted_cost", message.wasted_cost, Number{}, "computed and committed, but not needed");
  archive("rate", message.rate, Number{}, "hint units a second, all slots together, as measured");
  archive("busy_seconds", message.busy_seconds, Number{}, "slot-seconds between a unit's grant and its end");
  archive("splits", message.splits, Whole{}, "its units that were cut");
  archive("duplicates", message.duplicates, Whole{}, "copies that it got");
  archive("last_contact_seconds", message.last_contact_seconds, Number{-1}, "ago");
}

template <>
inline constexpr const char* title<SetAside> = "quarantined range";
template <typename Archive>
void visit(Archive& archive, Of<Archive, SetAside>& message) {
  archive("unit", message.unit);
  archive("range", message.range);
  archive("message", message.message, Prose{});
}

template <>
inline constexpr const char* title<FailingHost> = "failing host";
template <typename Archive>
void visit(Archive& archive, Of<Archive, FailingHost>& message) {
  archive("host", message.host);
  archive("name", message.name, Text{});
  archive("times", message.times, Whole{});
}

template <>
inline constexpr const char* title<ErrorGroup> = "group of errors";
template <>
inline constexpr const char* about<ErrorGroup> = "failures of a problem with the same last words";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ErrorGroup>& message) {
  archive("problem", message.problem);
  archive("problem_name", message.problem_name, Text{});
  archive("application", message.application, file_name);
  archive("kind", message.kind, Text{});
  archive.defaulted("words", message.words, Prose{}, "last line of the message, which says what was wrong");
  archive("message", message.message, Prose{});
  archive("times", message.times, Whole{});
  archive("hosts", message.hosts, Whole{});
  archive("first_at", message.first_at);
  archive("last_at", message.last_at);
  archive.defaulted("by", message.by, List{limits::list_length_max}, "the hosts that failed so most often");
}

template <>
inline constexpr const char* title<KernelOutput> = "kernel output";
template <>
inline constexpr const char* about<KernelOutput> =
    "the last 64 KiB that a running kernel wrote to standard error and logged";
template <typename Archive>
void visit(Archive& archive, Of<Archive, KernelOutput>& message) {
  archive("host", message.host);
  archive("host_name", message.host_name, Text{});
  archive("unit", message.unit);
  archive("text", message.text, Document{limits::output_bytes_max});
  archive("at", message.at, Plain{}, "arrival; 0: the host has not sent it yet");
}

template <>
inline constexpr const char* title<ProblemInfo> = "problem";
template <>
inline constexpr std::int64_t values_max<ProblemInfo> = limits::json_list_values_max;
template <typename Archive>
void visit(Archive& archive, Of<Archive, ProblemInfo>& message) {
  archive("id", message.id);
  archive("name", message.name, Text{});
  archive("application", message.application, file_name, "NAME@VERSION");
  archive("state", message.state);
  archive("message", message.message, Prose{}, "why it failed or was stopped");
  archive("strategy", message.strategy, long_text);
  archive("straggler", message.straggler, Text{});
  archive("weight", message.weight, Number{});
  archive("priority", message.priority, Whole{-1000, 1000});
  archive.defaulted("validation", message.validation, Text{}, "how its results are validated");
  archive("stage", message.stage, stage_number);
  archive("stage_name", message.stage_name, Text{});
  archive("items", message.items, Whole{}, "of this stage");
  archive("accepted", message.accepted, Whole{});
  archive("free", message.free, Whole{});
  archive("handed_out", message.handed_out, Whole{});
  archive("cost", message.cost, Number{}, "hint units");
  archive("cost_accepted", message.cost_accepted, Number{});
  archive("rate", message.rate, Number{}, "hint units a second over the last minute");
  archive("eta_seconds", message.eta_seconds, Number{-1},
          "until the whole problem is done; negative: unknown");
  archive.defaulted("eta_low_seconds", message.eta_low_seconds, Number{-1},
                    "the finish time is between this and the next in two cases of three; negative: unknown");
  archive.defaulted("eta_high_seconds", message.eta_high_seconds, Number{-1}, "negative: unknown");
  archive.defaulted(
      "waits", message.waits, Prose{},
      "reason for waiting, such as hosts, a second opinion or disk space; empty: it does not wait");
  archive.defaulted(
      "needs", message.needs, Prose{},
      "needs of a host, and the number of online hosts that meet them; empty: no more than a kernel "
      "for its system");
  archive.defaulted("done", message.done, Number{-1, 1}, "of the whole problem, by cost; negative: unknown");
  archive("units", message.units, Whole{}, "handed out so far");
  archive("open_units", message.open_units, Whole{});
  archive("splits", message.splits, Whole{});
  archive("recovered", message.recovered, Whole{}, "ranges taken back from stalled hosts");
  archive("duplicates", message.duplicates, Whole{}, "copies handed out");
  archive("wasted_cost", message.wasted_cost, Number{},
          "of this stage, hint units: failed, cancelled, refused, wrong or not needed");
  archive.defaulted("wasted", message.wasted, Number{-1, 1},
                    "that part of all computing of all stages; negative: unknown");
  archive("disagreements", message.disagreements, Whole{});
  archive("hosts", message.hosts, Whole{}, "with an open unit");
  archive("created_at", message.created_at);
  archive("started_at", message.started_at, Plain{}, "first unit handed out");
  archive("finished_at", message.finished_at);
  archive("elapsed_seconds", message.elapsed_seconds, Number{},
          "from the first unit to the finish, or to now");
  archive("shares", message.shares, List{limits::list_length_max},
          "of its stage, of the hosts that did most; only of one problem, not in lists");
  archive.defaulted("shares_total", message.shares_total, Whole{},
                    "hosts with a share; 0: as many as in shares");
  archive("results", message.results, List{limits::inputs_max});
  archive("set_aside", message.set_aside, List{limits::list_length_max},
          "quarantined ranges, which failed on several hosts, then failures");
  archive.defaulted("errors", message.errors, List{limits::error_groups_max},
                    "only of one problem, not in lists; newest first");
  archive.defaulted("flow", message.flow, Text{}, "to which it belongs (GET /v1/admin/flows); empty: none");
  archive.defaulted("parameters", message.parameters, Document{}, "JSON text; only with inputs=true");
  archive.defaulted("inputs", message.inputs, List{limits::inputs_max}, "only with inputs=true");
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
  archive("mflops", message.mflops, Number{}, "Linpack on one idle core");
  archive("speeds", message.speeds, Plain{}, "absent: unknown");
  archive("items_accepted", message.items_accepted, Whole{});
  archive("cost_accepted", message.cost_accepted, Number{});
  archive("failures", message.failures, Whole{});
  archive("disagreements", message.disagreements, Whole{});
  archive("enrolled_at", message.enrolled_at);
  archive("last_contact", message.last_contact);
  archive("open_units", message.open_units, Whole{});
  archive("state_reason", message.state_reason, Prose{},
          "why it does not compute, as it said last, or why the server backs off");
  archive.defaulted("code", message.code, Text{}, "enrolment code that it joined with");
  archive.defaulted("tags", message.tags, tags);
  archive.defaulted("on_hold", message.on_hold, Prose{},
                    "why it gets no new unit until it is released; empty: it does");
  archive.defaulted("trust", message.trust, Number{-1, 1},
                    "probability that a result of it is right, where it is trusted least; negative: unknown");
  archive("relay", message.relay, Plain{}, "directly above it; absent: none");
  archive("item", message.item, Plain{}, "of a relay, as it reported last");
  archive("cores_lent", message.cores_lent, Number{},
          "whole cores that its owner lends now: two cores at 20 % are 0.4; absent: not reported yet");
  archive("memory_lent", message.memory_lent, Whole{0, limits::memory_bytes_max},
          "bytes that kernels may use now; absent: not reported yet");
  archive("readings", message.readings, Plain{}, "as it reported last; absent: not since the server started");
  archive.defaulted("capabilities", message.capabilities, List{limits::capabilities_max, Text{}},
                    "software that kernels find on it, such as \"python 3.11\", as it reported last");
  archive.defaulted("cpu_day", message.cpu_day, List{24, Whole{-1, 100}},
                    "percent of its processors in use, an hour each, the last one last; -1: not reported; "
                    "empty: not in the last 24 hours");
}

template <>
inline constexpr const char* title<HoldHost> = "hold of a host";
template <typename Archive>
void visit(Archive& archive, Of<Archive, HoldHost>& message) {
  archive.defaulted("reason", message.reason, Prose{}, "for the owner; empty: none");
}

template <>
inline constexpr const char* title<TagHost> = "tags of a host";
template <typename Archive>
void visit(Archive& archive, Of<Archive, TagHost>& message) {
  archive("tags", message.tags, tags, "that replace those it has");
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
  archive("kind", message.kind, Text{}, "fresh, recover, split, copy, flood or check");
  archive("state", message.state, Text{}, "open, done, cancelled, failed or expired");
  archive("range", message.range, Plain{}, "at present: it may have been cut");
  archive("delivered", message.delivered, Whole{}, "of its items, from the first on");
  archive("running_seconds", message.running_seconds, Number{}, "of its kernel, as the host reported");
  archive("issued", message.issued);
  archive("closed", message.closed, Plain{}, "0: open");
  archive("reason", message.reason, Prose{}, "why it was handed out with this size");
}

template <>
inline constexpr const char* title<CodeInfo> = "enrolment code";
template <typename Archive>
void visit(Archive& archive, Of<Archive, CodeInfo>& message) {
  archive("name", message.name, Text{});
  archive("state", message.state, Text{}, "valid, full, expired or withdrawn");
  archive("hosts", message.hosts, Whole{}, "that joined with it");
  archive("hosts_max", message.hosts_max, Whole{}, "that may join; 0: no limit");
  archive("own", message.own, Plain{}, "its hosts are the project's own; absent: strangers");
  archive("tags", message.tags, tags, "of its hosts");
  archive("made_at", message.made_at);
  archive("expires_at", message.expires_at);
  archive("withdrawn_at", message.withdrawn_at);
  archive("children", message.children, Whole{1, limits::relay_children_max},
          "the code admits one relay, with so many hosts under it");
  archive.defaulted("made_by", message.made_by, Text{},
                    "admin token that made the code; empty: `init`, or unknown");
}

template <>
inline constexpr const char* title<AddCode> = "new enrolment code";
template <typename Archive>
void visit(Archive& archive, Of<Archive, AddCode>& message) {
  archive("name", message.name, Text{}, "letters, digits, `.`, `_` and `-`");
  archive.defaulted("hosts_max", message.hosts_max, Whole{}, "0: no limit");
  archive.defaulted("lifetime_seconds", message.lifetime_seconds, Whole{0, limits::code_seconds_max},
                    "0: for ever");
  archive("own", message.own, Plain{}, "its hosts are the project's own; absent: strangers");
  archive.defaulted("tags", message.tags, tags, "of its hosts");
}

template <>
inline constexpr const char* title<MadeCode> = "join code";
template <typename Archive>
void visit(Archive& archive, Of<Archive, MadeCode>& message) {
  archive("code", message.code);
  archive("join_code", message.join_code, long_text, "the server keeps no copy");
}

template <>
inline constexpr const char* title<WithdrawCode> = "withdrawal of an enrolment code";
template <typename Archive>
void visit(Archive& archive, Of<Archive, WithdrawCode>& message) {
  archive.defaulted("with_hosts", message.with_hosts, Plain{},
                    "its hosts are put out, too; they may return with another code");
}

template <>
inline constexpr const char* title<RevokeHost> = "revocation of a host";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RevokeHost>& message) {
  archive.defaulted("may_return", message.may_return, Plain{}, "its key may join again");
}

template <>
inline constexpr const char* title<ServerStatus> = "server status";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ServerStatus>& message) {
  archive("project", message.project, Digest{});
  archive("name", message.name, Text{});
  archive("server_version", message.server_version, Text{});
  archive("join_code", message.join_code, long_text,
          "of the code `default`; empty: it was rotated or withdrawn");
  archive("started_at", message.started_at);
  archive("now", message.now);
  archive("hosts", message.hosts, Whole{});
  archive("hosts_active", message.hosts_active, Whole{}, "that reported in the last 5 minutes");
  archive("problems_open", message.problems_open, Whole{});
  archive("open_units", message.open_units, Whole{});
  archive("work_certificate_expires", message.work_certificate_expires);
  archive("warnings", message.warnings, List{limits::list_length_max, Prose{}},
          "for administrators, with what to do");
  archive("stored", message.stored, Prose{},
          "progress of the check that reads stored files and compares their digests");
  archive.defaulted("hosts_on_hold", message.hosts_on_hold, Whole{}, "active ones");
}

template <>
inline constexpr const char* title<ChangeStrategy> = "change of strategy";
template <>
inline constexpr const char* about<ChangeStrategy> = "new strategies of a running problem";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ChangeStrategy>& message) {
  archive("strategy", message.strategy, long_text, "NAME[,key=value...]; empty: unchanged");
  archive("straggler", message.straggler, Text{}, "a rule of GET /v1/admin/strategies; empty: unchanged");
  archive("weight", message.weight, Number{},
          "share of the slots' time among problems of the same priority; absent: unchanged");
  archive("priority", message.priority, Whole{-1000, 1000},
          "strict: a slot works for a lower one only if no higher one has work for it; absent: unchanged");
}

template <>
inline constexpr const char* title<AppendInputs> = "appended inputs";
template <typename Archive>
void visit(Archive& archive, Of<Archive, AppendInputs>& message) {
  archive("inputs", message.inputs, List{limits::inputs_max},
          "uploaded before; table.csv continues the table");
}

template <>
inline constexpr const char* title<ChangeApplication> = "change of application";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ChangeApplication>& message) {
  archive("application", message.application, file_name, "NAME@VERSION, or NAME: its newest version");
}

template <>
inline constexpr const char* title<StrategyInfo> = "strategy";
template <typename Archive>
void visit(Archive& archive, Of<Archive, StrategyInfo>& message) {
  archive("name", message.name, Text{});
  archive("kind", message.kind, Text{}, "sizing, mapping or straggler");
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
  archive("kind", message.kind, Text{},
          "fresh, recover, split, copy, flood, check, trim, cancel, expire, set-aside, ...");
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
