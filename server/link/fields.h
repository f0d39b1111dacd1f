// Field lists of the link's messages, as the wire's have them (shared/protocol/fields_work.h); the form is
// Packer's. Internal to this module.
#pragma once

#include "server/link/frame.h"
#include "server/link/messages.h"
#include "shared/protocol/fields_admin.h"
#include "shared/protocol/fields_work.h"

namespace gleaner::protocol::codec {

inline constexpr Raw any_text{0, static_cast<std::size_t>(link::frame_bytes_max)};
inline constexpr List header_fields{200};

template <>
inline constexpr int count_of<ErrorKind> = 11;

template <typename Archive>
void visit(Archive& archive, Of<Archive, Error>& error) {
  archive("kind", error.kind);
  archive("message", error.message, any_text);
}

template <typename Archive>
void visit(Archive& archive, Of<Archive, http::Request>& request) {
  archive("method", request.method, any_text);
  archive("path", request.path, any_text);
  archive("query", request.query, header_fields);
  archive("headers", request.headers, header_fields);
  archive("body", request.body, any_text);
  archive("peer", request.peer, any_text);
  archive("network", request.network, any_text);
}

template <typename Archive>
void visit(Archive& archive, Of<Archive, http::Response>& response) {
  archive("status", response.status, Whole{100, 599});
  archive("headers", response.headers, header_fields);
  archive("body", response.body, any_text);
}

template <typename Archive>
void visit(Archive& archive, Of<Archive, link::Hello>& message) {
  archive("version", message.version);
  archive("project", message.project);
}

template <typename Archive>
void visit(Archive& archive, Of<Archive, link::Caller>& caller) {
  archive("token", caller.token);
  archive("peer", caller.peer);
  archive("network", caller.network);
}

template <typename Archive>
void visit(Archive& archive, Of<Archive, link::WhoAnswer>& message) {
  archive("host", message.host);
  archive("proven", message.proven);
}

template <typename Archive>
void visit(Archive& archive, Of<Archive, link::PlaceCall>& call) {
  archive("caller", call.caller);
  archive("unit", call.unit);
}

template <typename Archive>
void visit(Archive& archive, Of<Archive, link::PlaceAnswer>& message) {
  archive("problem", message.problem);
  archive("stage", message.stage, stage_number);
  archive("item_bytes_max", message.item_bytes_max, Whole{0, limits::item_bytes_max});
  archive("archive", message.archive, Digest{});
  archive("program", message.program, any_text);
  archive("parameters", message.parameters, Document{});
  archive("inputs", message.inputs, List{limits::inputs_max});
  archive("application", message.application);
}

template <typename Archive>
void visit(Archive& archive, Of<Archive, link::Verdict>& verdict) {
  archive("problem", verdict.problem);
  archive("stage", verdict.stage, stage_number);
  archive("enough", verdict.enough);
  archive("refusal", verdict.refusal);
  archive("bytes", verdict.bytes);
}

template <typename Archive>
void visit(Archive& archive, Of<Archive, link::WorkCall>& call) {
  archive("caller", call.caller);
  archive("request", call.request);
  archive("verdicts", call.verdicts, List{limits::segments_per_request_max});
  archive.require(call.verdicts.size() == call.request.commits.size(), "expected a verdict on each commit");
}

template <typename Archive>
void visit(Archive& archive, Of<Archive, link::WorkAnswer::Unit>& unit) {
  archive("unit", unit.unit);
  archive("problem", unit.problem);
  archive("stage", unit.stage, stage_number);
  archive("inputs", unit.inputs, Whole{});
}

template <typename Archive>
void visit(Archive& archive, Of<Archive, link::WorkAnswer>& message) {
  archive("reply", message.reply);
  archive("units", message.units, List{limits::units_per_request_max});
}

template <typename Archive>
void visit(Archive& archive, Of<Archive, link::HeartbeatCall>& call) {
  archive("caller", call.caller);
  archive("request", call.request);
}

template <typename Archive>
void visit(Archive& archive, Of<Archive, link::FailureCall>& call) {
  archive("caller", call.caller);
  archive("report", call.report);
}

template <typename Archive>
void visit(Archive& archive, Of<Archive, link::BlobCall>& call) {
  archive("digest", call.digest);
  archive("offset", call.offset, Whole{0, limits::blob_bytes_max});
}

template <typename Archive>
void visit(Archive& archive, Of<Archive, link::BlobAnswer>& message) {
  archive("size", message.size, Whole{0, limits::blob_bytes_max});
  archive("bytes", message.bytes);
}

}  // namespace gleaner::protocol::codec
