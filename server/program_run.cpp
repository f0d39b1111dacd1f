#include "server/program_run.h"

#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "server/http/router.h"
#include "server/http/server.h"
#include "server/http/ticket_keys.h"
#include "server/program_check.h"
#include "server/program_log.h"
#include "server/program_move_blobs.h"
#include "server/program_standby.h"
#include "server/service/acts.h"
#include "server/service/project_directory.h"
#include "server/service/service.h"
#include "server/storage/open_blobs.h"
#include "server/storage/open_store.h"
#include "shared/protocol/join_code.h"

namespace gleaner::server {
namespace {

constexpr std::int64_t configuration_bytes_max = 1 << 20;
constexpr auto patience = std::chrono::seconds{10};
// Where the socket outlives the server. Elsewhere it would only keep a standby from taking over.
constexpr auto drain = std::chrono::seconds{1};

sigset_t awaited_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int each : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, each);
  return signals;
}

// The socket that systemd listens on for this program, and goes on listening on while the program is
// replaced: who connects meanwhile waits. -1: it was started without one.
Result<int> inherited_socket() {
  const int count = sd_listen_fds(1);  // and no child takes them for its own
  if (count < 0)
    return Error{ErrorKind::invalid,
                 "LISTEN_FDS: what systemd handed over cannot be used: " + std::string(strerror(-count))};
  if (count == 0) return -1;
  if (count > 1 || sd_is_socket(SD_LISTEN_FDS_START, AF_UNSPEC, SOCK_STREAM, 1) <= 0)
    return Error{
        ErrorKind::invalid,
        "LISTEN_FDS: expected one TCP socket that is listened on: the .socket unit needs exactly one "
        "ListenStream="};
  return SD_LISTEN_FDS_START;
}

Timestamp certificate_end(const http::ConnectionFigures& figures) {
  return Timestamp{std::chrono::seconds{figures.certificate_not_after}};
}

// SIGHUP: the certificate was renewed. What is wrong with it must not end the server.
void renew_certificate(http::Server& server, const http::ConnectionFigures& figures,
                       service::Overview& overview, const service::ProjectDirectory& project) {
  const auto tls = service::read_tls(io::real_files(), project);
  const Status used = tls.ok() ? server.use_certificate(tls->chain_pem, tls->key_pem) : Status{tls.error()};
  if (used.ok()) overview.set_certificate_end(certificate_end(figures));
  if (used.ok())
    spdlog::info("new connections are shown the certificate that {} has now", project.tls_chain().string());
  else
    spdlog::error("the former certificate is shown further: {}", used.error().message);
}

// Until the server is to stop.
void wait_for_signals(http::Server& server, const http::ConnectionFigures& figures,
                      service::Overview& overview, const service::ProjectDirectory& project) {
  const sigset_t signals = awaited_signals();
  int caught = 0;
  while (sigwait(&signals, &caught) == 0 && caught == SIGHUP)
    renew_certificate(server, figures, overview, project);
  spdlog::info("{}: finishing what was received", strsignal(caught));
}

// Before any thread starts, so that all of them inherit it.
void block_signals() {
  const sigset_t signals = awaited_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

}  // namespace

Result<service::Configuration> read_configuration(const io::Path& directory) {
  const service::ProjectDirectory project(directory);
  if (!io::real_files().exists(project.configuration()))
    return Error{ErrorKind::not_found, directory.string() +
                                           " holds no project: make one with `gleaner-server init " +
                                           directory.string() + "`"};
  TRY_ASSIGN(const Bytes text, io::real_files().read(project.configuration(), configuration_bytes_max));
  return service::parse_configuration(text, project.configuration().string());
}

