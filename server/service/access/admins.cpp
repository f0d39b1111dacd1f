#include "server/service/access/admins.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "server/service/access/codes.h"
#include "shared/crypto/keys.h"

namespace gleaner::service {
namespace {

constexpr std::size_t tokens_max = 1000;  // each one is compared with every request's

protocol::TokenInfo describe(const storage::TokenRow& row, Timestamp now) {
  return {row.name, row.role, state_of(row, now), row.made_at, row.expires_at, row.withdrawn_at, row.made_by};
}

// Tokens and codes, by name.
struct Withdrawn {
  std::set<std::string> tokens, codes;
};

// `name`, and what was made with it: by it, by what it made, and so on.
Withdrawn with_made(const Model& model, const std::string& name) {
  Withdrawn all{{name}, {}};
  for (bool more = true; more;) {
    more = false;
    for (const auto& [made, row] : model.admin_tokens)
      if (all.tokens.contains(row.made_by)) more = all.tokens.insert(made).second || more;
  }
  for (const auto& [made, row] : model.codes)
    if (all.tokens.contains(row.made_by)) all.codes.insert(made);
  return all;
}

// Would no owner without an end stay when these go, of whom one is such an owner?
bool are_last_owners(const Model& model, const std::set<std::string>& gone, Timestamp now) {
  bool lost = false;
  for (const auto& [name, row] : model.admin_tokens) {
    if (row.role != protocol::Role::own || state_of(row, now) != "valid") continue;
    if (gone.contains(name))
      lost = true;
    else if (row.expires_at == Timestamp{})
      return false;
  }
  return lost;
}

Status keep(Transaction& tx, const storage::TokenRow& row) {
  TRY(tx.store.put_token(row));
  tx.model.admin_tokens[row.name] = row;
  tx.effects.add(effect::PutAdminToken{row});
  return {};
}

// The act of what goes with another token; that of the token itself comes with the answer.
Status note_withdrawal(Transaction& tx, const std::optional<Actor>& actor, const char* action,
                       const std::string& object, const std::string& with) {
  if (!actor) return {};
  return append_act(tx.store, {actor->name, actor->role, action, object},
                    {object, "withdrawn with the admin token " + with}, tx.now);
}

}  // namespace

Status store_project_token(storage::Store& store, const ProjectSecrets& secrets, protocol::Role role,
                           Timestamp now) {
  const storage::TokenRow row{
      project_token, secrets.admin_token_digest, role, now, Timestamp{}, Timestamp{}, {}};
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
  const std::string maker =
      done.actor() ? done.actor()->name : "";  // `done` may have moved on before it is read
  kernel_.decide<protocol::MadeToken>(
      [request = std::move(request), token, maker](Transaction& tx,
                                                   Result<protocol::MadeToken>& made) -> Status {
        if (tx.model.admin_tokens.contains(request.name)) {
          made = Error{ErrorKind::conflict, "there is or was an admin token " + request.name +
                                                ": choose another name, so that it is known who did what"};
          return {};
        }
        if (tx.model.admin_tokens.size() >= tokens_max) {
          made = Error{ErrorKind::conflict, fmt::format("there are {} admin tokens already", tokens_max)};
          return {};
        }
        storage::TokenRow row{request.name, crypto::sha256(token), request.role, tx.now, {}, {}, maker};
        if (request.lifetime_seconds > 0)
          row.expires_at = tx.now + std::chrono::seconds{request.lifetime_seconds};
        const auto makers = tx.model.admin_tokens.find(maker);
        const Timestamp end = makers == tx.model.admin_tokens.end() ? Timestamp{} : makers->second.expires_at;
        if (end != Timestamp{} && (row.expires_at == Timestamp{} || row.expires_at > end))
          row.expires_at = end;
        TRY(keep(tx, row));
        tx.effects.info(fmt::format("admin token {}: a new {}", row.name, protocol::name_of(row.role)));
        made = protocol::MadeToken{describe(row, tx.now), token};
        return {};
      },
      std::move(done));
}

void Admins::withdraw(const std::string& name, protocol::WithdrawToken request,
                      Done<protocol::TokenInfo> done) {
  const auto actor = done.actor();
  kernel_.decide<protocol::TokenInfo>(
      [name, request, actor](Transaction& tx, Result<protocol::TokenInfo>& info) -> Status {
        if (!tx.model.admin_tokens.contains(name)) {
          info =
              Error{ErrorKind::not_found, "no admin token " + name + " here: see `gleaner-admin token list`"};
          return {};
        }
        const Withdrawn gone = request.with_made ? with_made(tx.model, name) : Withdrawn{{name}, {}};
        if (are_last_owners(tx.model, gone.tokens, tx.now)) {
          info = Error{ErrorKind::conflict,
                       name +
                           " is the last owner's token: make another without an end first, with "
                           "`gleaner-admin token add NAME --role owner`"};
          return {};
        }
        for (const std::string& each : gone.tokens) {
          storage::TokenRow row = tx.model.admin_tokens.at(each);
          if (row.withdrawn_at == Timestamp{}) row.withdrawn_at = tx.now;
          TRY(keep(tx, row));
          if (each != name) TRY(note_withdrawal(tx, actor, "token withdraw", each, name));
          tx.effects.info(fmt::format("admin token {} is withdrawn", each));
        }
        for (const std::string& each : gone.codes) {
          TRY(withdraw_code(tx, each, ""));  // if it is the default one, making its secret removed the file
          TRY(note_withdrawal(tx, actor, "code withdraw", each, name));
          tx.effects.info(fmt::format("code {} is withdrawn", each));
        }
        if (!gone.codes.empty()) tx.effects.add(effect::Announce{});
        info = describe(tx.model.admin_tokens.at(name), tx.now);
        return {};
      },
      std::move(done));
}

}  // namespace gleaner::service
