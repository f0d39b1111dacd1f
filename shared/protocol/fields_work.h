// Field lists of the messages between client and server. As fields_signed.h.
#pragma once

#include "shared/protocol/fields_signed.h"

namespace gleaner::protocol::codec {

template <>
inline constexpr const char* title<Benchmark> = "benchmark";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Benchmark>& message) {
  archive("mflops", message.mflops, Number{}, "Linpack on one idle core");
  archive("measured_at", message.measured_at);
}

template <>
inline constexpr const char* title<HostSpeeds> = "host speeds";
template <>
inline constexpr const char* about<HostSpeeds> = "other measurements of a host";
template <typename Archive>
void visit(Archive& archive, Of<Archive, HostSpeeds>& message) {
  archive("all_cores_mflops", message.all_cores_mflops, Number{},
          "Linpack on every core at once, their sum; 0: unknown");
  archive("memory_bytes_per_second", message.memory_bytes_per_second, Number{},
          "of one core (a STREAM triad); 0: unknown");
  archive("download_bytes_per_second", message.download_bytes_per_second, Number{},
          "median of real transfers; 0: unknown");
  archive("upload_bytes_per_second", message.upload_bytes_per_second, Number{},
          "median of real transfers; 0: unknown");
}

template <>
inline constexpr const char* title<RelayRequest> = "relay";
template <>
inline constexpr const char* about<RelayRequest> = "a relay's part of its enrolment";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayRequest>& message) {
  archive("tls_key", message.tls_key, Digest{},
          "digest of the SubjectPublicKeyInfo (DER) of the key that the relay serves its hosts with");
}

template <>
inline constexpr const char* title<EnrolRequest> = "enrolment";
template <typename Archive>
void visit(Archive& archive, Of<Archive, EnrolRequest>& message) {
  archive("secret", message.secret, Raw{0, limits::name_length_max},
          "from the join code; empty when the host joins through a relay");
  archive("host_key", message.host_key, public_key);
  archive("machine", message.machine, Digest{}, "digest of the machine id: a cloned disk becomes a new host");
  archive("name", message.name, Text{});
  archive("platform", message.platform, Text{}, "for example x86_64-linux");
  archive("cores", message.cores, Whole{1, limits::cores_max});
  archive("memory_bytes", message.memory_bytes, Whole{0, limits::memory_bytes_max});
  archive("client_version", message.client_version, Text{});
  archive("benchmark", message.benchmark);
  archive("relay", message.relay, Plain{}, "the host is a relay and has a code that admits one");
  archive("proof", message.proof, Plain{}, "an Enrolment; required to join");
  archive("copy_of", message.copy_of, Plain{}, "the host that this one is a copy of");
}

template <>
inline constexpr const char* title<EnrolReply> = "enrolment reply";
template <typename Archive>
void visit(Archive& archive, Of<Archive, EnrolReply>& message) {
  archive("host", message.host);
  archive("token", message.token, Text{limits::text_length_max}, "bearer token of every later request");
  archive("certificate", message.certificate, Plain{}, "a relay's RelayCertificate");
}

template <>
inline constexpr const char* title<GivenUnit> = "unit of a relay";
template <>
inline constexpr const char* about<GivenUnit> = "a unit of a relay that the host has lost";
template <typename Archive>
void visit(Archive& archive, Of<Archive, GivenUnit>& message) {
  archive("grant", message.grant, Plain{}, "a RelayGrant");
  archive("lease", message.lease);
}

template <>
inline constexpr const char* title<CommitRequest> = "commit";
template <typename Archive>
void visit(Archive& archive, Of<Archive, CommitRequest>& message) {
  archive("unit", message.unit);
  archive("range", message.range, Plain{}, "starts where the last accepted commit of the unit ended");
  archive("digest", message.digest, Digest{}, "of the raw segment");
  archive("bytes", message.bytes, Whole{0, limits::segment_bytes_max}, "raw");
  archive("data", message.data, Raw{0, limits::inline_segment_bytes_max},
          "the segment, zlib-compressed; absent: it was uploaded");
  archive("compute_seconds", message.compute_seconds, Number{}, "processor time, for display");
  archive("last", message.last, Plain{}, "the unit ends here");
  archive(
      "delivery", message.delivery, Plain{},
      "to or through a relay, or of what a relay gave: a Delivery by the key of the host that computed it");
  archive("given", message.given, Plain{},
          "to the project itself: the grant of a relay that the host has lost");
}

template <>
inline constexpr const char* title<HeldResult> = "held result";
template <>
inline constexpr const char* about<HeldResult> =
    "a result that a relay has stored; the project's acknowledgement follows in a later reply";
