// Field lists of relay_messages.h. As fields_signed.h.
#pragma once

#include "shared/protocol/fields_signed.h"
#include "shared/protocol/fields_work.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::protocol::codec {

// ---- Admission

inline constexpr Raw nonce_bytes{1, limits::text_length_max};

template <>
inline constexpr const char* title<RelayCertificate> = "relay certificate";
template <>
inline constexpr const char* about<RelayCertificate> =
    "payload of a relay-certificate statement: the project certifies a relay, for 30 days";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayCertificate>& message) {
  archive("project", message.project, Digest{});
  archive("relay", message.relay, Plain{}, "its host number");
  archive("name", message.name, Text{}, "as an administrator allowed it");
  archive("key", message.key, public_key, "its host key, which signs leases of parts of its own");
  archive("tls_key", message.tls_key, Digest{}, "digest of the SubjectPublicKeyInfo (DER) of its TLS key");
  archive("children", message.children, Whole{1, limits::relay_children_max}, "hosts that may be under it");
  archive("not_before", message.not_before);
  archive("not_after", message.not_after);
}

template <>
inline constexpr const char* title<Enrolment> = "proof of enrolment";
template <>
inline constexpr const char* about<Enrolment> =
    "payload of an enrolment statement, by the key of the host or relay that joins";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Enrolment>& message) {
  archive("project", message.project, Digest{});
  archive("relay", message.relay, Plain{},
          "of the RelayCertificate that the host was shown; absent: it joins directly");
  archive("host_key", message.host_key, public_key);
  archive("machine", message.machine, Digest{}, "as in EnrolRequest");
  archive("tls_key", message.tls_key, Digest{}, "of a relay, as in RelayRequest");
  archive("nonce", message.nonce, nonce_bytes, "as in EnrolmentNonce");
}

template <>
inline constexpr const char* title<EnrolmentNonce> = "nonce of an enrolment";
template <typename Archive>
void visit(Archive& archive, Of<Archive, EnrolmentNonce>& message) {
  archive("nonce", message.nonce, nonce_bytes);
}

template <>
inline constexpr const char* title<RelayHostReply> = "enrolment reply to a relay";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayHostReply>& message) {
  archive("host", message.host);
  archive("certificate", message.certificate, Plain{}, "of a host that is a relay, too");
  archive("own", message.own, Plain{}, "the host is the project's own; absent: a stranger");
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
  archive("name", message.name, Text{}, "of the code and of the relay; letters, digits, `.`, `_` and `-`");
  archive("children", message.children, Whole{1, limits::relay_children_max},
          "hosts that may be under it, also under relays under it");
  archive.defaulted("lifetime_seconds", message.lifetime_seconds, Whole{0, limits::code_seconds_max},
                    "of the code; 0: for ever");
  archive("own", message.own, Plain{},
          "the relay and new hosts under it are the project's own; absent: strangers");
}

template <>
inline constexpr const char* title<RelayQuota> = "quota of a relay";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayQuota>& message) {
  archive("children", message.children, Whole{1, limits::relay_children_max}, "as in AddRelay");
}

template <>
inline constexpr const char* title<RelayInfo> = "relay of the project";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayInfo>& message) {
  archive("name", message.name, Text{});
  archive("state", message.state, Text{},
          "allowed (it has not joined yet), expired, withdrawn, active, left or revoked");
  archive("children", message.children, Whole{1, limits::relay_children_max}, "hosts that may be under it");
  archive("hosts", message.hosts, Whole{}, "under it");
  archive("host", message.host, Plain{}, "its host number");
  archive("relay", message.relay, Plain{}, "directly above it");
  archive("last_contact", message.last_contact, Plain{}, "0: never");
  archive("trouble", message.trouble, Text{}, "why it cannot work, as it reported; absent: it can");
}

