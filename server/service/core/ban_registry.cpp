#include "server/service/core/ban_registry.h"

#include <utility>

#include "shared/base/figures.h"

namespace gleaner::service {
namespace {

const protocol::Ban* find_ban(const Model& model, protocol::BanKind kind, const std::string& subject,
                              Timestamp now) {
  const auto found = model.bans.find({kind, subject});
  return found != model.bans.end() && counts(found->second, now) ? &found->second : nullptr;
}

}  // namespace

bool counts(const protocol::Ban& ban, Timestamp now) {
  return ban.expires_at == Timestamp{} || ban.expires_at > now;
}

const protocol::Ban* ban_of_code(const Model& model, const std::string& code, Timestamp now) {
  return find_ban(model, protocol::BanKind::code, code, now);
}

const protocol::Ban* ban_of_key(const Model& model, const Bytes& key, Timestamp now) {
  if (model.bans.empty()) return nullptr;
  if (const auto* ban = find_ban(model, protocol::BanKind::key, to_hex(key), now); ban != nullptr) return ban;
  for (const auto& [id, host] : model.hosts) {
    if (host.row.public_key != key) continue;
    if (const auto* ban = ban_of_code(model, host.row.code, now); ban != nullptr) return ban;
  }
  return nullptr;
}

Error banned(const protocol::Ban& ban) {
  const std::string who = ban.kind == protocol::BanKind::network ? "the network " + ban.subject
                          : ban.kind == protocol::BanKind::key
                              ? "this computer"
                              : "the join code " + ban.subject + ", with all who joined with it,";
  const std::string until = ban.expires_at == Timestamp{} ? "" : " until " + utc_text(ban.expires_at);
  return {ErrorKind::banned, who + " is banned from this project" + until +
                                 (ban.reason.empty() ? "" : " (" + ban.reason + ")") +
                                 ": its administrator may end that"};
}

BanTable::BanTable(const Model& model) {
  bool hosts = false;
  for (const auto& [key, ban] : model.bans) {
    if (ban.kind != protocol::BanKind::network) {
      hosts = true;
    } else if (const auto prefix = policy::parse_prefix(ban.subject); prefix.ok()) {
      networks_.put(*prefix, ban);
      has_networks_ = true;
    }
  }
  if (!hosts) return;
  for (const auto& [id, host] : model.hosts) {
    if (host.row.state == protocol::HostState::active) continue;
    const auto* ban = ban_of_key(model, host.row.public_key, Timestamp{});
    if (ban != nullptr) tokens_[host.row.token_digest] = *ban;
  }
}

const protocol::Ban* BanTable::of_address(const policy::Address& address, Timestamp now) const {
  return networks_.find(address, [now](const protocol::Ban& ban) { return counts(ban, now); });
}

const protocol::Ban* BanTable::of_token(const Bytes& digest, Timestamp now) const {
  const auto found = tokens_.find(digest);
  return found != tokens_.end() && counts(found->second, now) ? &found->second : nullptr;
}

void BanRegistry::set(std::shared_ptr<const BanTable> table) {
  const std::lock_guard lock(mutex_);
  table_ = std::move(table);
}

std::shared_ptr<const BanTable> BanRegistry::table() const {
  const std::lock_guard lock(mutex_);
  return table_;
}

Status BanRegistry::check_address(const std::string& address, Timestamp now) const {
  const auto bans = table();
  if (!bans || !bans->has_networks()) return {};
  const auto parsed = policy::parse_address(address);
  if (!parsed) return {};
  const auto* ban = bans->of_address(*parsed, now);
  return ban == nullptr ? Status{} : Status{banned(*ban)};
}

Status BanRegistry::check_token(const Bytes& digest, Timestamp now) const {
  const auto bans = table();
  const auto* ban = bans ? bans->of_token(digest, now) : nullptr;
  return ban == nullptr ? Status{} : Status{banned(*ban)};
}

}  // namespace gleaner::service