template <typename Archive>
void visit(Archive& archive, Of<Archive, HeldResult>& message) {
  archive("unit", message.unit);
  archive("range", message.range);
  archive("digest", message.digest, Digest{}, "as in the CommitRequest");
}

template <>
inline constexpr const char* title<RelayProgress> = "relay's progress";
template <>
inline constexpr const char* about<RelayProgress> =
    "progress of a unit of a relay, whose hosts are anywhere in it";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayProgress>& message) {
  archive("begun", message.begun, Whole{}, "first item of the tail that none of its hosts has or had");
  archive("seconds_left", message.seconds_left, Number{}, "until all of the unit is done");
  archive("rate", message.rate, Number{}, "of all its online hosts, hint units a second; 0: none");
  archive("slots", message.slots, Whole{1, limits::relay_slots_max}, "of all its online hosts");
}

template <>
inline constexpr const char* title<UnitReport> = "unit report";
template <typename Archive>
void visit(Archive& archive, Of<Archive, UnitReport>& message) {
  archive("unit", message.unit);
  archive("finished", message.finished, Whole{}, "first item that is not computed");
  archive("state", message.state);
  archive("reason", message.reason, Prose{}, "why it is paused");
  archive("rate", message.rate, Number{}, "hint units a second over the last minute; 0: unknown, or paused");
  archive("item_seconds", message.item_seconds, Number{}, "spent on the item in progress");
  archive.defaulted("item_share", message.item_share, Number{0, 1},
                    "of that item done, as its kernel reports; 0: unknown");
  archive("running_seconds", message.running_seconds, Number{},
          "spent on the unit, with pauses, without power-off");
  archive("relay", message.relay, Plain{}, "of a relay, for which the other fields do not count");
}

template <>
inline constexpr const char* title<SavedItem> = "saved item";
template <>
inline constexpr const char* about<SavedItem> =
    "a kernel's saved state of its item in progress, for a host that may resume it";
template <typename Archive>
void visit(Archive& archive, Of<Archive, SavedItem>& message) {
  archive("unit", message.unit);
  archive("item", message.item, Whole{});
  archive("share", message.share, Number{0, 1}, "of the item that is done");
  archive("data", message.data, Raw{0, limits::saved_inline_bytes_max}, "zlib-compressed");
}

template <>
inline constexpr const char* title<Instance> = "instance";
template <>
inline constexpr const char* about<Instance> = "one run of a host's program";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Instance>& message) {
  archive("id", message.id, Whole{1}, "drawn anew at each start");
  archive("sequence", message.sequence, Whole{1}, "rises with each request");
}

template <>
inline constexpr const char* title<Readings> = "readings";
template <>
inline constexpr const char* about<Readings> =
    "of the whole computer, kernels and other programs together; absent ones are unknown";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Readings>& message) {
  archive("cpu", message.cpu, Number{0, 1}, "part of its processor time in use since the readings before");
  archive("memory", message.memory, Number{0, 1}, "part of its memory in use");
  archive("celsius", message.celsius, Number{limits::celsius_min, limits::celsius_max},
          "of the hottest sensor with plausible readings");
}

template <>
inline constexpr const char* title<UnitOutput> = "unit output";
template <>
inline constexpr const char* about<UnitOutput> =
    "the last output of the unit's kernel to standard error and its log, while an administrator watches";
template <typename Archive>
void visit(Archive& archive, Of<Archive, UnitOutput>& message) {
  archive("unit", message.unit);
  archive("text", message.text, Document{limits::output_bytes_max});
}

template <>
inline constexpr const char* title<HeartbeatRequest> = "heartbeat";
template <typename Archive>
void visit(Archive& archive, Of<Archive, HeartbeatRequest>& message) {
  archive("units", message.units, List{limits::units_per_host_max});
  archive("saved", message.saved, List{limits::saved_per_heartbeat_max});
  archive("instance", message.instance);
  archive("readings", message.readings, Plain{}, "absent: as before");
  archive("outputs", message.outputs, List{limits::outputs_per_heartbeat_max},
          "that the last reply requested");
}

template <>
inline constexpr const char* title<UnitOrder> = "unit order";
template <typename Archive>
void visit(Archive& archive, Of<Archive, UnitOrder>& message) {
  archive("unit", message.unit);
  archive("action", message.action);
  archive("end", message.end, Whole{}, "of the unit, which may be earlier than before");
  archive("reason", message.reason, Prose{});
}

