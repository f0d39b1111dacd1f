// Field lists of the signed statements and what they carry: each message once, for reading and writing.
// The JSON names equal the struct's. Internal to this module (and its tests).
#pragma once

#include "shared/protocol/field_kinds.h"

namespace gleaner::protocol::codec {

inline constexpr Raw public_key{32, 32};
inline constexpr Raw signature{64, 64};
inline constexpr Whole stage_number{0, limits::stages_max};
inline constexpr Whole period_seconds{0, 86'400};

template <>
inline constexpr const char* title<SignedStatement> = "signed statement";
template <typename Archive>
void visit(Archive& archive, Of<Archive, SignedStatement>& message) {
  archive("type", message.type);
  archive("payload", message.payload, Raw{0, limits::json_message_bytes_max});
  archive("key", message.key, public_key);
  archive("signature", message.signature, signature);
  archive("proof", message.proof, Raw{0, limits::proof_bytes_max});
  archive("context", message.context, Raw{0, limits::json_message_bytes_max});
}

template <>
inline constexpr const char* title<KeyCertificate> = "key certificate";
template <typename Archive>
void visit(Archive& archive, Of<Archive, KeyCertificate>& message) {
  archive("project", message.project, Digest{});
  archive("key", message.key, public_key);
  archive("name", message.name, Text{});
  archive("not_before", message.not_before);
  archive("not_after", message.not_after);
}

template <>
inline constexpr const char* title<RevokedKey> = "revoked key";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RevokedKey>& message) {
  archive("key", message.key, public_key);
  archive("reason", message.reason, Text{limits::revocation_reason_length_max});
}

template <>
inline constexpr const char* title<RevokedTlsKey> = "revoked TLS key";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RevokedTlsKey>& message) {
  archive("digest", message.digest, Digest{});
  archive("reason", message.reason, Text{limits::revocation_reason_length_max});
}

template <>
inline constexpr const char* title<RevokedArchive> = "revoked application";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RevokedArchive>& message) {
  archive("archive", message.archive, Digest{});
  archive("reason", message.reason, Text{limits::revocation_reason_length_max});
}

template <>
inline constexpr const char* title<MinimumVersion> = "minimum version";
template <typename Archive>
void visit(Archive& archive, Of<Archive, MinimumVersion>& message) {
  archive("application", message.application, Text{});
  archive("application_version", message.version, Text{});  // "version" is the protocol's
  archive("reason", message.reason, Text{limits::revocation_reason_length_max});
}

template <>
inline constexpr const char* title<RevocationList> = "revocation list";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RevocationList>& message) {
  archive("project", message.project, Digest{});
  archive("number", message.number, Whole{1, limits::items_max});
  archive("issued_at", message.issued_at);
  archive("keys", message.keys, List{limits::revoked_keys_max});
  archive("tls_keys", message.tls_keys, List{limits::revoked_keys_max});
  archive("applications", message.applications, List{limits::revoked_applications_max});
  archive("minimum_versions", message.minimum_versions, List{limits::revoked_applications_max});
}

template <>
inline constexpr const char* title<ProjectDocument> = "project document";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ProjectDocument>& message) {
  archive("project", message.project, Digest{});
  archive("name", message.name, Text{});
  archive("root_key", message.root_key, public_key);
  archive("work_certificate", message.work_certificate);
  archive("signer_certificates", message.signer_certificates, List{limits::signers_max});
  archive("heartbeat_seconds", message.heartbeat_seconds, period_seconds);
  archive("commit_seconds", message.commit_seconds, period_seconds);
  archive("issued_at", message.issued_at);
  archive("revocations", message.revocations);
  archive("former_work_certificates", message.former_work_certificates, List{limits::former_work_keys_max});
}

template <>
inline constexpr const char* title<ApplicationStatement> = "application statement";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ApplicationStatement>& message) {
  archive("project", message.project, Digest{});
  archive("name", message.name, Text{});
  archive("application_version", message.version, Text{});  // "version" is the protocol's
  archive("archive", message.archive, Digest{});
  archive("archive_bytes", message.archive_bytes, Whole{0, limits::bundle_bytes_max});
  archive("signed_at", message.signed_at);
}

