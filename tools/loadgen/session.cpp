#include "tools/loadgen/session.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "shared/base/version.h"
#include "shared/io/http_client.h"
#include "shared/io/secret_file.h"
#include "shared/protocol/codec.h"
#include "shared/transport/find_server.h"
#include "tools/loadgen/enrolment.h"

namespace gleaner::loadgen {
namespace {

constexpr Duration enrolment_within = std::chrono::hours{1};

struct Server {
  protocol::JoinCode code;
  std::string authority;  // HOST:PORT
  Endpoint endpoint;
  transport::Found found;
};

// The project's server, or a relay of it.
Result<transport::Found> find_out_who(const protocol::JoinCode& code) {
  const std::string agent = std::string("gleaner-loadgen/") + version_text;
  const auto pinned = std::make_shared<io::PinnedTlsKey>();
  const auto http = io::make_curl_client({code.root_fingerprint}, agent, {}, {}, pinned);
  const auto inquiring = io::make_inquiring_client(agent);
  return transport::find_server({*http, inquiring.get(), pinned.get()}, code, {}, system_clock().now());
}

TlsClient tls_client(const Server& server) {
  const auto& relay = server.found.relay;
  return TlsClient(server.code.root_fingerprint, relay ? relay->certificate.tls_key : std::string());
}

Result<Server> find_server(const ServerOptions& options) {
  Server server;
  TRY_ASSIGN(const std::string given, io::read_secret_argument(options.join_code));
  TRY_ASSIGN(server.code, protocol::parse_join_code(given));
  if (!options.server.empty()) {
    const std::size_t colon = options.server.rfind(':');
    const std::string port = colon == std::string::npos ? "" : options.server.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), server.code.port);
    if (error != std::errc{} || end != port.data() + port.size() || port.empty())
      return Error{ErrorKind::invalid, "--server " + options.server + ": expected HOST:PORT"};
    server.code.host = options.server.substr(0, colon);
  }
  server.authority = server.code.base_url().substr(std::string("https://").size());
  TRY_ASSIGN(server.endpoint, resolve(server.code.host, server.code.port));
  TRY_ASSIGN(server.found, find_out_who(server.code));
  return server;
}

EngineOptions engine_options(const ServerOptions& options, const Server& server, Reconnect reconnect) {
  EngineOptions engine;
  engine.server = server.endpoint;
  engine.connections = options.connections;
  engine.networks = options.networks;
  engine.opening = options.opening;
  engine.reconnect = reconnect;
  engine.stubborn = options.stubborn;
  engine.seed = options.seed;
  return engine;
}

// What is used from its beginning to stop().
class Meter {
 public:
  explicit Meter(std::int64_t server) : server_(static_cast<pid_t>(server)) {}
  [[nodiscard]] Status begin() {
    begun_at_ = system_clock().steady();
    TRY_ASSIGN(own_, usage_of(::getpid()));
    if (server_ <= 0) return {};
    TRY_ASSIGN(servers_, usage_of(server_));
    return {};
  }
  [[nodiscard]] Status stop(Report& report) const {
    report.seconds = to_seconds(system_clock().steady() - begun_at_);
    TRY_ASSIGN(const ProcessUsage own, usage_of(::getpid()));
    report.own_cpu = own.cpu - own_.cpu;
    if (server_ <= 0) return {};
    auto server = usage_of(server_);
    if (!server.ok()) return {};  // it ended meanwhile: its requests say so
    server->cpu -= servers_.cpu;
    report.server = *server;
    return {};
  }

 private:
  const pid_t server_;
  SteadyTime begun_at_{};
  ProcessUsage own_, servers_;
};

