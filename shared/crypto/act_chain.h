// The chain of the audit log: every act has the digest of the one before, so that none of them can be
// changed, moved or taken out without changing every digest after it. Who has noted a digest elsewhere can
// tell. Pure.
//
// The digest of an act is the SHA-256 of "gleaner-act-1\n" and then, for each of its members in the order of
// protocol::Act (numbers in decimal, the time in microseconds since 1970 UTC), its length in bytes in
// decimal,
// ":", the bytes, "\n".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "shared/base/result.h"
#include "shared/protocol/access_messages.h"

namespace gleaner::crypto {

// Hex.
[[nodiscard]] std::string digest_of(const protocol::Act& act);
// Before the first act.
[[nodiscard]] protocol::ChainPlace chain_start();

// "NUMBER:DIGEST", as people and stores keep a place; nothing: the text is none.
[[nodiscard]] std::string place_text(const protocol::ChainPlace& place);
[[nodiscard]] std::optional<protocol::ChainPlace> parse_place(std::string_view text);

// Walks a chain, act by act, from its start.
class ActChain {
 public:
  explicit ActChain(protocol::ChainPlace start) : start_(std::move(start)), place_(start_) {}

  // The next act. untrusted: which one does not fit, and what that means.
  [[nodiscard]] Status add(const protocol::Act& act);
  // All are in. `head`: as the server has it. untrusted: acts are missing at the end, the last was changed,
  // or acts were cut off the start, where a server keeps the newest limits::acts_kept.
  [[nodiscard]] Status end(const protocol::ChainPlace& head) const;
  // What was added last.
  [[nodiscard]] const protocol::ChainPlace& place() const { return place_; }

 private:
  protocol::ChainPlace start_;
  protocol::ChainPlace place_;
};

}  // namespace gleaner::crypto
