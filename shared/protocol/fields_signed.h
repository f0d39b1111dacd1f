// Field lists of the signed statements and what they carry: each message once, for reading and writing.
// The JSON names equal the struct's; the kind bounds the value; the text says what it means, for readers of
// the published form (tools/wire), where name, type and bounds do not. Internal to this module, its tests and
// tools/wire.
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
  archive("payload", message.payload, Raw{0, limits::json_message_bytes_max},
          "JSON text; the signature covers `gleaner-1`, the type and this, each on a line");
  archive("key", message.key, public_key, "public key of the signer");
  archive("signature", message.signature, signature);
  archive("proof", message.proof, Raw{0, limits::proof_bytes_max},
          "33 bytes a level of the hash tree whose root is signed: the side of the other digest (L or R), "
          "and that digest");
  archive("context", message.context, Raw{0, limits::json_message_bytes_max},
          "of a grant that names one: the text of its GrantContext");
}

template <>
inline constexpr const char* title<KeyCertificate> = "key certificate";
template <typename Archive>
void visit(Archive& archive, Of<Archive, KeyCertificate>& message) {
  archive("project", message.project, Digest{}, "digest of the root key");
  archive("key", message.key, public_key);
  archive("name", message.name, Text{}, "`work`, or the signer's name");
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
  archive("digest", message.digest, Digest{}, "of the key's SubjectPublicKeyInfo (DER)");
  archive("reason", message.reason, Text{limits::revocation_reason_length_max});
}

template <>
inline constexpr const char* title<RevokedArchive> = "revoked application";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RevokedArchive>& message) {
  archive("archive", message.archive, Digest{}, "digest of the packed bundle");
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
template <>
inline constexpr const char* about<RevocationList> =
    "everything that the root key has revoked; of two lists the one with the higher number holds";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RevocationList>& message) {
  archive("project", message.project, Digest{});
  archive("number", message.number, Whole{1, limits::items_max}, "of two lists the higher number holds");
  archive("issued_at", message.issued_at);
  archive("keys", message.keys, List{limits::revoked_keys_max},
          "public halves of work keys and of signers' keys");
  archive("tls_keys", message.tls_keys, List{limits::revoked_keys_max});
  archive("applications", message.applications, List{limits::revoked_applications_max});
  archive("minimum_versions", message.minimum_versions, List{limits::revoked_applications_max},
          "every lower version of the application is revoked");
}

template <>
inline constexpr const char* title<ProjectDocument> = "project document";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ProjectDocument>& message) {
  archive("project", message.project, Digest{});
  archive("name", message.name, Text{});
  archive("root_key", message.root_key, public_key, "the join code has its fingerprint");
  archive("work_certificate", message.work_certificate);
  archive("signer_certificates", message.signer_certificates, List{limits::signers_max});
  archive("heartbeat_seconds", message.heartbeat_seconds, period_seconds);
  archive("commit_seconds", message.commit_seconds, period_seconds);
  archive("issued_at", message.issued_at);
  archive("revocations", message.revocations, Plain{},
          "a RevocationList by the root key; absent: nothing was ever revoked");
  archive("former_work_certificates", message.former_work_certificates, List{limits::former_work_keys_max},
          "of work keys that the present one has replaced; what they granted stays valid");
}

template <>
inline constexpr const char* title<ApplicationStatement> = "application statement";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ApplicationStatement>& message) {
  archive("project", message.project, Digest{});
  archive("name", message.name, Text{});
  archive("application_version", message.version, Text{});  // "version" is the protocol's
  archive("archive", message.archive, Digest{}, "digest of the packed bundle");
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
  archive("range", message.range, Plain{}, "only units that overlap it need the input; absent: all do");
}

template <>
inline constexpr const char* title<BegunItem> = "begun item";
template <>
inline constexpr const char* about<BegunItem> = "the unit's first item as another host left it";
template <typename Archive>
void visit(Archive& archive, Of<Archive, BegunItem>& message) {
  archive("share", message.share, Number{0, 1}, "of the item that is done");
  archive("data", message.data, Raw{0, limits::saved_inline_bytes_max},
          "saved state of the other host's kernel, zlib-compressed");
}

template <>
inline constexpr const char* title<GrantContext> = "context of grants";
template <>
inline constexpr const char* about<GrantContext> =
    "fields that all grants of a problem share; sent to a host once";
template <typename Archive>
void visit(Archive& archive, Of<Archive, GrantContext>& message) {
  archive("problem", message.problem);
  archive("application", message.application, Plain{}, "an ApplicationStatement");
  archive("signer", message.signer, Plain{}, "the KeyCertificate of its signer");
  archive("parameters", message.parameters, Document{}, "JSON text");
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
  archive("context", message.context, Digest{},
          "digest of the GrantContext, which replaces the next four fields");
  if (!message.context) {
    archive("application", message.application);
    archive("signer", message.signer);
    archive("parameters", message.parameters, Document{});
    archive("parameters_digest", message.parameters_digest, Digest{});
  }
  archive("inputs", message.inputs, List{limits::inputs_max});
  archive("begun", message.begun);
  archive("cost", message.cost, Number{}, "hint units in the range");
  archive("commit_seconds", message.commit_seconds, period_seconds);
  archive("issued_at", message.issued_at);
  archive("deadline", message.deadline, Plain{},
          "the lease ends then; a later result is still welcome while it is of use");
  archive("reason", message.reason, Prose{}, "why this size, in one sentence");
  archive("direct", message.direct, Plain{},
          "blobs are in an object store, and a host may request addresses there");
}

template <>
inline constexpr const char* title<LeaseChain> = "chain of a lease";
template <>
inline constexpr const char* about<LeaseChain> =
    "proof of a relay's grant: certificates and grants in turn, up to the project's Grant";
template <typename Archive>
void visit(Archive& archive, Of<Archive, LeaseChain>& message) {
  archive("statements", message.statements, List{limits::lease_statements_max});
}

template <>
inline constexpr const char* title<BlobAddress> = "address of a blob";
template <>
inline constexpr const char* about<BlobAddress> = "where a blob is in the object store";
template <typename Archive>
void visit(Archive& archive, Of<Archive, BlobAddress>& message) {
  archive("host", message.host, Plain{}, "that requested it");
  archive("digest", message.digest, Digest{});
  archive("address", message.address, Text{limits::address_length_max});
  archive("ends_at", message.ends_at, Plain{}, "the store refuses the address afterwards");
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
template <>
inline constexpr const char* about<PutAddresses> =
    "missing parts of an upload, and where in the object store to put them";
template <typename Archive>
void visit(Archive& archive, Of<Archive, PutAddresses>& message) {
  archive("host", message.host, Plain{}, "that requested them");
  archive("digest", message.digest, Digest{});
  archive("bytes", message.bytes, Whole{0, limits::segment_bytes_max}, "of the whole blob");
  archive("parts", message.parts, List{limits::parts_per_upload_max},
          "that are missing; none: the upload is complete");
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
  archive("items_accepted", message.items_accepted, Whole{}, "for which the host is credited");
  archive("at", message.at);
}

}  // namespace gleaner::protocol::codec
