// Field lists of the messages between client and server. As fields_signed.h.
#pragma once

#include "shared/protocol/fields_signed.h"

namespace gleaner::protocol::codec {

template <>
inline constexpr const char* title<Benchmark> = "benchmark";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Benchmark>& message) {
  archive("mflops", message.mflops, Number{});
  archive("measured_at", message.measured_at);
}

template <>
inline constexpr const char* title<HostSpeeds> = "host speeds";
template <typename Archive>
void visit(Archive& archive, Of<Archive, HostSpeeds>& message) {
  archive("all_cores_mflops", message.all_cores_mflops, Number{});
  archive("memory_bytes_per_second", message.memory_bytes_per_second, Number{});
  archive("download_bytes_per_second", message.download_bytes_per_second, Number{});
  archive("upload_bytes_per_second", message.upload_bytes_per_second, Number{});
}

template <>
inline constexpr const char* title<RelayRequest> = "relay";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayRequest>& message) {
  archive("tls_key", message.tls_key, Digest{});
}

template <>
inline constexpr const char* title<EnrolRequest> = "enrolment";
template <typename Archive>
void visit(Archive& archive, Of<Archive, EnrolRequest>& message) {
  archive("secret", message.secret, Raw{0, limits::name_length_max});
  archive("host_key", message.host_key, public_key);
  archive("machine", message.machine, Digest{});
  archive("name", message.name, Text{});
  archive("platform", message.platform, Text{});
  archive("cores", message.cores, Whole{1, limits::cores_max});
  archive("memory_bytes", message.memory_bytes, Whole{0, limits::memory_bytes_max});
  archive("client_version", message.client_version, Text{});
  archive("benchmark", message.benchmark);
  archive("relay", message.relay);
  archive("proof", message.proof);
  archive("copy_of", message.copy_of);
}

template <>
inline constexpr const char* title<EnrolReply> = "enrolment reply";
template <typename Archive>
void visit(Archive& archive, Of<Archive, EnrolReply>& message) {
  archive("host", message.host);
  archive("token", message.token, Text{limits::text_length_max});
  archive("certificate", message.certificate);
}

template <>
inline constexpr const char* title<GivenUnit> = "unit of a relay";
template <typename Archive>
void visit(Archive& archive, Of<Archive, GivenUnit>& message) {
  archive("grant", message.grant);
  archive("lease", message.lease);
}

template <>
inline constexpr const char* title<CommitRequest> = "commit";
template <typename Archive>
void visit(Archive& archive, Of<Archive, CommitRequest>& message) {
  archive("unit", message.unit);
  archive("range", message.range);
  archive("digest", message.digest, Digest{});
  archive("bytes", message.bytes, Whole{0, limits::segment_bytes_max});
  archive("data", message.data, Raw{0, limits::inline_segment_bytes_max});
  archive("compute_seconds", message.compute_seconds, Number{});
  archive("last", message.last);
  archive("delivery", message.delivery);
  archive("given", message.given);
}

template <>
inline constexpr const char* title<HeldResult> = "held result";
template <typename Archive>
void visit(Archive& archive, Of<Archive, HeldResult>& message) {
  archive("unit", message.unit);
  archive("range", message.range);
  archive("digest", message.digest, Digest{});
}

template <>
inline constexpr const char* title<RelayProgress> = "relay's progress";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayProgress>& message) {
  archive("begun", message.begun, Whole{});
  archive("seconds_left", message.seconds_left, Number{});
  archive("rate", message.rate, Number{});
  archive("slots", message.slots, Whole{1, limits::relay_slots_max});
}

template <>
inline constexpr const char* title<UnitReport> = "unit report";
template <typename Archive>
void visit(Archive& archive, Of<Archive, UnitReport>& message) {
  archive("unit", message.unit);
  archive("finished", message.finished, Whole{});
  archive("state", message.state);
  archive("reason", message.reason, Prose{});
  archive("rate", message.rate, Number{});
  archive("item_seconds", message.item_seconds, Number{});
  archive.defaulted("item_share", message.item_share, Number{0, 1});
  archive("running_seconds", message.running_seconds, Number{});
  archive("relay", message.relay);
}