template <>
inline constexpr const char* title<StageNews> = "stage";
template <>
inline constexpr const char* about<StageNews> = "a problem's present stage, for a relay that has units of it";
template <typename Archive>
void visit(Archive& archive, Of<Archive, StageNews>& message) {
  archive("problem", message.problem);
  archive("stage", message.stage, stage_number);
  archive("seconds", message.seconds, Number{}, "that the whole stage takes; 0: unknown");
  archive("dry", message.dry, Plain{}, "no free items here or above");
}

template <>
inline constexpr const char* title<HeartbeatReply> = "heartbeat reply";
template <typename Archive>
void visit(Archive& archive, Of<Archive, HeartbeatReply>& message) {
  archive("units", message.units, List{limits::units_per_host_max});
  archive("interval_seconds", message.interval_seconds, Number{}, "until the next heartbeat");
  archive("revocations", message.revocations, Whole{},
          "number of the newest RevocationList; absent: there is none");
  archive("acknowledgements", message.acknowledgements, List{limits::segments_per_request_max},
          "of results that a relay held");
  archive("stages", message.stages, List{limits::progress_per_reply_max},
          "of problems of which a relay has units");
  archive("instance", message.instance);
  archive("outputs", message.outputs, List{limits::outputs_per_heartbeat_max},
          "units whose kernels' output the next heartbeat is to have");
}

template <>
inline constexpr const char* title<Proposal> = "proposal";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Proposal>& message) {
  archive("performance", message.performance, Number{}, "unloaded: the benchmark's MFLOP/s");
  archive("queue_unloaded", message.queue_unloaded, Number{}, "runnable foreign jobs + 1 when unloaded");
  archive("queue_current", message.queue_current, Number{}, "runnable foreign jobs + 1 now");
  archive("items", message.items, Number{}, "proposed size of the next unit; 0: unknown");
  archive.defaulted("watts", message.watts, Number{0, limits::watts_max},
                    "that a computing core draws, as the owner says; 0: not said");
}

template <>
inline constexpr const char* title<SlotRequest> = "slot request";
template <typename Archive>
void visit(Archive& archive, Of<Archive, SlotRequest>& message) {
  archive("slot", message.slot, Whole{0, limits::cores_max});
  archive("urgent", message.urgent, Plain{}, "idle now; false: its unit ends soon");
}

template <>
inline constexpr const char* title<ItemBytes> = "bytes of an item";
template <>
inline constexpr const char* about<ItemBytes> =
    "bytes of an item, averaged over the latest that passed a relay";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ItemBytes>& message) {
  archive("down", message.down, Number{}, "bytes of the item's own inputs");
  archive("up", message.up, Number{}, "bytes of its raw result");
}

template <>
inline constexpr const char* title<RelayOffer> = "relay's offer";
template <>
inline constexpr const char* about<RelayOffer> = "resources of all hosts of a relay";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RelayOffer>& message) {
  archive("performance", message.performance, Number{}, "benchmarks of all slots, MFLOP/s");
  archive("rate", message.rate, Number{}, "of online hosts, hint units a second; 0: none has delivered yet");
  archive("slots", message.slots, Whole{1, limits::relay_slots_max}, "of online hosts");
  archive("item", message.item, Plain{}, "absent: no result yet");
}

template <>
inline constexpr const char* title<MeasuredHost> = "measured host";
template <>
inline constexpr const char* about<MeasuredHost> = "measurements of a host under a relay";
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
  archive("commits", message.commits, List{limits::segments_per_relay_request_max},
          "handled before anything else");
  archive("units", message.units, List{limits::units_per_host_max}, "a work request is a heartbeat too");
  archive("slots", message.slots, List{limits::units_per_request_max},
          "each gets one unit, if there is work");
  archive("platforms", message.platforms, List{limits::platforms_max, Text{}},
          "that the host can execute, best first");
  archive("memory_bytes", message.memory_bytes, Whole{0, limits::memory_bytes_max},
          "that kernels may use together");
  archive("cores", message.cores, Whole{0, limits::cores_max}, "that kernels may use together");
  archive("proposal", message.proposal);
  archive("benchmark", message.benchmark);
  archive("applications", message.applications, List{limits::applications_permitted_max, Text{}},
          "names of the only applications that the owner permits; absent: any");
  archive("speeds", message.speeds, Plain{}, "absent: as before");
  archive.defaulted("proofs", message.proofs, Plain{}, "one signature may cover the whole reply");
  archive("contexts", message.contexts, List{limits::contexts_per_request_max, Digest{}},
          "digests of the GrantContexts that the client has; absent: grants must be complete");
  archive("relay", message.relay, Plain{}, "of a relay, which requests one unit at a time");
  archive("measured", message.measured, List{limits::measured_per_request_max},
          "of a relay: hosts under it with new measurements");
  archive("trouble", message.trouble, Text{},
          "of a relay: why it, or a relay under it, cannot store results; it returns the units that it does "
          "not name");
  archive("instance", message.instance);
  archive("cpu_share", message.cpu_share, Number{0, 1}, "of each core that the owner lends; absent: all");
  archive("readings", message.readings, Plain{}, "absent: as before");
  archive.defaulted("capabilities", message.capabilities, List{limits::capabilities_max, Text{}},
                    "software that kernels find on the host, such as \"python 3.11\"; absent: nothing");
}

