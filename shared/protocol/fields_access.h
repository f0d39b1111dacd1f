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
inline constexpr const char* title<std::vector<TokenInfo>> = "list of admin tokens";

}  // namespace gleaner::protocol::codec