template <>
inline constexpr const char* title<RelayLimit> = "bottleneck of a relay";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayLimit>& message) {
  archive("relay", message.relay, Text{}, "its name");
  archive("limit", message.limit, Text{},
          "hosts, link-down, link-up, hosts-links, relay-below, work or unknown; treat others as text");
  archive("sentence", message.sentence, Prose{}, "the same for people");
  archive("items_per_second", message.items_per_second, Number{}, "that it can do; absent: not known");
  archive("computing_items_per_second", message.computing_items_per_second, Number{},
          "that its hosts could do if links took no time; absent: not known");
  archive("work_seconds", message.work_seconds, Number{}, "until its hosts have done its units");
  archive("left_out", message.left_out, List{limits::relay_children_max, Text{}},
          "hosts that add no throughput, by name");
  archive("never_measured", message.never_measured, List{limits::relay_children_max, Text{}},
          "values that the estimate lacks");
}

template <>
inline constexpr const char* title<std::vector<RelayInfo>> = "list of relays";

template <>
inline constexpr const char* title<RelayStatus> = "status of a relay";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayStatus>& message) {
  archive("host", message.host, Plain{}, "its host number");
  archive("name", message.name, Text{}, "as an administrator allowed it");
  archive("parent", message.parent, Text{}, "HOST:PORT");
  archive("heard_at", message.heard_at, Plain{}, "last reply of the parent; 0: none since the start");
  archive("hosts", message.hosts, Whole{}, "under it, also under relays under it");
  archive("units", message.units, Whole{}, "of hosts directly under it");
  archive("busy", message.busy, Whole{}, "hosts with such units");
  archive("trouble", message.trouble, Prose{}, "why the parent does not reply; empty: it does");
  archive("leases", message.leases, Whole{}, "open units of the parent");
  archive("leased_items", message.leased_items, Whole{}, "of these units together");
  archive("results", message.results, Whole{}, "that the project has not answered yet");
  archive("result_bytes", message.result_bytes, Whole{}, "of these together, raw");
  archive("results_since", message.results_since, Plain{}, "arrival of the oldest; 0: none");
  archive("full", message.full, Plain{}, "the relay takes no more: hosts keep theirs");
}

// ---- Working through relays

template <>
inline constexpr const char* title<RelayGrant> = "relay's grant";
template <>
inline constexpr const char* about<RelayGrant> =
    "payload of a relay-grant statement: a part of a relay's lease";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayGrant>& message) {
  archive("parent", message.parent, Digest{}, "digest of the payload of the statement that it is a part of");
  archive("unit", message.unit, Plain{}, "the relay's number");
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
template <>
inline constexpr const char* about<Delivery> =
    "payload of a delivery statement, by the key of the host that computed the result";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Delivery>& message) {
  archive("project", message.project, Digest{});
  archive("host", message.host);
  archive("unit", message.unit, Plain{}, "as its own grant numbers it");
  archive("problem", message.problem);
  archive("stage", message.stage, stage_number);
  archive("range", message.range);
  archive("digest", message.digest, Digest{}, "of the raw segment");
  archive("bytes", message.bytes, Whole{0, limits::segment_bytes_max}, "raw");
}

template <>
inline constexpr const char* title<Failure> = "failure of a host";
template <>
inline constexpr const char* about<Failure> =
    "payload of a failure statement, by the key of the host whose kernel failed";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Failure>& message) {
  archive("project", message.project, Digest{});
  archive("host", message.host);
  archive("unit", message.unit, Plain{}, "as the relay that it came from numbers it");
  archive("problem", message.problem);
  archive("stage", message.stage, stage_number);
  archive("kind", message.kind);
  archive("item", message.item, Whole{}, "at which the kernel failed");
  archive("message", message.message, Prose{});
  archive("at", message.at, Plain{}, "by the host's clock; each is later than the one before");
}

template <>
inline constexpr const char* title<StageDescription> = "description of a stage";
template <>
inline constexpr const char* about<StageDescription> =
    "a stage as a relay needs it; not signed, since the project's Grant has what hosts compute";
template <typename Archive>
void visit(Archive& archive, Of<Archive, StageDescription>& message) {
  archive("problem", message.problem);
  archive("stage", message.stage, stage_number);
  archive("name", message.name, Text{}, "of the problem");
  archive("manifest", message.manifest, Document{}, "of its application");
  archive("items", message.items, Whole{0, limits::items_max});
  archive("costs", message.costs, Plain{}, "items differ in cost: the path with /costs has the costs");
  archive("weight", message.weight, Number{});
  archive("priority", message.priority, Whole{-1000, 1000});
}

}  // namespace gleaner::protocol::codec