template <>
inline constexpr const char* title<ProblemProgress> = "progress";
template <>
inline constexpr const char* about<ProblemProgress> = "progress of a problem's present stage";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ProblemProgress>& message) {
  archive("problem", message.problem);
  archive("items", message.items, Whole{});
  archive("accepted", message.accepted, Whole{}, "items");
  archive("hosts", message.hosts, Whole{}, "with accepted items");
  archive.defaulted("done", message.done, Number{-1, 1}, "of the whole problem, by cost; negative: unknown");
}

template <>
inline constexpr const char* title<WorkReply> = "work reply";
template <typename Archive>
void visit(Archive& archive, Of<Archive, WorkReply>& message) {
  archive("acknowledgements", message.acknowledgements, List{limits::segments_per_relay_request_max});
  archive("units", message.units, List{limits::units_per_host_max});
  archive("grants", message.grants, List{limits::units_per_request_max}, "Grant or RelayGrant statements");
  archive("grant_slots", message.grant_slots,
          List{limits::units_per_request_max, Whole{0, limits::cores_max}}, "slot of each grant");
  archive.require(message.grants.size() == message.grant_slots.size(),
                  "expected one grant slot for each grant");
  archive("retry_after_seconds", message.retry_after_seconds, Number{}, "for slots that got nothing");
  archive("interval_seconds", message.interval_seconds, Number{}, "until the next heartbeat");
  archive("slowest_performance", message.slowest_performance, Number{},
          "MFLOP/s of the project's slowest host; 0: unknown");
  archive("reason", message.reason, Prose{}, "why some slots got nothing");
  archive("progress", message.progress, List{limits::progress_per_reply_max},
          "of the problems of the host's units, for display");
  archive("revocations", message.revocations, Whole{},
          "number of the newest RevocationList; absent: there is none");
  archive("leases", message.leases, List{limits::units_per_request_max},
          "for grants that a relay signed: each names the digest of the second statement of one of them");
  archive("held", message.held, List{limits::segments_per_relay_request_max},
          "commits of the request that a relay has stored");
  archive("stages", message.stages, List{limits::progress_per_reply_max},
          "of problems of which a relay has units");
  archive(
      "put_out", message.put_out, List{limits::put_out_per_reply_max},
      "hosts under the relay that the project serves no longer, until the relay reports that they have left");
  archive("instance", message.instance);
}

template <>
inline constexpr const char* title<FailureReport> = "failure report";
template <typename Archive>
void visit(Archive& archive, Of<Archive, FailureReport>& message) {
  archive("unit", message.unit);
  archive("kind", message.kind);
  archive("item", message.item, Whole{}, "at which the kernel failed");
  archive("message", message.message, Prose{});
  archive("statement", message.statement, Plain{},
          "to or through a relay: a Failure by the key of the host whose kernel failed");
}

template <>
inline constexpr const char* title<PutRequest> = "request for addresses";
template <typename Archive>
void visit(Archive& archive, Of<Archive, PutRequest>& message) {
  archive("bytes", message.bytes, Whole{0, limits::segment_bytes_max}, "of the whole blob");
}

template <>
inline constexpr const char* title<UploadState> = "upload state";
template <typename Archive>
void visit(Archive& archive, Of<Archive, UploadState>& message) {
  archive("digest", message.digest, Digest{});
  archive("offset", message.offset, Whole{0, limits::blob_bytes_max}, "raw bytes that are stored");
  archive("complete", message.complete);
}

template <>
inline constexpr const char* title<ProblemDocument> = "problem document";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ProblemDocument>& message) {
  archive("type", message.type, Text{limits::text_length_max}, "urn:gleaner:error:NAME");
  archive("title", message.title, Text{limits::text_length_max});
  archive("status", message.status, Whole{100, 599});
  archive("detail", message.detail, Prose{}, "the error and the remedy");
}

}  // namespace gleaner::protocol::codec