template <>
inline constexpr const char* title<SavedItem> = "saved item";
template <typename Archive>
void visit(Archive& archive, Of<Archive, SavedItem>& message) {
  archive("unit", message.unit);
  archive("item", message.item, Whole{});
  archive("share", message.share, Number{0, 1});
  archive("data", message.data, Raw{0, limits::saved_inline_bytes_max});
}

template <>
inline constexpr const char* title<Instance> = "instance";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Instance>& message) {
  archive("id", message.id, Whole{1});
  archive("sequence", message.sequence, Whole{1});
}

template <>
inline constexpr const char* title<HeartbeatRequest> = "heartbeat";
template <typename Archive>
void visit(Archive& archive, Of<Archive, HeartbeatRequest>& message) {
  archive("units", message.units, List{limits::units_per_host_max});
  archive("saved", message.saved, List{limits::saved_per_heartbeat_max});
  archive("instance", message.instance);
}

template <>
inline constexpr const char* title<UnitOrder> = "unit order";
template <typename Archive>
void visit(Archive& archive, Of<Archive, UnitOrder>& message) {
  archive("unit", message.unit);
  archive("action", message.action);
  archive("end", message.end, Whole{});
  archive("reason", message.reason, Prose{});
}

template <>
inline constexpr const char* title<StageNews> = "stage";
template <typename Archive>
void visit(Archive& archive, Of<Archive, StageNews>& message) {
  archive("problem", message.problem);
  archive("stage", message.stage, stage_number);
  archive("seconds", message.seconds, Number{});
  archive("dry", message.dry);
}

template <>
inline constexpr const char* title<HeartbeatReply> = "heartbeat reply";
template <typename Archive>
void visit(Archive& archive, Of<Archive, HeartbeatReply>& message) {
  archive("units", message.units, List{limits::units_per_host_max});
  archive("interval_seconds", message.interval_seconds, Number{});
  archive("revocations", message.revocations, Whole{});
  archive("acknowledgements", message.acknowledgements, List{limits::segments_per_request_max});
  archive("stages", message.stages, List{limits::progress_per_reply_max});
  archive("instance", message.instance);
}

template <>
inline constexpr const char* title<Proposal> = "proposal";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Proposal>& message) {
  archive("performance", message.performance, Number{});
  archive("queue_unloaded", message.queue_unloaded, Number{});
  archive("queue_current", message.queue_current, Number{});
  archive("items", message.items, Number{});
  archive.defaulted("watts", message.watts, Number{0, limits::watts_max});
}

template <>
inline constexpr const char* title<SlotRequest> = "slot request";
template <typename Archive>
void visit(Archive& archive, Of<Archive, SlotRequest>& message) {
  archive("slot", message.slot, Whole{0, limits::cores_max});
  archive("urgent", message.urgent);
}

template <>
inline constexpr const char* title<ItemBytes> = "bytes of an item";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ItemBytes>& message) {
  archive("down", message.down, Number{});
  archive("up", message.up, Number{});
}

template <>
inline constexpr const char* title<RelayOffer> = "relay's offer";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayOffer>& message) {
  archive("performance", message.performance, Number{});
  archive("rate", message.rate, Number{});
  archive("slots", message.slots, Whole{1, limits::relay_slots_max});
  archive("item", message.item);
}

template <>
inline constexpr const char* title<MeasuredHost> = "measured host";
template <typename Archive>
void visit(Archive& archive, Of<Archive, MeasuredHost>& message) {
  archive("host", message.host);
  archive("benchmark", message.benchmark);
  archive("speeds", message.speeds);
}

