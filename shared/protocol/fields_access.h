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
  archive("state", message.state, Text{}, "valid, expired or withdrawn");
  archive("made_at", message.made_at);
  archive("expires_at", message.expires_at, Plain{}, "0: never; at the latest with the token that made it");
  archive("withdrawn_at", message.withdrawn_at);
  archive.defaulted("made_by", message.made_by, Text{},
                    "admin token that made it; empty: `init`, or unknown");
}

template <>
inline constexpr const char* title<WithdrawToken> = "withdrawal of an admin token";
template <typename Archive>
void visit(Archive& archive, Of<Archive, WithdrawToken>& message) {
  archive.defaulted("with_made", message.with_made, Plain{},
                    "also the tokens and codes that it made, and what those tokens made");
}

template <>
inline constexpr const char* title<AddToken> = "new admin token";
template <typename Archive>
void visit(Archive& archive, Of<Archive, AddToken>& message) {
  archive("name", message.name, Text{}, "letters, digits, `.`, `_` and `-`");
  archive("role", message.role);
  archive.defaulted("lifetime_seconds", message.lifetime_seconds, Whole{0, limits::code_seconds_max},
                    "0: for ever");
}

template <>
inline constexpr const char* title<MadeToken> = "made admin token";
template <typename Archive>
void visit(Archive& archive, Of<Archive, MadeToken>& message) {
  archive("info", message.info);
  archive("token", message.token, Text{}, "the server keeps no copy");
}

template <>
inline constexpr int count_of<BanKind> = 3;

template <>
inline constexpr const char* title<Ban> = "ban";
template <typename Archive>
void visit(Archive& archive, Of<Archive, Ban>& message) {
  archive("kind", message.kind);
  archive("subject", message.subject, Text{},
          "the code's name; the key as 64 hex digits; an address or a network, as 192.0.2.0/24");
  archive("reason", message.reason, Prose{}, "for the banned");
  archive("made_by", message.made_by, Text{}, "admin token");
  archive("made_at", message.made_at);
  archive("expires_at", message.expires_at, Plain{}, "0: never");
}

template <>
inline constexpr const char* title<AddBan> = "new ban";
template <typename Archive>
void visit(Archive& archive, Of<Archive, AddBan>& message) {
  archive("kind", message.kind);
  archive("subject", message.subject, Text{}, "as in Ban; of a key also the number of a host that has it");
  archive("reason", message.reason, Prose{}, "for the banned");
  archive.defaulted("lifetime_seconds", message.lifetime_seconds, Whole{0, limits::code_seconds_max},
                    "0: for ever");
  archive.defaulted("force", message.force, Plain{},
                    "also a network that contains the sender of this request");
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
  archive("actor", message.actor, Text{}, "admin token; `gleaner-server`: the program itself");
  archive("role", message.role, Text{}, "viewer, operator, owner or server");
  archive("action", message.action, Text{}, "for example `problem pause`");
  archive("object", message.object, Text{limits::text_length_max}, "its number or name");
  archive("summary", message.summary, Prose{}, "the state after it");
  archive("previous", message.previous, Digest{}, "digest of the act before");
}

template <>
inline constexpr const char* title<ChainPlace> = "place in the audit log";
template <typename Archive>
void visit(Archive& archive, Of<Archive, ChainPlace>& message) {
  archive("number", message.number, Whole{}, "0: before the first act");
  archive("digest", message.digest, Digest{});
}

template <>
inline constexpr const char* title<RefusalCount> = "count of refusals";
template <>
inline constexpr const char* about<RefusalCount> = "refused requests, counted";
template <typename Archive>
void visit(Archive& archive, Of<Archive, RefusalCount>& message) {
  archive("actor", message.actor, Text{}, "admin token that was or is valid; `unknown`: none");
  archive("kind", message.kind, Text{}, "unauthorized or forbidden");
  archive("action", message.action, Text{}, "as in Act; `look`: a request that changes nothing");
  archive("times", message.times, Whole{});
  archive("first_at", message.first_at);
  archive("last_at", message.last_at);
  archive("last_network", message.last_network, Text{}, "network of the last request");
}

template <>
inline constexpr const char* title<AuditPage> = "page of the audit log";
template <>
inline constexpr std::int64_t values_max<AuditPage> = limits::json_list_values_max;
template <typename Archive>
void visit(Archive& archive, Of<Archive, AuditPage>& message) {
  archive("start", message.start, Plain{}, "newest act that was removed");
  archive("head", message.head);
  archive("noted", message.noted, Plain{},
          "a head that the server has noted outside the store: it must be among the acts");
  archive("acts", message.acts, List{limits::acts_per_page_max}, "in order");
  archive("refusals", message.refusals, List{limits::list_length_max}, "all of them, on the first page only");
}

template <>
inline constexpr const char* title<std::vector<TokenInfo>> = "list of admin tokens";

}  // namespace gleaner::protocol::codec
