// code add, list, show, rotate, withdraw: what hosts join with.
#include "shared/protocol/codec.h"
#include "tools/admin/commands.h"
#include "tools/admin/figures.h"

namespace gleaner::admin {
namespace {

struct NewCode {
  protocol::AddCode code;
  std::string lifetime;
  bool once = false;
  bool own = false;
};

struct CodeChoice {
  std::string name;
  bool with_hosts = false;
  bool yes = false;
};

std::string quota_text(const protocol::CodeInfo& code) {
  return count_text(code.hosts) +
         (code.hosts_max > 0 && !code.children ? " of " + count_text(code.hosts_max) : "");
}

std::string end_text(const protocol::CodeInfo& code) {
  return to_microseconds(code.expires_at) == 0 ? "never" : time_text(code.expires_at);
}

std::string kind_text(const protocol::CodeInfo& code) {
  return code.own.value_or(false) ? "own" : "volunteers";
}

// What that means for whoever gives it away.
std::string kind_meaning(const protocol::CodeInfo& code) {
  return code.own.value_or(false) ? "the project's own: their results are trusted; keep the code to yourself"
                                  : "volunteers: other hosts verify their results";
}

std::string admits_text(const protocol::CodeInfo& code) {
  return code.children ? "one relay, with " + count_text(*code.children) + " hosts under it" : "hosts";
}

Tint code_tint(const protocol::CodeInfo& code) {
  return code.state == "valid" ? Tint::good : code.state == "full" ? Tint::none : Tint::dim;
}

Result<ExitCode> list_codes(Session& session, const NoOptions&) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto codes, api->codes());
  if (session.json()) {
    session.print_json(protocol::encode(codes));
    return ExitCode::ok;
  }
  Table table({{"NAME"}, {"STATE"}, {"HOSTS", Align::right}, {"EXPIRES"}, {"HOSTS ARE"}, {"TAGS"}, {"BY"}});
  for (const auto& code : codes)
    table.add({{code.name, Tint::bold},
               {code.state, code_tint(code)},
               quota_text(code),
               end_text(code),
               kind_text(code),
               joined(code.tags),
               code.made_by});
  session.people() << table.render(session.people_display());
  return ExitCode::ok;
}

Result<ExitCode> show_code(Session& session, const CodeChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto code, api->code(choice.name));
  if (session.json()) {
    session.print_json(protocol::encode(code));
    return ExitCode::ok;
  }
  session.people() << render_fields({{"code", {code.name, Tint::bold}},
                                     {"state", {code.state, code_tint(code)}},
                                     {"admits", admits_text(code)},
                                     {"hosts", quota_text(code)},
                                     {"they are", kind_meaning(code)},
                                     {"tags", joined(code.tags)},
                                     {"made", time_text(code.made_at)},
                                     {"by", code.made_by},
                                     {"expires", end_text(code)},
                                     {"withdrawn", time_text(code.withdrawn_at)}},
                                    session.people_display());
  return ExitCode::ok;
}

Result<ExitCode> tell(Session& session, const protocol::MadeCode& made) {
  if (session.json()) {
    session.print_json(protocol::encode(made));
    return ExitCode::ok;
  }
  session.people() << made.join_code << '\n';
  session.outside().error << "The join code of " << made.code.name
                          << " is shown only once; the server keeps no copy. Its hosts are "
                          << kind_meaning(made.code) << ".\n";
  return ExitCode::ok;
}

Result<ExitCode> add_code(Session& session, const NewCode& options) {
  protocol::AddCode code = options.code;
  if (!options.lifetime.empty()) {
    TRY_ASSIGN(code.lifetime_seconds, seconds_of("--expires", options.lifetime));
  }
  if (options.once) code.hosts_max = 1;
  if (options.own) code.own = true;
  TRY_ASSIGN(Api* const api, session.api());
  const auto made = api->add_code(code);
  if (!made.ok() && made.error().kind == ErrorKind::unavailable)
    return Error{ErrorKind::unavailable, made.error().message +
                                             " (if `gleaner-admin code list` shows it, `code rotate " +
                                             code.name + "` shows a join code)"};
  if (!made.ok()) return made.error();
  return tell(session, *made);
}

Result<ExitCode> rotate_code(Session& session, const CodeChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto made, api->rotate_code(choice.name));
  return tell(session, made);
}

Result<ExitCode> withdraw_code(Session& session, const CodeChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto code, api->code(choice.name));
  const std::string hosts = choice.with_hosts ? " and revoke the hosts that joined with it" : "";
  TRY_ASSIGN(
      const bool sure,
      session.confirm("Withdraw the code " + code.name + hosts + "? This cannot be undone.", choice.yes));
  if (!sure) {
    if (session.json())
      session.print_json(protocol::encode(code));
    else
      session.people() << "the code " << code.name << " is kept\n";
    return ExitCode::failed;
  }
  TRY_ASSIGN(const auto withdrawn, api->withdraw_code(code.name, {choice.with_hosts}));
  if (session.json())
    session.print_json(protocol::encode(withdrawn));
  else
    session.people() << "the code " << code.name << " is withdrawn\n";
  return ExitCode::ok;
}

void declare_add_code(CLI::App& codes, Action& chosen) {
  const auto options = std::make_shared<NewCode>();
  CLI::App* command = codes.add_subcommand("add", "Make a code and show its join code, once");
  command->add_option("name", options->code.name, "letters, digits, '.', '_' and '-'")
      ->required()
      ->type_name("NAME");
  auto* hosts =
      command->add_option("--hosts", options->code.hosts_max, "number of hosts that may join with it")
          ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}))
          ->type_name("N");
  command->add_flag("--once", options->once, "one host may join with it")->excludes(hosts);
  command->add_option("--expires", options->lifetime, "how long it is valid: 12h, 30d, 8w")
      ->type_name("TIME");
  add_own_flags(*command, options->own, "its hosts");
  command->add_option("--tag", options->code.tags, "tag of its hosts (repeatable)")->type_name("TAG");
  on_parse(command, chosen, options, add_code);
}

}  // namespace

void add_own_flags(CLI::App& command, bool& own, const std::string& whose) {
  auto* chosen = command.add_flag(
      "--own", own,
      whose + " are the project's own: their results are trusted (only for your own computers)");
  command.add_flag("--strangers")
      ->description(whose + " are volunteers', whose results other hosts verify: the default")
      ->excludes(chosen);
}

void add_code_commands(CLI::App& program, Action& chosen) {
  CLI::App* codes = program.add_subcommand("code", "Make and revoke the codes with which hosts join");
  codes->require_subcommand(1);
  declare_add_code(*codes, chosen);
  on_parse(codes->add_subcommand("list", "List all codes"), chosen, std::make_shared<NoOptions>(),
           list_codes);
  const auto declare = [&](const std::string& name, const std::string& help,
                           Result<ExitCode> (*action)(Session&, const CodeChoice&)) {
    const auto choice = std::make_shared<CodeChoice>();
    CLI::App* command = codes->add_subcommand(name, help);
    command->add_option("name", choice->name, "the code's name")->required()->type_name("NAME");
    if (name == "withdraw") {
      command->add_flag("--with-hosts", choice->with_hosts, "also revoke the hosts that joined with it");
      command->add_flag("--yes", choice->yes, "do not ask");
    }
    on_parse(command, chosen, choice, action);
  };
  declare("show", "Show one code", show_code);
  declare("rotate", "Give a code a new secret; its hosts stay", rotate_code);
  declare("withdraw", "Revoke a code: no more hosts can join with it", withdraw_code);
}

}  // namespace gleaner::admin
