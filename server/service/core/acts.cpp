#include "server/service/core/acts.h"

#include <fmt/format.h>

#include "server/service/core/audit_head.h"
#include "shared/base/failpoint.h"
#include "shared/base/figures.h"
#include "shared/base/limits.h"
#include "shared/crypto/act_chain.h"
#include "shared/protocol/text.h"

namespace gleaner::service {
namespace {

constexpr const char* head_value = "acts_head";
constexpr const char* start_value = "acts_start";

Result<protocol::ChainPlace> read_place(storage::Store& store, const char* name) {
  TRY_ASSIGN(const auto text, store.get_value(name));
  if (!text) return crypto::chain_start();
  const auto place = crypto::parse_place(*text);
  if (!place) return Error{ErrorKind::invalid, std::string("the store's value ") + name + " is damaged"};
  return *place;
}

Status write_place(storage::Store& store, const char* name, const protocol::ChainPlace& place) {
  return store.set_value(name, crypto::place_text(place));
}

// The start moves to the newest of what goes, whose digest the first that stays has in it.
Status drop_old(storage::Store& store, std::int64_t head) {
  const std::int64_t last = head - limits::acts_kept;
  if (last <= 0 || last % limits::acts_dropped_at_once != 0) return {};
  TRY_ASSIGN(const auto act, store.acts(last - 1, 1));
  if (act.empty() || act.front().number != last) return {};  // cut by hand: `audit verify` says so
  TRY(write_place(store, start_value, {last, crypto::digest_of(act.front())}));
  return store.drop_acts(last);
}

std::string until(Timestamp end) {
  return end == Timestamp{} ? "" : ", until " + utc_text(end);
}

}  // namespace

Actor server_actor(std::string action, std::string object) {
  return {"gleaner-server", "server", std::move(action), std::move(object)};
}

ActWords words_of(const protocol::ApplicationInfo& info) {
  return {info.name + "@" + info.version, "archive " + info.archive + ", signed by " + info.signer};
}

ActWords words_of(const protocol::ProblemInfo& info) {
  return {std::to_string(info.id.value),
          fmt::format("{}: {}, {}, strategy {}, straggler rule {}, weight {}, priority {}, validation {}",
                      info.name, protocol::name_of(info.state), info.application, info.strategy,
                      info.straggler, info.weight, info.priority, info.validation)};
}

ActWords words_of(const protocol::HostInfo& info) {
  return {std::to_string(info.id.value),
          fmt::format("{}: {} ({}){}", info.name, protocol::name_of(info.state), info.state_reason,
                      info.tags.empty() ? "" : fmt::format(", tags {}", fmt::join(info.tags, ", ")))};
}

ActWords words_of(const protocol::CodeInfo& info) {
  const std::string admits = info.children ? fmt::format(", a relay with {} hosts under it", *info.children)
                             : info.hosts_max > 0 ? fmt::format(", {} hosts", info.hosts_max)
                                                  : "";
  return {info.name, info.state + admits + until(info.expires_at)};
}

ActWords words_of(const protocol::MadeCode& made) {
  return words_of(made.code);
}

ActWords words_of(const protocol::TokenInfo& info) {
  return {info.name, std::string(protocol::name_of(info.role)) + ", " + info.state + until(info.expires_at)};
}

ActWords words_of(const protocol::MadeToken& made) {
  return words_of(made.info);
}

ActWords words_of(const protocol::Ban& ban) {
  return {std::string(protocol::name_of(ban.kind)) + " " + ban.subject, ban.reason + until(ban.expires_at)};
}

ActWords words_of(const protocol::RelayInfo& info) {
  return {info.name, fmt::format("{}: {} hosts under it, of {}", info.state, info.hosts, info.children)};
}

ActWords words_of(const protocol::FlowInfo& info) {
  return {info.name, counted(std::ssize(info.nodes), "node")};
}

Status append_act(storage::Store& store, const Actor& actor, const ActWords& words, Timestamp now) {
  TRY_ASSIGN(const protocol::ChainPlace head, read_place(store, head_value));
  protocol::Act act;
  act.number = head.number + 1;
  act.at = now;
  act.actor = actor.name;
  act.role = actor.role;
  act.action = actor.action;
  act.object =
      protocol::clean_line(words.object.empty() ? actor.object : words.object, limits::text_length_max);
  act.summary = protocol::clean_text(words.summary, limits::text_length_max);
  act.previous = head.digest;
  TRY(store.add_act(act));
  TRY(failpoint("act-added"));
  TRY(write_place(store, head_value, {act.number, crypto::digest_of(act)}));
  return drop_old(store, act.number);
}

Status note_act(storage::Store& store, const Actor& actor, const std::string& summary, Timestamp now) {
  TRY(store.begin());
  Status noted = append_act(store, actor, {"", summary}, now);
  if (noted.ok()) return store.commit();
  store.rollback();
  return noted;
}

Result<protocol::ChainPlace> acts_head(storage::Store& store) {
  return read_place(store, head_value);
}

Status check_noted(storage::Store& store, const protocol::ChainPlace& noted) {
  TRY_ASSIGN(const protocol::ChainPlace start, read_place(store, start_value));
  TRY_ASSIGN(const protocol::ChainPlace head, read_place(store, head_value));
  TRY_ASSIGN(auto acts, store.acts(noted.number - 1, 1));
  std::optional<protocol::Act> found;
  if (!acts.empty() && acts.front().number == noted.number) found = std::move(acts.front());
  return check_audit_head(noted, start, head, found);
}

Result<protocol::AuditPage> read_acts(storage::Store& store, std::int64_t after) {
  protocol::AuditPage page;
  TRY_ASSIGN(page.start, read_place(store, start_value));
  TRY_ASSIGN(page.head, read_place(store, head_value));
  TRY_ASSIGN(page.acts, store.acts(after, limits::acts_per_page_max));
  if (after == 0) {
    TRY_ASSIGN(page.refusals, store.refusals());
  }
  return page;
}

Status check_chain(const storage::InspectedActs& log, const std::optional<protocol::ChainPlace>& noted) {
  const auto place_of = [](const std::string& text) -> Result<protocol::ChainPlace> {
    if (text.empty()) return crypto::chain_start();
    if (const auto place = crypto::parse_place(text)) return *place;
    return Error{ErrorKind::untrusted, "a stored place of the audit log is damaged"};
  };
  TRY_ASSIGN(const protocol::ChainPlace start, place_of(log.start));
  TRY_ASSIGN(const protocol::ChainPlace head, place_of(log.head));
  crypto::ActChain chain(start);
  std::optional<protocol::Act> found;
  for (const protocol::Act& act : log.acts) {
    TRY(chain.add(act));
    if (noted && act.number == noted->number) found = act;
  }
  TRY(chain.end(head));
  return noted ? check_audit_head(*noted, start, head, found) : Status{};
}

Result<protocol::ChainPlace> check_acts(storage::Store& store) {
  TRY_ASSIGN(const protocol::ChainPlace start, read_place(store, start_value));
  TRY_ASSIGN(const protocol::ChainPlace head, read_place(store, head_value));
  crypto::ActChain chain(start);
  while (true) {
    TRY_ASSIGN(const auto acts, store.acts(chain.place().number, limits::acts_per_page_max));
    if (acts.empty()) break;
    for (const protocol::Act& act : acts) TRY(chain.add(act));
  }
  TRY(chain.end(head));
  return head;
}

}  // namespace gleaner::service