template <>
inline constexpr const char* title<Input> = "input";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Input>& message) {
  archive("name", message.name, Text{limits::file_name_length_max});
  archive("digest", message.digest, Digest{});
  archive("bytes", message.bytes, Whole{0, limits::blob_bytes_max});
  archive("range", message.range);
}

template <>
inline constexpr const char* title<BegunItem> = "begun item";
template <typename Archive>
void visit(Archive& archive, Of<Archive, BegunItem>& message) {
  archive("share", message.share, Number{0, 1});
  archive("data", message.data, Raw{0, limits::saved_inline_bytes_max});
}

template <>
inline constexpr const char* title<GrantContext> = "context of grants";
template <typename Archive>
void visit(Archive& archive, Of<Archive, GrantContext>& message) {
  archive("problem", message.problem);
  archive("application", message.application);
  archive("signer", message.signer);
  archive("parameters", message.parameters, Document{});
}

template <>
inline constexpr const char* title<Grant> = "grant";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Grant>& message) {
  archive("unit", message.unit);
  archive("host", message.host);
  archive("problem", message.problem);
  archive("problem_name", message.problem_name, Text{});
  archive("stage", message.stage, stage_number);
  archive("range", message.range);
  archive("context", message.context, Digest{});
  if (!message.context) {
    archive("application", message.application);
    archive("signer", message.signer);
    archive("parameters", message.parameters, Document{});
    archive("parameters_digest", message.parameters_digest, Digest{});
  }
  archive("inputs", message.inputs, List{limits::inputs_max});
  archive("begun", message.begun);
  archive("cost", message.cost, Number{});
  archive("commit_seconds", message.commit_seconds, period_seconds);
  archive("issued_at", message.issued_at);
  archive("deadline", message.deadline);
  archive("reason", message.reason, Prose{});
  archive("direct", message.direct);
}

template <>
inline constexpr const char* title<LeaseChain> = "chain of a lease";
template <typename Archive>
void visit(Archive& archive, Of<Archive, LeaseChain>& message) {
  archive("statements", message.statements, List{limits::lease_statements_max});
}

template <>
inline constexpr const char* title<BlobAddress> = "address of a blob";
template <typename Archive>
void visit(Archive& archive, Of<Archive, BlobAddress>& message) {
  archive("host", message.host);
  archive("digest", message.digest, Digest{});
  archive("address", message.address, Text{limits::address_length_max});
  archive("ends_at", message.ends_at);
}

template <>
inline constexpr const char* title<PartAddress> = "address of a part";
template <typename Archive>
void visit(Archive& archive, Of<Archive, PartAddress>& message) {
  archive("offset", message.offset, Whole{0, limits::segment_bytes_max});
  archive("bytes", message.bytes, Whole{0, limits::segment_bytes_max});
  archive("address", message.address, Text{limits::address_length_max});
}

template <>
inline constexpr const char* title<PutAddresses> = "addresses of an upload";
template <typename Archive>
void visit(Archive& archive, Of<Archive, PutAddresses>& message) {
  archive("host", message.host);
  archive("digest", message.digest, Digest{});
  archive("bytes", message.bytes, Whole{0, limits::segment_bytes_max});
  archive("parts", message.parts, List{limits::parts_per_upload_max});
  archive("ends_at", message.ends_at);
}

template <>
inline constexpr const char* title<Acknowledgement> = "acknowledgement";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Acknowledgement>& message) {
  archive("unit", message.unit);
  archive("host", message.host);
  archive("range", message.range);
  archive("digest", message.digest, Digest{});
  archive("status", message.status);
  archive("reason", message.reason, Prose{});
  archive("items_accepted", message.items_accepted, Whole{});
  archive("at", message.at);
}

}  // namespace gleaner::protocol::codec
