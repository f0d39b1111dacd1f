// ban add, list, remove: who is kept out.
#include <vector>

#include "shared/protocol/codec.h"
#include "tools/admin/access_api.h"
#include "tools/admin/commands.h"
#include "tools/admin/figures.h"

namespace gleaner::admin {
namespace {

// One of them.
struct Banned {
  std::string network, key, code;
  std::int64_t host = 0;
};

struct NewBan {
  Banned who;
  std::string reason, lifetime;
  bool force = false;
};

struct BanChoice {
  Banned who;
};

struct Subject {
  protocol::BanKind kind = protocol::BanKind::network;
  std::string text;
};

Result<Subject> subject_of(const Banned& who) {
  if (!who.network.empty()) return Subject{protocol::BanKind::network, who.network};
  if (!who.code.empty()) return Subject{protocol::BanKind::code, who.code};
  if (!who.key.empty()) return Subject{protocol::BanKind::key, who.key};
  if (who.host > 0) return Subject{protocol::BanKind::key, std::to_string(who.host)};
  return Error{ErrorKind::invalid, "say who: --network, --host, --key or --code"};
}

void tell(Session& session, const protocol::Ban& ban, const std::string& what) {
  if (session.json())
    session.print_json(protocol::encode(ban));
  else
    session.people() << "the " << protocol::name_of(ban.kind) << ' ' << ban.subject << ' ' << what << '\n';
}

Result<ExitCode> make_ban(Session& session, const NewBan& options) {
  protocol::AddBan ban;
  TRY_ASSIGN(const Subject subject, subject_of(options.who));
  ban.kind = subject.kind;
  ban.subject = subject.text;
  ban.reason = options.reason;
  ban.force = options.force;
  if (!options.lifetime.empty()) {
    TRY_ASSIGN(ban.lifetime_seconds, seconds_of("--expires", options.lifetime));
  }
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto made, add_ban(*api, ban));
  tell(session, made,
       to_microseconds(made.expires_at) == 0 ? "is banned" : "is banned until " + time_text(made.expires_at));
  return ExitCode::ok;
}

Result<ExitCode> list_bans(Session& session, const NoOptions&) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto bans, get_bans(*api));
  if (session.json()) {
    session.print_json(protocol::encode(bans));
    return ExitCode::ok;
  }
  Table table({{"KIND"}, {"BANNED"}, {"UNTIL"}, {"BY"}, {"SINCE"}, {"REASON"}});
  for (const auto& ban : bans)
    table.add({protocol::name_of(ban.kind),
               {ban.subject, Tint::bold},
               to_microseconds(ban.expires_at) == 0 ? "for ever" : time_text(ban.expires_at),
               ban.made_by,
               time_text(ban.made_at),
               ban.reason});
  session.people() << table.render(session.people_display());
  return ExitCode::ok;
}

Result<ExitCode> end_ban(Session& session, const BanChoice& choice) {
  TRY_ASSIGN(const Subject subject, subject_of(choice.who));
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto removed, remove_ban(*api, subject.kind, subject.text));
  tell(session, removed, "is no longer banned");
  return ExitCode::ok;
}

void declare_who(CLI::App* command, Banned& who) {
  const std::vector<CLI::Option*> all = {
      command
          ->add_option("--network", who.network,
                       "an address, or a network such as 192.0.2.0/24 or 2001:db8::/32")
          ->type_name("NETWORK"),
      command->add_option("--host", who.host, "the key of this host")->type_name("ID"),
      command->add_option("--key", who.key, "a host's key, 64 hex digits")->type_name("KEY"),
      command->add_option("--code", who.code, "a code, with the keys of its hosts")->type_name("NAME")};
  for (CLI::Option* one : all)
    for (CLI::Option* other : all)
      if (one != other) one->excludes(other);
}

}  // namespace

void add_ban_commands(CLI::App& program, Action& chosen) {
  CLI::App* bans = program.add_subcommand("ban", "Keep codes, hosts and networks out");
  bans->require_subcommand(1);

  const auto options = std::make_shared<NewBan>();
  CLI::App* add = bans->add_subcommand("add", "Ban a network, a host's key or a code");
  declare_who(add, options->who);
  add->add_option("--reason", options->reason, "shown to those who are banned")->type_name("TEXT");
  add->add_option("--expires", options->lifetime, "how long the ban lasts: 12h, 30d, 8w")->type_name("TIME");
  add->add_flag("--force", options->force, "also ban the network of this computer");
  on_parse(add, chosen, options, make_ban);

  on_parse(bans->add_subcommand("list", "List active bans"), chosen, std::make_shared<NoOptions>(),
           list_bans);

  const auto choice = std::make_shared<BanChoice>();
  CLI::App* remove = bans->add_subcommand("remove", "End a ban");
  declare_who(remove, choice->who);
  on_parse(remove, chosen, choice, end_ban);
}

}  // namespace gleaner::admin
