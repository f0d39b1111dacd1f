// Field lists of relay_messages.h. As fields_signed.h.
#pragma once

#include "shared/protocol/fields_signed.h"
#include "shared/protocol/fields_work.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::protocol::codec {

// ---- Admission

template <>
inline constexpr const char* title<RelayCertificate> = "relay certificate";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayCertificate>& message) {
  archive("project", message.project, Digest{});
  archive("relay", message.relay);
  archive("name", message.name, Text{});
  archive("key", message.key, public_key);
  archive("tls_key", message.tls_key, Digest{});
  archive("children", message.children, Whole{1, limits::relay_children_max});
  archive("not_before", message.not_before);
  archive("not_after", message.not_after);
}

template <>
inline constexpr const char* title<Enrolment> = "proof of enrolment";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Enrolment>& message) {
  archive("project", message.project, Digest{});
  archive("relay", message.relay);
  archive("host_key", message.host_key, public_key);
  archive("machine", message.machine, Digest{});
  archive("at", message.at);
}

template <>
inline constexpr const char* title<RelayHostReply> = "enrolment reply to a relay";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayHostReply>& message) {
  archive("host", message.host);
  archive("certificate", message.certificate);
  archive("own", message.own);
}

template <>
inline constexpr const char* title<RelayHostLeft> = "host that left a relay";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayHostLeft>& message) {
  archive("host", message.host);
}

template <>
inline constexpr const char* title<AddRelay> = "new relay";
template <typename Archive>
void visit(Archive& archive, Of<Archive, AddRelay>& message) {
  archive("name", message.name, Text{});
  archive("children", message.children, Whole{1, limits::relay_children_max});
  archive.defaulted("lifetime_seconds", message.lifetime_seconds, Whole{0, limits::code_seconds_max});
  archive("own", message.own);
}

template <>
inline constexpr const char* title<RelayQuota> = "quota of a relay";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayQuota>& message) {
  archive("children", message.children, Whole{1, limits::relay_children_max});
}

template <>
inline constexpr const char* title<RelayInfo> = "relay of the project";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayInfo>& message) {
  archive("name", message.name, Text{});
  archive("state", message.state, Text{});
  archive("children", message.children, Whole{1, limits::relay_children_max});
  archive("hosts", message.hosts, Whole{});
  archive("host", message.host);
  archive("relay", message.relay);
  archive("last_contact", message.last_contact);
}

template <>
inline constexpr const char* title<std::vector<RelayInfo>> = "list of relays";

template <>
inline constexpr const char* title<RelayStatus> = "status of a relay";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayStatus>& message) {
  archive("host", message.host);
  archive("name", message.name, Text{});
  archive("parent", message.parent, Text{});
  archive("heard_at", message.heard_at);
  archive("hosts", message.hosts, Whole{});
  archive("units", message.units, Whole{});
  archive("busy", message.busy, Whole{});
  archive("trouble", message.trouble, Prose{});
  archive("leases", message.leases, Whole{});
  archive("leased_items", message.leased_items, Whole{});
  archive("results", message.results, Whole{});
  archive("result_bytes", message.result_bytes, Whole{});
  archive("results_since", message.results_since);
  archive("full", message.full);
}

// ---- Working through relays

template <>
inline constexpr const char* title<RelayGrant> = "relay's grant";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayGrant>& message) {
  archive("parent", message.parent, Digest{});
  archive("unit", message.unit);
  archive("host", message.host);
  archive("range", message.range);
  archive("cost", message.cost, Number{});
  archive("begun", message.begun);
  archive("commit_seconds", message.commit_seconds, period_seconds);
  archive("issued_at", message.issued_at);
  archive("deadline", message.deadline);
  archive("reason", message.reason, Prose{});
}

template <>
inline constexpr const char* title<Delivery> = "delivery";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Delivery>& message) {
  archive("project", message.project, Digest{});
  archive("host", message.host);
  archive("unit", message.unit);
  archive("problem", message.problem);
  archive("stage", message.stage, stage_number);
  archive("range", message.range);
  archive("digest", message.digest, Digest{});
  archive("bytes", message.bytes, Whole{0, limits::segment_bytes_max});
}

template <>
inline constexpr const char* title<Failure> = "failure of a host";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Failure>& message) {
  archive("project", message.project, Digest{});
  archive("host", message.host);
  archive("unit", message.unit);
  archive("problem", message.problem);
  archive("stage", message.stage, stage_number);
  archive("kind", message.kind);
  archive("item", message.item, Whole{});
  archive("message", message.message, Prose{});
  archive("at", message.at);
}

template <>
inline constexpr const char* title<StageDescription> = "description of a stage";
template <typename Archive>
void visit(Archive& archive, Of<Archive, StageDescription>& message) {
  archive("problem", message.problem);
  archive("stage", message.stage, stage_number);
  archive("name", message.name, Text{});
  archive("manifest", message.manifest, Document{});
  archive("items", message.items, Whole{0, limits::items_max});
  archive("costs", message.costs);
  archive("weight", message.weight, Number{});
  archive("priority", message.priority, Whole{-1000, 1000});
}

}  // namespace gleaner::protocol::codec
