#include "tools/admin/program.h"

#include <algorithm>

#include "shared/base/version.h"
#include "shared/usage/help.h"
#include "shared/usage/usage.h"
#include "tools/admin/commands.h"
#include "tools/admin/documents.h"

namespace gleaner::admin {
namespace {

constexpr const char* footer =
    R"(Where the server is and the admin token come from an admin profile: the file admin.json
in the directory given by --project, by $GLEANER_PROJECT, or here (or in its admin
directory). `gleaner-server init DIR` writes DIR/admin/admin.json.

Exit status: 0 done, 1 failed, 2 wrong usage, 3 server unreachable or busy,
4 not found, 5 refused or not trusted.

Examples:
  gleaner-admin --project /srv/gleaner status
  gleaner-admin --project /srv/gleaner console
  gleaner-admin keys create --out ~/keys
  gleaner-admin app new primes --language python
  gleaner-admin app check primes/bundle
  gleaner-admin app sign bundles/raytrace --key ~/keys/signer.key
  gleaner-admin app add raytrace-1.0.0.tar.gz
  gleaner-admin problem add --app raytrace --param scene=D --watch
  gleaner-admin problem result 1 -o pictures
  gleaner-admin plan fleet.json
See gleaner-admin(1).)";

void report(Outside& outside, bool json, const Error& error) {
  outside.out.flush();
  outside.error << tinted("gleaner-admin:", Tint::bad, outside.error_display) << ' ' << error.message << '\n';
  if (json)
    outside.out << Document().text("error", name_of(error.kind)).text("message", error.message).render()
                << '\n';
}

void declare_globals(CLI::App& program, GlobalOptions& globals) {
  program.add_option("--project", globals.connection.project, "admin profile, or the directory it is in")
      ->type_name("DIR|FILE");
  program.add_option("--server", globals.connection.server, "the server's address, instead of the profile's")
      ->type_name("URL");
  program
      .add_option("--join-code", globals.connection.join_code,
                  "take address and root key fingerprint from a join code; -: from a line of standard input")
      ->type_name("CODE");
  program.add_option("--token-file", globals.connection.token_file, "file with the admin token (mode 0600)")
      ->type_name("FILE");
  program.add_flag("--json", globals.json, "print exactly one JSON document on standard output");
  program.set_version_flag("--version", std::string("gleaner-admin ") + version_text);
}

}  // namespace

int run_program(Outside& outside, std::vector<std::string> arguments) {
  CLI::App program("Administers a Gleaner project: keys, applications, problems, hosts and permissions.",
                   "gleaner-admin");
  GlobalOptions globals;
  Action chosen;
  usage::set_help_form(program);
  program.footer(footer);
  program.fallthrough();  // before the sub-commands: they take it over, so that --json may stand anywhere
  program.require_subcommand(1);
  declare_globals(program, globals);
  add_key_commands(program, chosen);
  add_application_commands(program, chosen);
  add_problem_commands(program, chosen);
  add_flow_commands(program, chosen);
  add_host_commands(program, chosen);
  add_code_commands(program, chosen);
  add_relay_commands(program, chosen);
  add_token_commands(program, chosen);
  add_ban_commands(program, chosen);
  add_audit_commands(program, chosen);
  add_console_command(program, chosen);
  add_status_command(program, chosen);
  add_contribution_command(program, chosen);
  add_run_local_command(program, chosen);
  add_plan_command(program, chosen);
  const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  try {
    std::reverse(arguments.begin(), arguments.end());  // the library takes them from the back
    program.parse(arguments);
  } catch (const CLI::Success& success) {  // --help, --version
    return program.exit(success, outside.out, outside.error);
  } catch (const CLI::ParseError& mistake) {
    // The library sets options only once all is understood.
    report(outside, json, {ErrorKind::invalid, usage::explain(program, mistake)});
    return static_cast<int>(ExitCode::usage);
  }
  CHECK_TRUE(chosen != nullptr);
  Session session(outside, globals);
  const Result<ExitCode> done = chosen(session);
  outside.out.flush();
  if (!done.ok()) {
    report(outside, globals.json, done.error());
    return static_cast<int>(exit_code_for(done.error().kind));
  }
  if (!outside.out && !outside.reader_gone()) {
    report(outside, false, {ErrorKind::io, "cannot write to standard output (is the disk full?)"});
    return static_cast<int>(ExitCode::failed);
  }
  return static_cast<int>(*done);
}

}  // namespace gleaner::admin
