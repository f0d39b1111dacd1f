#include "tools/loadgen/program.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>
#include <ostream>

#include "shared/base/limits.h"
#include "shared/base/version.h"
#include "shared/usage/help.h"
#include "shared/usage/usage.h"
#include "tools/loadgen/session.h"

namespace gleaner::loadgen {
namespace {

constexpr const char* footer =
    R"(Measure on a machine of its own, or say so beside the figures: generator and server share what there is.
The server's limits hold for generated load, too: hosts.joins_per_hour, hosts.requests_per_second,
server.connections_max, server.connections_per_network_max and server.requests_per_second_per_network in
server.toml.

Exit status: 0 done, 1 failed, 2 wrong usage, 3 server unreachable or silent, 5 an answer was not to be
trusted, or contradicts what was sent.

Examples:
  gleaner-loadgen enrol --join-code CODE --hosts 2000 --hosts-file hosts
  gleaner-loadgen run --join-code CODE --hosts 2000 --hosts-file hosts --connections 128 --ledger ledger
  gleaner-loadgen run --join-code CODE --hosts 500 --mode heartbeat --reconnect resumed --json
See gleaner-loadgen(1).)";

enum class ExitCode : int { done = 0, failed = 1, usage = 2, unreachable = 3, untrusted = 5 };

using Action = std::function<Result<ExitCode>(Console& console)>;

// Milliseconds on the command line.
struct Milliseconds {
  double compute = 0;
  double item = 0;
  double think = 0;
};

struct Line {
  RunOptions run;
  Milliseconds times;
  bool json = false;
};

ExitCode exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::unavailable:
      return ExitCode::unreachable;
    case ErrorKind::untrusted:
      return ExitCode::untrusted;
    default:
      return ExitCode::failed;
  }
}

void add_server_options(CLI::App& command, Line& line) {
  ServerOptions& server = line.run.server;
  command
      .add_option("--join-code", server.join_code,
                  "whose server it is, and the secret to enrol with; -: a line of standard input")
      ->required()
      ->type_name("CODE");
  command.add_option("--server", server.server, "where it is, instead of the join code's address")
      ->type_name("HOST:PORT");
  command.add_option("--hosts", line.run.hosts, "how many hosts to be")
      ->check(CLI::Range(std::int64_t{1}, limits::loadgen_hosts_max))
      ->type_name("N");
  command.add_option("--hosts-file", line.run.hosts_file, "enrolled hosts, as `enrol` writes them")
      ->type_name("FILE");
  command.add_option("--connections", server.connections, "connections that the hosts share")
      ->check(CLI::Range(std::int64_t{1}, limits::loadgen_connections_max))
      ->type_name("N");
  command
      .add_option("--networks", server.networks,
                  "loopback addresses to come from: 127.0.0.1 and those after it")
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("N");
  command.add_option("--opening", server.opening, "connections of each network to open at a time")
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("N");
  command
      .add_option("--server-pid", line.run.server_process,
                  "the server's process, to measure its CPU time and memory")
      ->type_name("PID");
  command.add_option("--seed", server.seed, "of what is drawn by chance, and of the results")->type_name("N");
  command.add_flag("--stubborn", server.stubborn, "ask again at once, whatever the server says");
  command.add_flag("--json", line.json, "print exactly one JSON document on standard output");
}

