// problem output: what a running kernel says.
#include "shared/protocol/codec.h"
#include "tools/admin/commands.h"

namespace gleaner::admin {
namespace {

constexpr Duration output_interval = std::chrono::seconds{2};
constexpr Duration output_patience = std::chrono::minutes{3};

struct OutputChoice {
  std::string which;
  std::int64_t host = 0;
  bool follow = false;
};

// Of `now`, what was not in `before`, of which the beginning may have gone.
std::string_view fresh(std::string_view before, std::string_view now) {
  constexpr std::size_t compared = 256;
  if (now.starts_with(before)) return now.substr(before.size());
  const std::string_view end = before.substr(before.size() - std::min(before.size(), compared));
  const auto place = now.rfind(end);
  return place == std::string_view::npos ? now : now.substr(place + end.size());
}

// The first answer of the host, which is asked with its next report.
Result<protocol::KernelOutput> first_output(Session& session, Api& api, ProblemId problem, HostId host) {
  Outside& outside = session.outside();
  const SteadyTime end = outside.clock.steady() + output_patience;
  bool said = false;
  for (;;) {
    TRY_ASSIGN(auto output, api.output(problem, host));
    if (output.at != Timestamp{}) return output;
    if (!std::exchange(said, true))
      session.people() << "host " << output.host.value << " (" << output.host_name
                       << ") sends it with its next report, within a minute or so\n";
    if (outside.interrupted()) return Error{ErrorKind::io, "stopped waiting"};
    if (outside.clock.steady() > end)
      return Error{ErrorKind::unavailable,
                   "the host has not sent it for 3 minutes: it may be switched off, or have an older client"};
    host = output.host;
    outside.wait(output_interval);
  }
}

Result<ExitCode> follow(Session& session, Api& api, ProblemId problem, protocol::KernelOutput shown) {
  Outside& outside = session.outside();
  while (!outside.interrupted() && !outside.reader_gone()) {
    outside.wait(output_interval);
    auto next = api.output(problem, shown.host);
    if (!next.ok()) {
      if (next.error().kind != ErrorKind::conflict) return next.error();
      session.people() << "host " << shown.host.value << " computes it no more\n";
      return ExitCode::ok;
    }
    if (next->at == Timestamp{}) continue;  // of another unit
    outside.out << fresh(shown.text, next->text) << std::flush;
    shown = std::move(*next);
  }
  return ExitCode::ok;
}

Result<ExitCode> show_output(Session& session, const OutputChoice& choice) {
  if (choice.follow && session.json())
    return Error{ErrorKind::invalid, "--follow prints text as it comes: leave out --follow or --json"};
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto problem, find_problem(*api, choice.which));
  TRY_ASSIGN(auto output, first_output(session, *api, problem.id, HostId{choice.host}));
  if (session.json()) {
    session.print_json(protocol::encode(output));
    return ExitCode::ok;
  }
  if (output.text.empty())
    session.people() << "the kernel on host " << output.host.value << " (" << output.host_name
                     << ") has said nothing yet\n";
  session.outside().out << output.text << std::flush;
  if (choice.follow) return follow(session, *api, problem.id, std::move(output));
  return ExitCode::ok;
}

}  // namespace

void add_output_command(CLI::App& problems, Action& chosen) {
  const auto options = std::make_shared<OutputChoice>();
  CLI::App* command = problems.add_subcommand("output", "Show the output of a running kernel");
  command->add_option("problem", options->which, "the problem")->type_name("ID|NAME")->required();
  command->add_option("--host", options->host, "on this host; default: any that computes the problem")
      ->type_name("ID")
      ->check(CLI::PositiveNumber);
  command->add_flag("--follow", options->follow, "keep printing new output until Control-C");
  command->footer(
      "Shows the last 64 KiB that the kernel wrote to standard error or logged. The server requests them "
      "with\nthe host's next report; the host sends output while an administrator watches.");
  on_parse(command, chosen, options, show_output);
}

}  // namespace gleaner::admin
