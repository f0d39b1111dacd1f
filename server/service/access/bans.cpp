#include "server/service/access/bans.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "server/policy/calendar.h"
#include "server/service/access/codes.h"
#include "server/service/core/end_host.h"
#include "shared/base/limits.h"
#include "shared/protocol/text.h"

namespace gleaner::service {
namespace {

using protocol::BanKind;

constexpr std::size_t key_digits = 64;

// The key itself, or that of the host that is named by its number.
Result<std::string> key_of(const Model& model, const std::string& subject) {
  const bool hex = subject.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (hex && subject.size() == key_digits) return subject;
  std::int64_t number = 0;
  const char* const end = subject.data() + subject.size();
  const auto parsed = std::from_chars(subject.data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end)
    return Error{ErrorKind::invalid, "subject: expected a key as 64 hex digits, or the number of a host"};
  const auto host = model.hosts.find(HostId{number});
  if (host == model.hosts.end())
    return Error{ErrorKind::not_found, "no host " + subject + " here: see `gleaner-admin host list`"};
  return to_hex(host->second.row.public_key);
}

Result<std::string> network_of(const protocol::AddBan& request, const std::string& asker) {
  TRY_ASSIGN(const policy::Prefix prefix, policy::parse_prefix(request.subject));
  const auto address = policy::parse_address(asker);
  if (address && prefix.contains(*address) && !request.force)
    return Error{ErrorKind::conflict, "you speak from " + asker + ", which is in the network " +
                                          prefix.text() +
                                          ": the server would answer you nothing more. --force does it"};
  return prefix.text();
}

Result<std::string> subject_of(const Model& model, const protocol::AddBan& request,
                               const std::string& asker) {
  if (request.kind == BanKind::network) return network_of(request, asker);
  if (request.kind == BanKind::key) return key_of(model, request.subject);
  if (!model.codes.contains(request.subject))
    return Error{ErrorKind::not_found, "no code " + request.subject + " here: see `gleaner-admin code list`"};
  return request.subject;
}

Status drop(Transaction& tx, const protocol::Ban& ban) {
  TRY(tx.store.drop_ban(ban.kind, ban.subject));
  tx.model.bans.erase({ban.kind, ban.subject});
  return {};
}

// What counts no more may only seem so: it goes by a calendar that was believed for a day.
Status drop_expired(Transaction& tx) {
  if (!policy::may_expire(tx.calendar_agreed, std::chrono::days{1})) return {};
  const auto all = tx.model.bans;
  for (const auto& [key, ban] : all)
    if (!counts(ban, tx.now)) TRY(drop(tx, ban));
  return {};
}

// Those that are on, and that the ban is of.
Status put_out(Transaction& tx, const protocol::Ban& ban) {
  for (auto& [id, host] : tx.model.hosts) {
    if (host.row.state != protocol::HostState::active) continue;
    const bool meant =
        ban.kind == BanKind::key ? to_hex(host.row.public_key) == ban.subject : host.row.code == ban.subject;
    if (!meant) continue;
    TRY(put_out_host(tx, host, protocol::HostState::left, "banned by the administrator",
                     "the administrator banned the host"));
  }
  return {};
}

Status add_ban(Transaction& tx, protocol::Ban ban, const std::string& file, Result<protocol::Ban>& made) {
  if (tx.model.bans.size() >= static_cast<std::size_t>(limits::bans_max)) TRY(drop_expired(tx));
  if (tx.model.bans.size() >= static_cast<std::size_t>(limits::bans_max)) {
    made =
        Error{ErrorKind::conflict,
              fmt::format("there are {} bans already: remove some, or ban wider networks", limits::bans_max)};
    return {};
  }
  TRY(tx.store.put_ban(ban));
  tx.model.bans[{ban.kind, ban.subject}] = ban;
  if (ban.kind == BanKind::code) TRY(withdraw_code(tx, ban.subject, file));
  if (ban.kind != BanKind::network) TRY(put_out(tx, ban));
  tx.effects.add(effect::SetBans{std::make_shared<const BanTable>(tx.model)});
  tx.effects.add(effect::Announce{});
  tx.effects.info(
      fmt::format("{} {} is banned by {}: {}", name_of(ban.kind), ban.subject, ban.made_by, ban.reason));
  made = std::move(ban);
  return {};
}

std::optional<BanKind> kind_of(const std::string& name) {
  for (const BanKind kind : {BanKind::code, BanKind::key, BanKind::network})
    if (name == name_of(kind)) return kind;
  return std::nullopt;
}

}  // namespace

void Bans::list(Done<std::vector<protocol::Ban>> done) {
  kernel_.decide<std::vector<protocol::Ban>>(
      [](Transaction& tx, Result<std::vector<protocol::Ban>>& list) -> Status {
        std::vector<protocol::Ban> all;
        for (const auto& [key, ban] : tx.model.bans)
          if (counts(ban, tx.now)) all.push_back(ban);
        list = std::move(all);
        return {};
      },
      std::move(done));
}

void Bans::add(protocol::AddBan request, const std::string& by, const std::string& asker,
               Done<protocol::Ban> done) {
  kernel_.decide<protocol::Ban>(
      [request = std::move(request), by, asker, file = file_digest(secrets_)](
          Transaction& tx, Result<protocol::Ban>& made) -> Status {
        auto subject = subject_of(tx.model, request, asker);
        if (!subject.ok()) {
          made = subject.error();
          return {};
        }
        protocol::Ban ban{request.kind, std::move(*subject), "", by, tx.now, {}};
        ban.reason = protocol::clean_line(request.reason, limits::ban_reason_length_max);
        if (request.lifetime_seconds > 0)
          ban.expires_at = tx.now + std::chrono::seconds{request.lifetime_seconds};
        return add_ban(tx, std::move(ban), file, made);
      },
      std::move(done));
}

void Bans::remove(const std::string& kind_name, const std::string& subject, Done<protocol::Ban> done) {
  kernel_.decide<protocol::Ban>(
      [kind = kind_of(kind_name), kind_name, subject](Transaction& tx,
                                                      Result<protocol::Ban>& removed) -> Status {
        const Error none{ErrorKind::not_found, "no ban of the " + kind_name + " " + subject +
                                                   " here: see `gleaner-admin ban list`"};
        if (!kind) {
          removed = none;
          return {};
        }
        // However it is written.
        Result<std::string> plain = *kind == BanKind::key ? key_of(tx.model, subject) : subject;
        if (*kind == BanKind::network)
          if (const auto prefix = policy::parse_prefix(subject); prefix.ok()) plain = prefix->text();
        const auto found = tx.model.bans.find({*kind, plain.ok() ? *plain : subject});
        if (found == tx.model.bans.end()) {
          removed = none;
          return {};
        }
        const protocol::Ban ban = found->second;
        TRY(drop(tx, ban));
        tx.effects.add(effect::SetBans{std::make_shared<const BanTable>(tx.model)});
        tx.effects.info(fmt::format("{} {} is no longer banned", name_of(ban.kind), ban.subject));
        removed = ban;
        return {};
      },
      std::move(done));
}

}  // namespace gleaner::service
