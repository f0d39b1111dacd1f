#include "server/program_serving.h"

#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "server/http/placed.h"
#include "server/http/ticket_keys.h"
#include "shared/io/private_files.h"

namespace gleaner::server {
namespace {

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

// Stacks of 20 threads and jemalloc's arenas: below 224 MiB a server without hosts did not start.
constexpr rlim_t address_space_min = 512 << 20;

// jemalloc crashes where it finds no addresses for a thread's arena, instead of telling that there is no
// memory.
Status check_address_space() {
  rlimit addresses{};
  if (::getrlimit(RLIMIT_AS, &addresses) != 0 || addresses.rlim_cur >= address_space_min) return {};
  return Error{ErrorKind::io,
               fmt::format("this process may use {} MiB of addresses, and the server needs {}: raise "
                           "`ulimit -v` (LimitAS= of a systemd unit)",
                           addresses.rlim_cur >> 20, address_space_min >> 20)};
}

// What is wrong with a renewed certificate must not end the server.
void renew_certificate(http::Server& server, const service::ProjectDirectory& project,
                       const std::function<void()>& renewed) {
  const auto tls = service::read_tls(io::real_files(), project);
  const Status used = tls.ok() ? server.use_certificate(tls->chain_pem, tls->key_pem) : Status{tls.error()};
  if (used.ok()) renewed();
  if (used.ok())
    spdlog::info("new connections are shown the certificate that {} has now", project.tls_chain().string());
  else
    spdlog::error("the former certificate is shown further: {}", used.error().message);
}

}  // namespace

void let_managers_read() {
  if (::geteuid() == 0) io::make_readable_files();
}

void open_privately(const io::Path& directory) {
  let_managers_read();
  if (const std::string told = io::close_to_others(directory); !told.empty()) spdlog::warn("{}", told);
}

void block_signals() {
  const sigset_t signals = awaited_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

Result<http::ServerOptions> http_options(const service::Configuration& configuration,
                                         const service::ProjectDirectory& project, int port) {
  TRY(check_address_space());
  http::ServerOptions options;
  options.address = configuration.address;
  options.port = port;
  options.tickets =
      std::make_shared<http::TicketKeys>(io::real_files(), project.ticket_keys(), system_clock(),
                                         [](const std::string& line) { spdlog::warn("{}", line); });
  TRY_ASSIGN(options.listening, inherited_socket());
  if (options.listening >= 0) options.timeouts.drain = drain;
  options.is_proxy = service::proxy_check(configuration);
  options.takes_part = http::takes_part;
  options.threads = static_cast<int>(configuration.threads);
  options.connections_max = static_cast<int>(configuration.connections_max);
  options.connections_per_network_max = static_cast<int>(configuration.connections_per_network_max);
  return options;
}

Result<std::unique_ptr<Serving>> Serving::start(service::Service& service, http::ServerOptions options,
                                                http::PublicPage page) {
  std::unique_ptr<Serving> serving(new Serving(service, page, options.figures));
  http::Router& router = serving->router_;
  options.body_bytes_max = [&router](const http::Request& head) { return router.body_bytes_max(head); };
  TRY_ASSIGN(serving->server_,
             http::Server::start(std::move(options), [&router](http::Request request, http::Reply reply) {
               router.handle(std::move(request), std::move(reply));
             }));
  service.overview().set_listening_port(serving->server_->port());
  return serving;
}

void Serving::stop(Duration longest) {
  router_.stop();
  server_->stop(longest);
}

void wait_for_signals(http::Server& server, const service::ProjectDirectory& project,
                      const std::function<void()>& renewed) {
  const sigset_t signals = awaited_signals();
  int caught = 0;
  while (sigwait(&signals, &caught) == 0 && caught == SIGHUP) renew_certificate(server, project, renewed);
  spdlog::info("SIG{} received: finishing pending requests", sigabbrev_np(caught));
}

}  // namespace gleaner::server
