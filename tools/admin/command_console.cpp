// console: a link that logs its first user in to the server's page.
#include "shared/protocol/codec.h"
#include "tools/admin/commands.h"
#include "tools/admin/documents.h"
#include "tools/admin/figures.h"

namespace gleaner::admin {
namespace {

struct ConsoleOptions {
  bool no_open = false;
};

// A browser beside the person who reads this: not over SSH, and not for a script.
bool has_browser(Session& session) {
  const Outside& outside = session.outside();
  return outside.out_display.terminal && !session.json() &&
         (outside.variable("DISPLAY") || outside.variable("WAYLAND_DISPLAY"));
}

Result<ExitCode> open_console(Session& session, const ConsoleOptions& options) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto link,
             api->post<protocol::ConsoleLink>("/v1/console/links", empty_body, Api::Repeat::yes));
  // Behind '#': browsers keep that part to themselves, and no log on the way has it.
  const std::string address = api->address() + "/console#link=" + link.secret;
  if (session.json()) {
    session.print_json(
        Document().text("address", address).text("expires_at", to_rfc3339(link.expires_at)).render());
    return ExitCode::ok;
  }
  session.people() << address << '\n';
  std::ostream& error = session.outside().error;
  error << "The link logs in whoever opens it first, within two minutes. Where the server has the "
           "certificate that `gleaner-server init` made, the browser warns once.\n";
  if (options.no_open || !has_browser(session)) return ExitCode::ok;
  error << "Opening it in a browser ...\n" << std::flush;
  const Status opened = session.outside().open_browser(address);
  error << (opened.ok() ? "The browser has it.\n"
                        : opened.error().message + ": open the link above in a browser\n");
  return ExitCode::ok;
}

}  // namespace

void add_console_command(CLI::App& program, Action& chosen) {
  const auto options = std::make_shared<ConsoleOptions>();
  CLI::App* console = program.add_subcommand("console", "Log in to the project's page in a browser");
  console->add_flag("--no-open", options->no_open, "only print the link");
  on_parse(console, chosen, options, open_console);
}

}  // namespace gleaner::admin