int run_server(const io::Path& directory, int port_override, const std::string& log_level,
               storage::Loss loss) {
  auto configuration = read_configuration(directory);
  if (!configuration.ok()) return fail(configuration.error());
  if (!log_level.empty()) configuration->log_level = log_level;
  const int port = port_override >= 0 ? port_override : static_cast<int>(configuration->port);
  set_up_log(configuration->log_level, configuration->log_format);
  block_signals();
  const service::ProjectDirectory project(directory);
  auto secrets = service::read_secrets(io::real_files(), project, system_clock().now());
  if (!secrets.ok()) return fail(secrets.error());

  http::ServerOptions options;
  options.address = configuration->address;
  options.port = port;
  options.certificate_chain_pem = secrets->tls_chain_pem;
  options.private_key_pem = secrets->tls_key_pem;
  options.tickets =
      std::make_shared<http::TicketKeys>(io::real_files(), project.ticket_keys(), system_clock(),
                                         [](const std::string& line) { spdlog::warn("{}", line); });
  const auto listening = inherited_socket();
  if (!listening.ok()) return fail(listening.error());
  options.listening = *listening;
  if (*listening >= 0) options.timeouts.drain = drain;
  options.is_proxy = service::proxy_check(*configuration);
  options.threads = static_cast<int>(configuration->threads);
  options.connections_max = static_cast<int>(configuration->connections_max);
  options.connections_per_network_max = static_cast<int>(configuration->connections_per_network_max);

  const auto code_secrets = *secrets;
  std::atomic<bool> leads_no_longer{false};
  Standby standby(options);
  storage::StoreOptions store_options{
      configuration->check_store_at_start ? storage::OpenCheck::beside : storage::OpenCheck::none, loss,
      [&standby] { return standby.wait(); },
      [&leads_no_longer](const Error& error) {
        spdlog::critical("{}: this server ends", error.message);
        leads_no_longer = true;
        ::kill(::getpid(), SIGTERM);
      },
      std::make_shared<storage::LastBeat>(system_clock())};
  auto store = storage::open_store(configuration->store_url, directory, store_options);
  standby.end();
  if (standby.was_told_to_end()) return 0;
  if (!store.ok()) return fail(store.error());
  if (loss == storage::Loss::accepted)
    spdlog::warn(
        "--accept-loss: what the store may have lost before this start is given up; leave it out next time");
  if (loss == storage::Loss::accepted)
    if (const Status noted =
            service::note_act(**store, service::server_actor("store accept-loss", "store.sqlite"),
                              "what it may have lost before this start is given up", system_clock().now());
        !noted.ok())
      return fail(noted.error());
  auto place = blob_place(directory, *configuration);
  if (!configuration->store_url.empty())
    place.leads = [beat = store_options.last_beat] { return beat->fresh(); };
  auto blobs = storage::make_blobs(io::real_files(), directory, place, system_clock());
  if (!blobs.ok()) return fail(blobs.error());
  auto service = service::Service::open(
      {project, *configuration}, std::move(*secrets),
      {io::real_files(), io::real_processes(), system_clock(), std::move(*blobs)}, std::move(*store));
  if (!service.ok()) return fail(service.error());
  (*service)->start_ticking();
  http::Router router(**service, configuration->public_page ? http::PublicPage::on : http::PublicPage::off,
                      options.figures);
  options.body_bytes_max = [&router](const http::Request& head) { return router.body_bytes_max(head); };
  const auto figures = options.figures;
  auto server = http::Server::start(std::move(options), [&router](http::Request request, http::Reply reply) {
    router.handle(std::move(request), std::move(reply));
  });
  if (!server.ok()) return fail(server.error());
  (*service)->overview().set_listening_port((*server)->port());
  (*service)->overview().set_certificate_end(certificate_end(*figures));
  spdlog::info("serving {} on https://{}:{}", configuration->name, configuration->address, (*server)->port());
  spdlog::info("join code {}",
               code_secrets.enrolment_secret.empty()
                   ? "not shown (gleaner-admin code)"
                   : protocol::to_text(service::join_code(*configuration, code_secrets.root_key,
                                                          code_secrets.enrolment_secret, (*server)->port())));
  sd_notify(0, "READY=1");

  wait_for_signals(**server, *figures, (*service)->overview(), project);
  sd_notify(0, "STOPPING=1");
  router.stop();
  (*server)->stop(leads_no_longer ? Duration{} : patience);
  (*service)->stop();
  spdlog::info("stopped");
  return leads_no_longer ? 1 : 0;
}

}  // namespace gleaner::server
