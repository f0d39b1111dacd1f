#include "server/service/admins.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/service/codes.h"
#include "shared/crypto/keys.h"

namespace gleaner::service {
namespace {

constexpr std::size_t tokens_max = 1000;  // each one is compared with every request's

protocol::TokenInfo describe(const storage::TokenRow& row, Timestamp now) {
  return {row.name, row.role, state_of(row, now), row.made_at, row.expires_at, row.withdrawn_at};
}

// Would no owner without an end stay when this one goes?
bool is_last_owner(const Model& model, const storage::TokenRow& gone, Timestamp now) {
  if (gone.role != protocol::Role::own || state_of(gone, now) != "valid") return false;
  return std::none_of(model.admin_tokens.begin(), model.admin_tokens.end(), [&](const auto& entry) {
    const storage::TokenRow& row = entry.second;
    return row.name != gone.name && row.role == protocol::Role::own && row.expires_at == Timestamp{} &&
           row.withdrawn_at == Timestamp{};
  });
}

Status keep(Transaction& tx, const storage::TokenRow& row) {
  TRY(tx.store.put_token(row));
  tx.model.admin_tokens[row.name] = row;
  tx.effects.add(effect::PutAdminToken{row});
  return {};
}

}  // namespace

Status store_project_token(storage::Store& store, const ProjectSecrets& secrets, protocol::Role role,
                           Timestamp now) {
  const storage::TokenRow row{project_token, secrets.admin_token_digest, role, now, Timestamp{}, Timestamp{}};
  TRY_ASSIGN(const auto tokens, store.tokens());
  const auto known =
      std::find_if(tokens.begin(), tokens.end(), [](const auto& each) { return each.name == project_token; });
  if (known != tokens.end() && known->digest == row.digest) return {};
  TRY(store.put_token(row));
  return append_act(store, server_actor("token change", project_token),
                    {"", std::string(protocol::name_of(role)) + ", as admin/token says"}, now);
}

Result<Admin> Admins::authenticate(const std::string& token) const {
  return tokens_.find(token, kernel_.clock().now());
}

Status Admins::note_wrong_token(const std::string& network) {
  if (wrong_tokens_.take(network, kernel_.clock().steady())) return {};
  return Error{ErrorKind::unavailable, "too many wrong admin tokens were shown from " + network +
                                           ": the right one is taken at once, others in some minutes"};
}

void Admins::list(Done<std::vector<protocol::TokenInfo>> done) {
  kernel_.decide<std::vector<protocol::TokenInfo>>(
      [](Transaction& tx, Result<std::vector<protocol::TokenInfo>>& list) -> Status {
        std::vector<protocol::TokenInfo> all;
        for (const auto& [name, row] : tx.model.admin_tokens) all.push_back(describe(row, tx.now));
        list = std::move(all);
        return {};
      },
      std::move(done));
}

void Admins::add(protocol::AddToken request, Done<protocol::MadeToken> done) {
  if (const Status good = check_name(request.name); !good.ok()) return done(good.error());
  const std::string token = to_base64url(crypto::random_secret(32));
  kernel_.decide<protocol::MadeToken>(
      [request = std::move(request), token](Transaction& tx, Result<protocol::MadeToken>& made) -> Status {
        if (tx.model.admin_tokens.contains(request.name)) {
          made = Error{ErrorKind::conflict, "there is or was an admin token " + request.name +
                                                ": choose another name, so that it is known who did what"};
          return {};
        }
        if (tx.model.admin_tokens.size() >= tokens_max) {
          made = Error{ErrorKind::conflict, fmt::format("there are {} admin tokens already", tokens_max)};
          return {};
        }
        storage::TokenRow row{request.name, crypto::sha256(token), request.role, tx.now, {}, {}};
        if (request.lifetime_seconds > 0)
          row.expires_at = tx.now + std::chrono::seconds{request.lifetime_seconds};
        TRY(keep(tx, row));
        tx.effects.info(fmt::format("admin token {}: a new {}", row.name, protocol::name_of(row.role)));
        made = protocol::MadeToken{describe(row, tx.now), token};
        return {};
      },
      std::move(done));
}

void Admins::withdraw(const std::string& name, Done<protocol::TokenInfo> done) {
  kernel_.decide<protocol::TokenInfo>(
      [name](Transaction& tx, Result<protocol::TokenInfo>& info) -> Status {
        const auto found = tx.model.admin_tokens.find(name);
        if (found == tx.model.admin_tokens.end()) {
          info =
              Error{ErrorKind::not_found, "no admin token " + name + " here: see `gleaner-admin token list`"};
          return {};
        }
        storage::TokenRow row = found->second;
        if (is_last_owner(tx.model, row, tx.now)) {
          info = Error{ErrorKind::conflict,
                       name +
                           " is the last owner's token: make another without an end first, with "
                           "`gleaner-admin token add NAME --role owner`"};
          return {};
        }
        if (row.withdrawn_at == Timestamp{}) row.withdrawn_at = tx.now;
        TRY(keep(tx, row));
        tx.effects.info(fmt::format("admin token {} is withdrawn", name));
        info = describe(row, tx.now);
        return {};
      },
      std::move(done));
}

}  // namespace gleaner::service
