#include "server/service/access/codes.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/service/access/admission.h"
#include "server/service/core/end_host.h"
#include "shared/base/limits.h"
#include "shared/crypto/keys.h"

namespace gleaner::service {
namespace {

// The stored value that names the digest of the file's secret that counts no more.
constexpr const char* given_up = "default_code_given_up";

Error no_code(const std::string& name) {
  return {ErrorKind::not_found, "no code " + name + " here: see `gleaner-admin code list`"};
}

protocol::CodeInfo describe(const Model& model, const storage::CodeRow& row, Timestamp now) {
  protocol::CodeInfo info;
  info.name = row.name;
  info.state = closed(model, row, now).value_or("valid");
  info.hosts = hosts_of(model, row);
  info.hosts_max = row.hosts_max;
  info.own = row.own;
  info.tags = row.tags;
  info.made_at = row.made_at;
  info.expires_at = row.expires_at;
  info.withdrawn_at = row.withdrawn_at;
  if (row.children > 0) info.children = row.children;
  info.made_by = row.made_by;
  return info;
}

Status put_out_hosts(Transaction& tx, const std::string& code) {
  for (auto& [id, host] : tx.model.hosts) {
    if (host.row.code != code || host.row.state != protocol::HostState::active) continue;
    TRY(put_out_host(tx, host, protocol::HostState::left, "its code was withdrawn",
                     "the administrator withdrew the host's code"));
  }
  return {};
}

// The default code's secret must not come back at the next start: neither from the file nor, if that cannot
// be removed, from what is left of it.
Status forget_file(Transaction& tx, const std::string& name, const std::string& digest) {
  if (name != default_code || digest.empty()) return {};
  TRY(tx.store.set_value(given_up, digest));
  tx.effects.add(effect::RemoveFile{tx.settings.directory.enrolment_secret()});
  return {};
}

Error name_taken(const storage::CodeRow& code) {
  const char* const kind = code.children > 0 ? "relay" : "code";
  if (code.withdrawn_at != Timestamp{})
    return {ErrorKind::conflict,
            fmt::format("the {} {} was withdrawn, and its hosts still carry its name: choose "
                        "another name",
                        kind, code.name)};
  return {ErrorKind::conflict,
          fmt::format("the {0} {1} exists already: choose another name, or `gleaner-admin code "
                      "rotate {1}` gives it a new secret",
                      kind, code.name)};
}

}  // namespace

Status check_name(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
  const bool a_place = name == "." || name == "..";  // which clients take out of a path (RFC 3986, 5.2.4)
  if (plain && !a_place && !name.empty() && name.size() <= limits::name_length_max) return {};
  return Error{
      ErrorKind::invalid,
      "name: expected 1 to 64 letters, digits, \".\", \"_\" and \"-\", and not only one or two dots"};
}

Status store_default_code(storage::Store& store, const ProjectSecrets& secrets, Timestamp now) {
  if (secrets.enrolment_secret.empty()) return {};
  storage::CodeRow row{default_code, crypto::sha256(secrets.enrolment_secret), 0, false, {}, now, {}, {}};
  TRY_ASSIGN(const auto over, store.get_value(given_up));
  if (over == file_digest(secrets)) return {};
  TRY_ASSIGN(const auto codes, store.codes());
  const auto known =
      std::find_if(codes.begin(), codes.end(), [](const auto& each) { return each.name == default_code; });
  if (known != codes.end() && known->secret_digest == row.secret_digest) return {};
  TRY(store.put_code(row));
  return append_act(store, server_actor("code change", default_code),
                    {"", "valid, as keys/enrolment.secret says"}, now);
}

std::string file_digest(const ProjectSecrets& secrets) {
  return secrets.enrolment_secret.empty() ? "" : to_hex(crypto::sha256(secrets.enrolment_secret));
}

Status withdraw_code(Transaction& tx, const std::string& name, const std::string& file) {
  storage::CodeRow& row = tx.model.codes.at(name);
  if (row.withdrawn_at == Timestamp{}) row.withdrawn_at = tx.now;
  TRY(tx.store.put_code(row));
  return forget_file(tx, name, file);
}

void Codes::list(Done<std::vector<protocol::CodeInfo>> done) {
  kernel_.decide<std::vector<protocol::CodeInfo>>(
      [](Transaction& tx, Result<std::vector<protocol::CodeInfo>>& list) -> Status {
        std::vector<protocol::CodeInfo> all;
        for (const auto& [name, row] : tx.model.codes) all.push_back(describe(tx.model, row, tx.now));
        list = std::move(all);
        return {};
      },
      std::move(done));
}

void Codes::show(const std::string& name, Done<protocol::CodeInfo> done) {
  kernel_.decide<protocol::CodeInfo>(
      [name](Transaction& tx, Result<protocol::CodeInfo>& info) -> Status {
        const auto found = tx.model.codes.find(name);
        if (found == tx.model.codes.end())
          info = no_code(name);
        else
          info = describe(tx.model, found->second, tx.now);
        return {};
      },
      std::move(done));
}

void Codes::make(std::function<Result<storage::CodeRow>(Transaction&)> change,
                 Done<protocol::MadeCode> done) {
  const Bytes secret = crypto::random_secret(enrolment_secret_bytes);
  const std::string text =
      protocol::to_text(join_code(kernel_.settings().configuration, secrets_.root_key, secret, port_()));
  const std::string maker =
      done.actor() ? done.actor()->name : "";  // `done` may have moved on before it is read
  kernel_.decide<protocol::MadeCode>(
      [change = std::move(change), text, digest = crypto::sha256(secret), file = file_digest(secrets_),
       maker](Transaction& tx, Result<protocol::MadeCode>& made) -> Status {
        auto row = change(tx);
        if (!row.ok()) {
          made = row.error();
          return {};
        }
        row->secret_digest = digest;
        row->made_by = maker;
        TRY(tx.store.put_code(*row));
        TRY(forget_file(tx, row->name, file));
        tx.model.codes[row->name] = *row;
        tx.effects.add(effect::Announce{});
        tx.effects.info(fmt::format("code {}: a new secret", row->name));
        made = protocol::MadeCode{describe(tx.model, *row, tx.now), text};
        return {};
      },
      std::move(done));
}

void Codes::add(protocol::AddCode request, Done<protocol::MadeCode> done) {
  add(std::move(request), 0, std::move(done));
}

void Codes::add_relay(const protocol::AddRelay& request, Done<protocol::MadeCode> done) {
  if (request.children < 1 || request.children > limits::relay_children_max)
    return done(Error{ErrorKind::invalid,
                      fmt::format("children: expected 1 to {} hosts", limits::relay_children_max)});
  add({request.name, 1, request.lifetime_seconds, request.own, {}}, request.children, std::move(done));
}

void Codes::add(protocol::AddCode request, std::int64_t children, Done<protocol::MadeCode> done) {
  if (const Status good = check_name(request.name); !good.ok()) return done(good.error());
  make(
      [request = std::move(request), children](Transaction& tx) -> Result<storage::CodeRow> {
        if (const auto known = tx.model.codes.find(request.name); known != tx.model.codes.end())
          return name_taken(known->second);
        if (tx.model.codes.size() >= limits::codes_max)
          return Error{ErrorKind::conflict, fmt::format("there are {} codes already", limits::codes_max)};
        storage::CodeRow row;
        row.name = request.name;
        row.hosts_max = request.hosts_max;
        row.own = request.own.value_or(false);
        row.tags = request.tags;
        row.children = children;
        row.made_at = tx.now;
        if (request.lifetime_seconds > 0)
          row.expires_at = tx.now + std::chrono::seconds{request.lifetime_seconds};
        return row;
      },
      std::move(done));
}

void Codes::rotate(const std::string& name, Done<protocol::MadeCode> done) {
  make(
      [name](Transaction& tx) -> Result<storage::CodeRow> {
        const auto found = tx.model.codes.find(name);
        if (found == tx.model.codes.end()) return no_code(name);
        if (found->second.withdrawn_at != Timestamp{})
          return Error{ErrorKind::conflict, "the code " + name +
                                                " is withdrawn: `gleaner-admin code add` makes another, of "
                                                "another name"};
        return found->second;
      },
      std::move(done));
}

void Codes::withdraw(const std::string& name, protocol::WithdrawCode request, Done<protocol::CodeInfo> done) {
  kernel_.decide<protocol::CodeInfo>(
      [name, request, file = file_digest(secrets_)](Transaction& tx,
                                                    Result<protocol::CodeInfo>& info) -> Status {
        const auto found = tx.model.codes.find(name);
        if (found == tx.model.codes.end()) {
          info = no_code(name);
          return {};
        }
        const storage::CodeRow& row = found->second;
        TRY(withdraw_code(tx, name, file));
        if (request.with_hosts) TRY(put_out_hosts(tx, name));
        tx.effects.add(effect::Announce{});
        tx.effects.info(
            fmt::format("code {} is withdrawn{}", name, request.with_hosts ? " with its hosts" : ""));
        info = describe(tx.model, row, tx.now);
        return {};
      },
      std::move(done));
}

}  // namespace gleaner::service
