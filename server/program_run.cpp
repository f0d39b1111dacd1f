#include "server/program_run.h"

#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

#include "server/backend/backend.h"
#include "server/http/router.h"
#include "server/http/server.h"
#include "server/link/address.h"
#include "server/link/identity.h"
#include "server/link/listener.h"
#include "server/program_check.h"
#include "server/program_move_blobs.h"
#include "server/program_owner.h"
#include "server/program_serving.h"
#include "server/program_standby.h"
#include "server/service/core/acts.h"
#include "server/service/core/audit_head.h"
#include "server/service/core/project_directory.h"
#include "server/service/service.h"
#include "server/storage/open_blobs.h"
#include "server/storage/open_store.h"
#include "shared/crypto/tls_identity.h"
#include "shared/logging/log.h"
#include "shared/protocol/join_code.h"

namespace gleaner::server {
namespace {

constexpr std::int64_t configuration_bytes_max = 1 << 20;
// What front ends have asked is decided in milliseconds; while this server waits for more, nobody leads.
constexpr std::chrono::seconds link_patience{1};

// Until when clients believe the certificate that is shown, and whether they do.
void tell_certificate(service::Overview& overview, const service::ProjectDirectory& project,
                      const Bytes& root_key, bool public_one, const http::ConnectionFigures& figures) {
  const auto tls = service::read_tls(io::real_files(), project);
  const bool believed = public_one || !tls.ok() ||
                        crypto::check_tls_identity({tls->chain_pem, tls->key_pem},
                                                   crypto::fingerprint(root_key), system_clock().now())
                            .ok();
  if (!believed)
    spdlog::warn(
        "no client trusts the certificate in {}, which is not the project's: set server.public_certificate "
        "if it is one of a public authority, and give the hosts a new join code",
        project.tls_chain().string());
  overview.set_certificate(Timestamp{std::chrono::seconds{figures.certificate_not_after}}, believed);
}

// Front ends are answered from the start of this on; null: there are to be none.
Result<std::unique_ptr<link::Listener>> listen_for_fronts(const service::Configuration& configuration,
                                                          const service::ProjectDirectory& project,
                                                          backend::Backend& backend) {
  if (configuration.link_listen.empty()) return std::unique_ptr<link::Listener>();
  link::ListenerOptions options;
  TRY_ASSIGN(options.address, link::parse_address(configuration.link_listen));
  if (!options.address.local()) {
    TRY_ASSIGN(options.identity, link::read_identity(io::real_files(), project.link_key()));
  }
  options.log = [](const std::string& line) { spdlog::info("{}", line); };
  TRY_ASSIGN(
      auto listener,
      link::Listener::start(std::move(options), [&backend](link::Kind kind, std::string_view body,
                                                           const std::shared_ptr<link::Exchange>& exchange) {
        backend.handle(kind, body, exchange);
      }));
  spdlog::info("front ends find this server at {}", configuration.link_listen);
  return listener;
}

}  // namespace

Result<service::Configuration> read_configuration(const io::Path& directory) {
  const service::ProjectDirectory project(directory);
  if (!io::real_files().exists(project.configuration()))
    return Error{ErrorKind::not_found, directory.string() +
                                           " holds no project: make one with `gleaner-server init " +
                                           directory.string() + "`"};
  TRY_ASSIGN(const Bytes text, io::real_files().read(project.configuration(), configuration_bytes_max));
  TRY_ASSIGN(auto configuration, service::parse_configuration(text, project.configuration().string()));
  const auto in_file = [&](const Status& status, const char* setting) -> Status {
    return status.ok() ? status : status.error().within(project.configuration().string() + ": " + setting);
  };
  if (!configuration.link_listen.empty())
    if (const auto address = link::parse_address(configuration.link_listen); !address.ok())
      TRY(in_file(address.error(), "link.listen"));
  if (const auto all = link::parse_addresses(configuration.link_servers); !all.ok())
    TRY(in_file(all.error(), "link.servers"));
  return configuration;
}

int run_server(const io::Path& directory, int port_override, const std::string& log_level,
               storage::Loss loss) {
  if (const Status user = check_user(directory, "run"); !user.ok()) return fail(user.error());
  auto configuration = read_configuration(directory);
  if (!configuration.ok()) return fail(configuration.error());
  if (!log_level.empty()) configuration->log_level = log_level;
  const int port = port_override >= 0 ? port_override : static_cast<int>(configuration->port);
  logging::set_up({.name = "gleaner-server",
                   .level = configuration->log_level,
                   .form = logging::form_of(configuration->log_format)});
  block_signals();
  open_privately(directory);
  const service::ProjectDirectory project(directory);
  if (configuration->former_own)
    spdlog::warn(
        "{}: hosts.own has no effect any more: remove the line. New hosts are volunteers', unless their code "
        "was made with "
        "`gleaner-admin code add NAME --own`; those that joined before stay what they were.",
        project.configuration().string());
  auto secrets = service::read_secrets(io::real_files(), project, system_clock().now());
  if (!secrets.ok()) return fail(secrets.error());

  auto options = http_options(*configuration, project, port);
  if (!options.ok()) return fail(options.error());
  options->certificate_chain_pem = secrets->tls_chain_pem;
  options->private_key_pem = secrets->tls_key_pem;

  const auto code_secrets = *secrets;
  std::atomic<bool> leads_no_longer{false};
  Standby standby(*options);
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
    if (const Status forgotten = service::forget_audit_head(io::real_files(), project); !forgotten.ok())
      return fail(forgotten.error());
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
  const auto figures = options->figures;
  auto serving = Serving::start(**service, std::move(*options),
                                configuration->public_page ? http::PublicPage::on : http::PublicPage::off);
  if (!serving.ok()) return fail(serving.error());
  http::Server& server = (*serving)->server();
  const auto tell = [&] {
    tell_certificate((*service)->overview(), project, code_secrets.root_key,
                     configuration->public_certificate, *figures);
  };
  tell();
  backend::Backend backend(**service, (*serving)->router(), code_secrets.project);
  auto listener = listen_for_fronts(*configuration, project, backend);
  if (!listener.ok()) return fail(listener.error());
  spdlog::info("serving {} on https://{}:{}", configuration->name, configuration->address, server.port());
  if (code_secrets.enrolment_secret.empty())
    spdlog::info("join code not shown (gleaner-admin code)");
  else
    spdlog::info("join code {}, for volunteers (for your own computers: gleaner-admin code add NAME --own)",
                 protocol::to_text(service::join_code(*configuration, code_secrets.root_key,
                                                      code_secrets.enrolment_secret, server.port())));
  sd_notify(0, "READY=1");

  wait_for_signals(server, project, tell);
  sd_notify(0, "STOPPING=1");
  (*serving)->stop(leads_no_longer ? Duration{} : patience);
  if (*listener) {
    if (!leads_no_longer) (*listener)->hand_over(link_patience);
    (*listener)->stop();
  }
  (*service)->stop();
  spdlog::info("stopped");
  return leads_no_longer ? 1 : 0;
}

}  // namespace gleaner::server