template <>
inline constexpr const char* title<WorkRequest> = "work request";
template <typename Archive>
void visit(Archive& archive, Of<Archive, WorkRequest>& message) {
  archive("commits", message.commits, List{limits::segments_per_relay_request_max});
  archive("units", message.units, List{limits::units_per_host_max});
  archive("slots", message.slots, List{limits::units_per_request_max});
  archive("platforms", message.platforms, List{limits::platforms_max, Text{}});
  archive("memory_bytes", message.memory_bytes, Whole{0, limits::memory_bytes_max});
  archive("cores", message.cores, Whole{0, limits::cores_max});
  archive("proposal", message.proposal);
  archive("benchmark", message.benchmark);
  archive("applications", message.applications, List{limits::applications_permitted_max, Text{}});
  archive("speeds", message.speeds);
  archive.defaulted("proofs", message.proofs);
  archive("contexts", message.contexts, List{limits::contexts_per_request_max, Digest{}});
  archive("relay", message.relay);
  archive("measured", message.measured, List{limits::measured_per_request_max});
  archive("trouble", message.trouble, Text{});
  archive("instance", message.instance);
}

template <>
inline constexpr const char* title<ProblemProgress> = "progress";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ProblemProgress>& message) {
  archive("problem", message.problem);
  archive("items", message.items, Whole{});
  archive("accepted", message.accepted, Whole{});
  archive("hosts", message.hosts, Whole{});
  archive.defaulted("done", message.done, Number{-1, 1});
}

template <>
inline constexpr const char* title<WorkReply> = "work reply";
template <typename Archive>
void visit(Archive& archive, Of<Archive, WorkReply>& message) {
  archive("acknowledgements", message.acknowledgements, List{limits::segments_per_relay_request_max});
  archive("units", message.units, List{limits::units_per_host_max});
  archive("grants", message.grants, List{limits::units_per_request_max});
  archive("grant_slots", message.grant_slots,
          List{limits::units_per_request_max, Whole{0, limits::cores_max}});
  archive.require(message.grants.size() == message.grant_slots.size(),
                  "expected one grant slot for each grant");
  archive("retry_after_seconds", message.retry_after_seconds, Number{});
  archive("interval_seconds", message.interval_seconds, Number{});
  archive("slowest_performance", message.slowest_performance, Number{});
  archive("reason", message.reason, Prose{});
  archive("progress", message.progress, List{limits::progress_per_reply_max});
  archive("revocations", message.revocations, Whole{});
  archive("leases", message.leases, List{limits::units_per_request_max});
  archive("held", message.held, List{limits::segments_per_relay_request_max});
  archive("stages", message.stages, List{limits::progress_per_reply_max});
  archive("put_out", message.put_out, List{limits::put_out_per_reply_max});
  archive("instance", message.instance);
}

template <>
inline constexpr const char* title<FailureReport> = "failure report";
template <typename Archive>
void visit(Archive& archive, Of<Archive, FailureReport>& message) {
  archive("unit", message.unit);
  archive("kind", message.kind);
  archive("item", message.item, Whole{});
  archive("message", message.message, Prose{});
  archive("statement", message.statement);
}

template <>
inline constexpr const char* title<PutRequest> = "request for addresses";
template <typename Archive>
void visit(Archive& archive, Of<Archive, PutRequest>& message) {
  archive("bytes", message.bytes, Whole{0, limits::segment_bytes_max});
}

template <>
inline constexpr const char* title<UploadState> = "upload state";
template <typename Archive>
void visit(Archive& archive, Of<Archive, UploadState>& message) {
  archive("digest", message.digest, Digest{});
  archive("offset", message.offset, Whole{0, limits::blob_bytes_max});
  archive("complete", message.complete);
}

template <>
inline constexpr const char* title<ProblemDocument> = "problem document";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ProblemDocument>& message) {
  archive("type", message.type, Text{limits::text_length_max});
  archive("title", message.title, Text{limits::text_length_max});
  archive("status", message.status, Whole{100, 599});
  archive("detail", message.detail, Prose{});
}

}  // namespace gleaner::protocol::codec