Result<Enrolled> enrol_at(const Server& server, const ServerOptions& options, std::int64_t hosts,
                          std::int64_t process) {
  TlsClient tls = tls_client(server);
  Enrolment enrolment(server.code, server.found, server.authority, hosts);
  Engine engine(engine_options(options, server, Reconnect::kept), tls, enrolment);
  Meter meter(process);
  TRY(meter.begin());
  TRY(engine.run_until(system_clock().steady() + enrolment_within));
  Enrolled enrolled;
  TRY(meter.stop(enrolled.report));
  enrolled.report.counters = engine.counters();
  enrolled.report.trouble = engine.last_trouble();
  enrolled.hosts = enrolment.take();
  if (std::cmp_less(enrolled.hosts.size(), hosts))
    return Error{ErrorKind::unavailable,
                 "only " + std::to_string(enrolled.hosts.size()) + " of " + std::to_string(hosts) +
                     " hosts could be enrolled; the last trouble: " + engine.last_trouble()};
  return enrolled;
}

Result<std::vector<EnrolledHost>> find_hosts(const Server& server, const RunOptions& options) {
  if (options.hosts_file.empty()) {
    TRY_ASSIGN(Enrolled enrolled, enrol_at(server, options.server, options.hosts, 0));
    return std::move(enrolled.hosts);
  }
  TRY_ASSIGN(auto hosts,
             read_hosts(io::real_files(), options.hosts_file, server.found.trust.project, options.hosts));
  if (std::cmp_less(hosts.size(), options.hosts))
    return Error{ErrorKind::invalid, options.hosts_file + " holds only " + std::to_string(hosts.size()) +
                                         " hosts: enrol more, or say --hosts " +
                                         std::to_string(hosts.size())};
  const bool signs = server.found.relay.has_value();
  if (std::any_of(hosts.begin(), hosts.end(),
                  [signs](const auto& host) { return host.key.empty() == signs; }))
    return Error{ErrorKind::invalid,
                 options.hosts_file + " holds hosts that enrolled " +
                     (signs ? "at the server, and this is a relay" : "at a relay, and this is the server")};
  return hosts;
}

}  // namespace

Result<Enrolled> enrol(const ServerOptions& options, std::int64_t hosts, const std::string& hosts_file,
                       std::int64_t server_process) {
  TRY_ASSIGN(const Server server, find_server(options));
  TRY_ASSIGN(Enrolled enrolled, enrol_at(server, options, hosts, server_process));
  if (!hosts_file.empty())
    TRY(write_hosts(io::real_files(), hosts_file, server.found.trust.project, enrolled.hosts));
  return enrolled;
}

Result<Report> run(const RunOptions& options) {
  TRY_ASSIGN(const Server server, find_server(options.server));
  if (server.found.relay && (!options.ledger_file.empty() || options.work.errors > 0))
    return Error{ErrorKind::invalid,
                 "--ledger and --errors are for hosts of the server: a relay numbers units for itself, and "
                 "answers later"};
  TRY_ASSIGN(std::vector<EnrolledHost> hosts, find_hosts(server, options));
  Ledger ledger;
  if (!options.ledger_file.empty()) {
    TRY_ASSIGN(ledger, Ledger::create(options.ledger_file, server.found.trust.project));
  }
  TlsClient tls = tls_client(server);
  WorkOptions work = options.work;
  work.stubborn = options.server.stubborn;
  work.results.seed = options.server.seed;
  Working working(work, std::move(hosts), server.authority, server.found.trust, ledger);
  Engine engine(engine_options(options.server, server, options.reconnect), tls, working);

  TRY(engine.run_until(system_clock().steady() + from_seconds(options.warm_up_seconds)));
  engine.counters() = Counters{};
  const Tally before = working.tally();
  Meter meter(options.server_process);
  TRY(meter.begin());
  TRY(engine.run_until(system_clock().steady() + from_seconds(options.seconds)));
  Report report;
  TRY(meter.stop(report));
  report.counters = engine.counters();
  report.tally = difference(working.tally(), before);
  // What is left open after that is in the ledger as such.
  TRY(engine.drain(system_clock().steady() + from_seconds(options.drain_seconds)));
  working.close_books();
  TRY(ledger.close());
  report.whole = working.tally();
  report.accepted = ledger.count(Outcome::accepted);
  report.duplicate = ledger.count(Outcome::duplicate);
  report.refused = ledger.count(Outcome::refused);
  report.unanswered = ledger.count(Outcome::unanswered);
  report.trouble = engine.last_trouble();
  report.fault = working.first_fault();
  return report;
}

}  // namespace gleaner::loadgen
