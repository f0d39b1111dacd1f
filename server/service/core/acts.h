// The audit log: every change that an administrator makes leaves an act in the store, in the transaction of
// the change itself, so that there is never one without the other. Acts are a chain of digests
// (shared/crypto/act_chain.h); the newest limits::acts_kept are kept. Writer thread, or before it starts.
#pragma once

#include <optional>
#include <string>

#include "server/storage/inspect_store.h"
#include "server/storage/store.h"
#include "shared/protocol/access_messages.h"
#include "shared/protocol/admin_messages.h"
#include "shared/protocol/console_messages.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service {

// Who is about to do what; carried by the answer's Done (kernel.h) to the transaction that does it.
struct Actor {
  std::string name;  // of the admin token
  std::string role;
  std::string action;  // "problem pause"
  std::string object;  // what the request names; empty: it is new
};
// The program itself, as it is started.
[[nodiscard]] Actor server_actor(std::string action, std::string object);

// What an answer says of the object that changed.
struct ActWords {
  std::string object;  // empty: what the request names
  std::string summary;
};
[[nodiscard]] ActWords words_of(const protocol::ApplicationInfo& info);
[[nodiscard]] ActWords words_of(const protocol::ProblemInfo& info);
[[nodiscard]] ActWords words_of(const protocol::HostInfo& info);
[[nodiscard]] ActWords words_of(const protocol::CodeInfo& info);
[[nodiscard]] ActWords words_of(const protocol::MadeCode& made);
[[nodiscard]] ActWords words_of(const protocol::TokenInfo& info);
[[nodiscard]] ActWords words_of(const protocol::MadeToken& made);
[[nodiscard]] ActWords words_of(const protocol::Ban& ban);
[[nodiscard]] ActWords words_of(const protocol::RelayInfo& info);
[[nodiscard]] ActWords words_of(const protocol::FlowInfo& info);
template <typename Other>
[[nodiscard]] ActWords words_of(const Other& /*answer*/) {
  return {};
}

// In a transaction. Errors are the store's.
[[nodiscard]] Status append_act(storage::Store& store, const Actor& actor, const ActWords& words,
                                Timestamp now);
// A transaction of its own, before the writer starts.
[[nodiscard]] Status note_act(storage::Store& store, const Actor& actor, const std::string& summary,
                              Timestamp now);
// The newest act's place.
[[nodiscard]] Result<protocol::ChainPlace> acts_head(storage::Store& store);
// untrusted: the log does not have the act that was noted outside the store (audit_head.h).
[[nodiscard]] Status check_noted(storage::Store& store, const protocol::ChainPlace& noted);
// untrusted: the first act that does not fit, or the noted one.
[[nodiscard]] Status check_chain(const storage::InspectedActs& log,
                                 const std::optional<protocol::ChainPlace>& noted);
// A page: up to limits::acts_per_page_max acts after `after`; with the first page, what was refused.
[[nodiscard]] Result<protocol::AuditPage> read_acts(storage::Store& store, std::int64_t after);
// Walks the whole chain, as `gleaner-admin audit verify` does, and tells its head. untrusted: the first act
// that does not fit.
[[nodiscard]] Result<protocol::ChainPlace> check_acts(storage::Store& store);

}  // namespace gleaner::service
