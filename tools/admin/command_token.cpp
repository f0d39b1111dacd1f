// token add, list, withdraw: who may administer.
#include <set>

#include "shared/protocol/codec.h"
#include "tools/admin/access_api.h"
#include "tools/admin/commands.h"
#include "tools/admin/figures.h"

namespace gleaner::admin {
namespace {

struct NewToken {
  protocol::AddToken token;
  std::string lifetime;
};

struct TokenChoice {
  std::string name;
  bool with_made = false;
  bool yes = false;
};

Result<ExitCode> list_tokens(Session& session, const NoOptions&) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto tokens, get_tokens(*api));
  if (session.json()) {
    session.print_json(protocol::encode(tokens));
    return ExitCode::ok;
  }
  Table table({{"NAME"}, {"ROLE"}, {"STATE"}, {"MADE"}, {"BY"}, {"EXPIRES"}});
  for (const auto& token : tokens)
    table.add({{token.name, Tint::bold},
               protocol::name_of(token.role),
               {token.state, token.state == "valid" ? Tint::good : Tint::dim},
               time_text(token.made_at),
               token.made_by,
               to_microseconds(token.expires_at) == 0 ? "never" : time_text(token.expires_at)});
  session.people() << table.render(session.people_display());
  return ExitCode::ok;
}

Result<ExitCode> make_token(Session& session, const NewToken& options) {
  protocol::AddToken token = options.token;
  if (!options.lifetime.empty()) {
    TRY_ASSIGN(token.lifetime_seconds, seconds_of("--expires", options.lifetime));
  }
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto made, add_token(*api, token));
  if (session.json()) {
    session.print_json(protocol::encode(made));
    return ExitCode::ok;
  }
  session.people() << made.token << '\n';
  const bool ends = to_microseconds(made.info.expires_at) != 0;
  session.outside().error
      << "The token of " << made.info.name << " (" << protocol::name_of(made.info.role)
      << ") is shown only once. Save it in a file with mode 0600 and pass it with --token-file."
      << (ends ? " It expires on " + time_text(made.info.expires_at) + "." : "") << '\n';
  return ExitCode::ok;
}

// "token bob, code lab": what `name` made, directly or through tokens that it made, and is still good.
Result<std::vector<std::string>> made_by(Api& api, const std::string& name) {
  TRY_ASSIGN(const auto tokens, get_tokens(api));
  TRY_ASSIGN(const auto codes, api.codes());
  std::set<std::string> makers{name};
  std::vector<std::string> made;
  for (bool more = true; more;) {
    more = false;
    for (const auto& token : tokens) {
      if (!makers.contains(token.made_by) || !makers.insert(token.name).second) continue;
      more = true;
      if (token.state == "valid") made.push_back("token " + token.name);
    }
  }
  for (const auto& code : codes)
    if (makers.contains(code.made_by) && (code.state == "valid" || code.state == "full"))
      made.push_back("code " + code.name);
  return made;
}

Result<ExitCode> end_token(Session& session, const TokenChoice& choice) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto made, made_by(*api, choice.name));
  const std::string all = joined(made);
  const bool with_made = choice.with_made && !made.empty();
  TRY_ASSIGN(const bool sure,
             session.confirm("Withdraw the admin token " + choice.name +
                                 (with_made ? " and what it made (" + all + ")" : std::string()) +
                                 "? This cannot be undone.",
                             choice.yes));
  if (!sure) {
    session.people() << "the admin token " << choice.name << " is kept\n";
    return ExitCode::failed;
  }
  TRY_ASSIGN(const auto withdrawn, withdraw_token(*api, choice.name, {choice.with_made}));
  if (session.json()) {
    session.print_json(protocol::encode(withdrawn));
    return ExitCode::ok;
  }
  session.people() << "the admin token " << withdrawn.name << " is withdrawn"
                   << (with_made ? ", with " + all : std::string()) << '\n';
  if (!made.empty() && !with_made)
    session.outside().error << "What it made is still good: " << all
                            << ". To withdraw that as well: gleaner-admin token withdraw " << withdrawn.name
                            << " --with-made\n";
  return ExitCode::ok;
}

}  // namespace

void add_token_commands(CLI::App& program, Action& chosen) {
  CLI::App* tokens = program.add_subcommand("token", "Make and revoke the tokens of administrators");
  tokens->require_subcommand(1);

  const auto options = std::make_shared<NewToken>();
  CLI::App* add = tokens->add_subcommand("add", "Make a token and show it, once");
  add->add_option("name", options->token.name, "letters, digits, '.', '_' and '-'")
      ->required()
      ->type_name("NAME");
  const std::map<std::string, protocol::Role> roles{{"viewer", protocol::Role::view},
                                                    {"operator", protocol::Role::operate},
                                                    {"owner", protocol::Role::own}};
  add->add_option("--role", options->token.role, "viewer, operator or owner")
      ->required()
      ->transform(CLI::CheckedTransformer(roles).description(""))
      ->type_name("ROLE");
  add->add_option("--expires", options->lifetime,
                  "how long it is valid: 12h, 30d, 8w; at most as long as the token that makes it")
      ->type_name("TIME");
  on_parse(add, chosen, options, make_token);

  on_parse(tokens->add_subcommand("list", "List all tokens"), chosen, std::make_shared<NoOptions>(),
           list_tokens);

  const auto choice = std::make_shared<TokenChoice>();
  CLI::App* withdraw = tokens->add_subcommand("withdraw", "Revoke a token");
  withdraw->add_option("name", choice->name, "the token's name")->required()->type_name("NAME");
  withdraw->add_flag("--with-made", choice->with_made,
                     "also revoke the tokens and join codes that it made, and those that these tokens made");
  withdraw->add_flag("--yes", choice->yes, "do not ask");
  on_parse(withdraw, chosen, choice, end_token);
}

}  // namespace gleaner::admin
