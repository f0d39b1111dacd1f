// The fields of access_messages.h, as fields_admin.h has those of admin_messages.h.
#pragma once

#include "shared/protocol/access_messages.h"
#include "shared/protocol/field_kinds.h"

namespace gleaner::protocol::codec {

template <>
inline constexpr int count_of<Role> = 3;

template <>
inline constexpr const char* title<TokenInfo> = "admin token";
template <typename Archive>
void visit(Archive& archive, Of<Archive, TokenInfo>& message) {
  archive("name", message.name, Text{});
  archive("role", message.role);
  archive("state", message.state, Text{});
  archive("made_at", message.made_at);
  archive("expires_at", message.expires_at);
  archive("withdrawn_at", message.withdrawn_at);
  archive.defaulted("made_by", message.made_by, Text{});
}

template <>
inline constexpr const char* title<WithdrawToken> = "withdrawal of an admin token";
template <typename Archive>
void visit(Archive& archive, Of<Archive, WithdrawToken>& message) {
  archive.defaulted("with_made", message.with_made);
}

template <>
inline constexpr const char* title<AddToken> = "new admin token";
template <typename Archive>
void visit(Archive& archive, Of<Archive, AddToken>& message) {
  archive("name", message.name, Text{});
  archive("role", message.role);
  archive.defaulted("lifetime_seconds", message.lifetime_seconds, Whole{0, limits::code_seconds_max});
}

template <>
inline constexpr const char* title<MadeToken> = "made admin token";
template <typename Archive>
void visit(Archive& archive, Of<Archive, MadeToken>& message) {
  archive("info", message.info);
  archive("token", message.token, Text{});
}

template <>
inline constexpr int count_of<BanKind> = 3;

template <>
inline constexpr const char* title<Ban> = "ban";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Ban>& message) {
  archive("kind", message.kind);
  archive("subject", message.subject, Text{});
  archive("reason", message.reason, Prose{});
  archive("made_by", message.made_by, Text{});
  archive("made_at", message.made_at);
  archive("expires_at", message.expires_at);
}

template <>
inline constexpr const char* title<AddBan> = "new ban";
template <typename Archive>
void visit(Archive& archive, Of<Archive, AddBan>& message) {
  archive("kind", message.kind);
  archive("subject", message.subject, Text{});
  archive("reason", message.reason, Prose{});
  archive.defaulted("lifetime_seconds", message.lifetime_seconds, Whole{0, limits::code_seconds_max});
  archive.defaulted("force", message.force);
}

template <>
inline constexpr const char* title<RemoveBan> = "ban to be removed";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RemoveBan>& message) {
  archive("subject", message.subject, Text{});
}

template <>
inline constexpr const char* title<std::vector<Ban>> = "list of bans";

template <>
inline constexpr const char* title<Act> = "act";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Act>& message) {
  archive("number", message.number, Whole{1, limits::items_max});
  archive("at", message.at);
  archive("actor", message.actor, Text{});
  archive("role", message.role, Text{});
  archive("action", message.action, Text{});
  archive("object", message.object, Text{limits::text_length_max});
  archive("summary", message.summary, Prose{});
  archive("previous", message.previous, Digest{});
}

template <>
inline constexpr const char* title<ChainPlace> = "place in the audit log";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ChainPlace>& message) {
  archive("number", message.number, Whole{});
  archive("digest", message.digest, Digest{});
}

template <>
inline constexpr const char* title<RefusalCount> = "count of refusals";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RefusalCount>& message) {
  archive("actor", message.actor, Text{});
  archive("kind", message.kind, Text{});
  archive("action", message.action, Text{});
  archive("times", message.times, Whole{});
  archive("first_at", message.first_at);
  archive("last_at", message.last_at);
  archive("last_network", message.last_network, Text{});
}

template <>
inline constexpr const char* title<AuditPage> = "page of the audit log";
template <>
inline constexpr std::int64_t values_max<AuditPage> = limits::json_list_values_max;
template <typename Archive>
void visit(Archive& archive, Of<Archive, AuditPage>& message) {
  archive("start", message.start);
  archive("head", message.head);
  archive("noted", message.noted);
  archive("acts", message.acts, List{limits::acts_per_page_max});
  archive("refusals", message.refusals, List{limits::list_length_max});
}

template <>
inline constexpr const char* title<std::vector<TokenInfo>> = "list of admin tokens";

}  // namespace gleaner::protocol::codec