void add_load_options(CLI::App& command, Line& line) {
  WorkOptions& work = line.run.work;
  const std::map<std::string, Mode> modes{
      {"cycle", Mode::cycle}, {"ask", Mode::ask}, {"heartbeat", Mode::heartbeat}, {"project", Mode::project}};
  const std::map<std::string, Reconnect> reconnects{
      {"kept", Reconnect::kept}, {"resumed", Reconnect::resumed}, {"full", Reconnect::full}};
  command
      .add_option("--mode", work.mode,
                  "what hosts do: cycle (deliver and ask in one request), ask, heartbeat, or project (ask "
                  "for the project)")
      ->transform(CLI::CheckedTransformer(modes).description(""))
      ->type_name("MODE");
  command
      .add_option("--reconnect", line.run.reconnect,
                  "connections are kept, or new for each request: resumed, or full handshakes")
      ->transform(CLI::CheckedTransformer(reconnects).description(""))
      ->type_name("HOW");
  command.add_option("--units-per-request", work.units_per_request, "slots of each host")
      ->check(CLI::Range(1, limits::units_per_request_max))
      ->type_name("N");
  command.add_option("--heartbeats", work.heartbeats, "heartbeats in each cycle")
      ->check(CLI::Range(0, 1000))
      ->type_name("N");
  command.add_option("--compute", line.times.compute, "milliseconds from a unit to its result")
      ->check(CLI::Range(0.0, 1e9))
      ->type_name("MS");
  command.add_option("--item", line.times.item, "milliseconds on top for each of its items")
      ->check(CLI::Range(0.0, 1e9))
      ->type_name("MS");
  command.add_option("--think", line.times.think, "milliseconds on top, on average (exponential)")
      ->check(CLI::Range(0.0, 1e9))
      ->type_name("MS");
  command.add_option("--payload", work.results.item_bytes, "bytes of an item's result")
      ->check(CLI::Range(1, 30'000))
      ->type_name("BYTES");
  command.add_flag("--same-bytes", work.results.same_bytes, "all results are the same bytes");
  command
      .add_option("--errors", work.errors,
                  "share of requests with which a host repeats a result, spoils it, hangs up, or vanishes")
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("SHARE");
  command
      .add_option("--verify-every", work.verify_every, "check all signatures of every Nth answer; 0: of none")
      ->check(CLI::Range(0, 1 << 30))
      ->type_name("N");
}

void add_time_options(CLI::App& command, Line& line) {
  command
      .add_option("--rounds", line.run.work.rounds, "answers after which a host is silent; 0: it never is")
      ->check(CLI::Range(0, 1 << 30))
      ->type_name("N");
  command.add_option("--seconds", line.run.seconds, "how long to measure")
      ->check(CLI::Range(0.1, 1e6))
      ->type_name("S");
  command.add_option("--warm-up", line.run.warm_up_seconds, "seconds before")
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("S");
  command
      .add_option("--drain", line.run.drain_seconds, "seconds that open requests are waited for afterwards")
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("S");
  command.add_option("--ledger", line.run.ledger_file, "write what became of every result")
      ->type_name("FILE");
}

// As many as connections need; where the system allows fewer, opening one fails and says so.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Result<ExitCode> run_line(Line& line, Console& console) {
  line.run.work.compute = from_seconds(line.times.compute / 1000);
  line.run.work.item = from_seconds(line.times.item / 1000);
  line.run.work.think = from_seconds(line.times.think / 1000);
  TRY_ASSIGN(const Report report, run(line.run));
  console.out << (line.json ? json_of(report) : text_of(report));
  if (report.whole.untrusted > 0 || report.whole.contradictions > 0) return ExitCode::untrusted;
  return report.counters.answers + report.counters.busy > 0 ? ExitCode::done : ExitCode::unreachable;
}

Result<ExitCode> enrol_line(const Line& line, Console& console) {
  TRY_ASSIGN(const Enrolled enrolled,
             enrol(line.run.server, line.run.hosts, line.run.hosts_file, line.run.server_process));
  console.out << (line.json
                      ? json_of(enrolled.report)
                      : fmt::format("{} hosts enrolled\n", enrolled.hosts.size()) + text_of(enrolled.report));
  return ExitCode::done;
}

}  // namespace

int run_program(Console& console, std::vector<std::string> arguments) {
  CLI::App program("Acts like many hosts: loads a gleaner-server as they would, and measures it.",
                   "gleaner-loadgen");
  usage::set_help_form(program);
  program.footer(footer);
  program.require_subcommand(1);
  program.set_version_flag("--version", std::string("gleaner-loadgen ") + version_text);
  Line line;
  Action chosen;
  CLI::App* enrolling = program.add_subcommand("enrol", "Enrols hosts, and keeps them in a file");
  add_server_options(*enrolling, line);
  enrolling->callback([&] { chosen = [&line](Console& on) { return enrol_line(line, on); }; });
  CLI::App* running = program.add_subcommand("run", "Lets hosts work, measures, and keeps a ledger");
  add_server_options(*running, line);
  add_load_options(*running, line);
  add_time_options(*running, line);
  running->callback([&] { chosen = [&line](Console& on) { return run_line(line, on); }; });
  try {
    std::reverse(arguments.begin(), arguments.end());  // the library takes them from the back
    program.parse(arguments);
  } catch (const CLI::Success& success) {  // --help, --version
    return program.exit(success, console.out, console.error);
  } catch (const CLI::ParseError& mistake) {
    console.error << "gleaner-loadgen: " << usage::explain(program, mistake) << "\n";
    return static_cast<int>(ExitCode::usage);
  }
  CHECK_TRUE(chosen != nullptr);
  raise_descriptor_limit();
  const Result<ExitCode> done = chosen(console);
  console.out.flush();
  if (!done.ok()) {
    console.error << "gleaner-loadgen: " << done.error().message << '\n';
    return static_cast<int>(exit_code_of(done.error().kind));
  }
  if (!console.out) {
    console.error << "gleaner-loadgen: cannot write to standard output (is the disk full?)\n";
    return static_cast<int>(ExitCode::failed);
  }
  return static_cast<int>(*done);
}

}  // namespace gleaner::loadgen
