#include "server/program_relay.h"

#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <optional>
#include <utility>

#include "server/program_owner.h"
#include "server/program_relay_commands.h"
#include "server/program_serving.h"
#include "server/relay/join.h"
#include "server/relay/leases/upstream.h"
#include "server/relay/parent_calls.h"
#include "server/relay/uplink.h"
#include "server/service/service.h"
#include "server/storage/open_store.h"
#include "shared/base/version.h"
#include "shared/io/private_files.h"
#include "shared/logging/log.h"
#include "shared/protocol/codec.h"
#include "shared/terminal/print.h"
#include "shared/usage/help.h"
#include "shared/usage/usage.h"

namespace gleaner::server {
namespace {

constexpr const char* default_directory = "/var/lib/gleaner-relay";

struct RunOptions {
  int port = -1;  // -1: as the settings say
  std::string log_level;
  storage::Loss loss = storage::Loss::refused;
};

// As much later a work reply may come; twice that where its results are large.
constexpr Duration gather = std::chrono::milliseconds{25};

// What is the project's to say, of what a server has in its settings.
Status take_from_project(service::Configuration& configuration, const relay::Membership& membership) {
  TRY_ASSIGN(const auto document, protocol::decode<protocol::ProjectDocument>(membership.project.payload));
  configuration.heartbeat_seconds = document.heartbeat_seconds;
  configuration.commit_seconds = document.commit_seconds;
  return {};
}

// A relay that is not known an hour after it joined again has another one beside it that uses its identity,
// or two servers behind its parent's address.
constexpr auto joins_again_after = std::chrono::hours{1};

// Of a relay that its project does not know, as after the server was restored from a backup.
struct Rejoining {
  std::optional<SteadyTime> last;  // when it joined again
  relay::Membership fresh;         // what it is to go on with, once `joined`
  std::atomic<bool> joined = false;
};

Status join_again(relay::ParentCalls& parent, const relay::RelayKeys& keys, const std::string& name,
                  Rejoining& rejoining) {
  const SteadyTime now = system_clock().steady();
  if (rejoining.last && now - *rejoining.last < joins_again_after)
    return Error{ErrorKind::conflict,
                 "this relay joined again less than an hour ago: see whether another one runs with a copy of "
                 "its directory"};
  auto joined = parent.join_again(keys, name);
  if (!joined.ok()) return joined.error();
  spdlog::warn(
      "the project does not know this relay, as after it was restored from a backup: it joined again as host "
      "{} and starts anew. Its hosts join again by themselves",
      joined->host.value);
  rejoining.fresh = std::move(*joined);
  rejoining.last = now;
  rejoining.joined = true;
  return {};
}

// Until a signal comes. Whether it is to run again, with `rejoining.fresh`.
Result<bool> serve(const relay::RelayDirectory& directory, const RunOptions& options, Rejoining& rejoining) {
  io::Files& files = io::real_files();
  TRY_ASSIGN(auto configuration, relay::read_settings(files, directory));
  if (!options.log_level.empty()) configuration.log_level = options.log_level;
  logging::set_up({.name = "gleaner-relay",
                   .level = configuration.log_level,
                   .form = logging::form_of(configuration.log_format)});
  if (const std::string told = io::close_to_others(directory.root()); !told.empty()) spdlog::warn("{}", told);
  TRY_ASSIGN(const auto membership, relay::load_membership(files, directory));
  TRY(relay::check_no_copy(files, directory));
  TRY_ASSIGN(const auto keys, relay::load_or_make_keys(files, directory, {}, system_clock().now()));
  TRY_ASSIGN(auto secrets, relay::secrets_of(keys, membership));
  TRY(take_from_project(configuration, membership));
  const int port = options.port >= 0 ? options.port : static_cast<int>(configuration.port);
  TRY_ASSIGN(auto http, http_options(configuration, directory.project(), port));
  http.certificate_chain_pem = secrets.tls_chain_pem;
  http.private_key_pem = secrets.tls_key_pem;
  const Bytes root_key = secrets.root_key;

  TRY_ASSIGN(auto store, storage::open_store({}, directory.root(),
                                             {configuration.check_store_at_start ? storage::OpenCheck::beside
                                                                                 : storage::OpenCheck::none,
                                              options.loss,
                                              {},
                                              {}}));
  relay::ParentCalls parent(files, directory, membership, system_clock(),
                            [](const std::string& line) { spdlog::info("{}", line); });
  auto blobs = std::make_unique<relay::RelayBlobs>(
      files, directory.root(),
      [&parent](const std::string& digest, std::int64_t offset, std::int64_t bytes_max) {
        return parent.blob(digest, offset, bytes_max);
      },
      system_clock(), configuration.blobs_cache_megabytes * 1'000'000);
  service::Settings settings{directory.project(), configuration, membership.host, service::make_leased_items};
  settings.gather = gather;
  TRY_ASSIGN(const auto service,
             service::Service::open(std::move(settings), std::move(secrets),
                                    {files, io::real_processes(), system_clock(), std::move(blobs), &parent},
                                    std::move(store)));
  parent.start();
  service->start_ticking();
  TRY_ASSIGN(const auto serving, Serving::start(*service, std::move(http), http::PublicPage::off));
  const auto end_of_copy = [&files, &directory] {
    if (const Status marked = relay::mark_copy(files, directory); !marked.ok())
      spdlog::error("{}", marked.error().message);
    ::kill(::getpid(), SIGTERM);
  };
  const auto end_of_unknown = [&]() -> Status {
    TRY(join_again(parent, keys, configuration.name, rejoining));
    ::kill(::getpid(), SIGTERM);
    return {};
  };
  relay::Uplink uplink(*service, parent, crypto::fingerprint(root_key), {end_of_copy, end_of_unknown});
  uplink.start();

  const int listening = serving->server().port();
  spdlog::info("host {} of the project at {}, serving its hosts on https://{}:{}", membership.host.value,
               parent.place(), configuration.address, listening);
  spdlog::info("join code {}", protocol::to_text(service::join_code(configuration, root_key,
                                                                    keys.enrolment_secret, listening)));
  sd_notify(0, "READY=1");
  wait_for_signals(serving->server(), directory.project(), [] {});
  const bool again = rejoining.joined;
  if (!again) sd_notify(0, "STOPPING=1");
  serving->stop(patience);
  uplink.stop();
  service->stop();
  parent.stop();
  if (!again) spdlog::info("stopped");
  TRY(relay::check_no_copy(files, directory));
  return again;
}

Status run(const relay::RelayDirectory& directory, const RunOptions& options) {
  TRY(check_user(directory.root(), "run --relay", "gleaner-relay"));
  block_signals();
  Rejoining rejoining;
  for (;;) {
    TRY_ASSIGN(const bool again, serve(directory, options, rejoining));
    if (!again) return {};
    TRY(relay::replace_membership(io::real_files(), directory, rejoining.fresh));
    rejoining.joined = false;
  }
}

int finish(const Status& status) {
  if (status.ok()) return 0;
  terminal::print(stderr, "gleaner-relay: {}\n", status.error().message);
  return 1;
}

}  // namespace

int run_relay_program(int argc, char** argv) {
  io::make_private_files();
  CLI::App app{"A relay of a Gleaner project: one host to its project, a server to the hosts under it.",
               "gleaner-relay"};
  usage::set_help_form(app);
  app.set_version_flag("--version", std::string("gleaner-relay ") + version_text);
  app.require_subcommand(1);
  app.fallthrough();
  app.footer("Exit codes: 0 success, 1 failure, 2 wrong usage.  Manual: man gleaner-relay");
  std::string root = default_directory;
  app.add_option("--relay", root, "the relay's directory")
      ->type_name("DIR")
      ->envname("GLEANER_RELAY")
      ->capture_default_str();

  RelayJoin join;
  auto* join_command = app.add_subcommand("join", "join a project as a relay, or move to another parent");
  join_command
      ->add_option("CODE", join.code,
                   "a join code of `gleaner-admin relay allow`; or -: a line of standard input, which other "
                   "users cannot see")
      ->required();
  join_command->add_option("--via", join.via, "the parent relay (default: the code's server)")
      ->type_name("HOST[:PORT]");
  join_command->add_option("--name", join.name, "name of the relay in lists and pages");
  join_command->add_option("--address", join.address, "address to listen on (default: 0.0.0.0)");
  join_command->add_option("--port", join.port, "port to listen on (default: 8443)")
      ->check(CLI::Range(1, 65535));
  join_command->add_option("--public-host", join.public_host,
                           "name or address that its hosts can reach (default: this machine's name)");

  RunOptions run_options;
  bool accept_loss = false;
  auto* run_command = app.add_subcommand("run", "serve the hosts under it until SIGTERM");
  run_command
      ->add_option("--port", run_options.port, "port, instead of the one in the settings (0: any free port)")
      ->check(CLI::Range(0, 65535));
  run_command->add_option("--log-level", run_options.log_level, "trace, debug, info, warning or error")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error"}));
  run_command->add_flag(
      "--accept-loss", accept_loss,
      "start with a store that has lost its newest changes: its log is gone, or it is an old copy");

  auto* code_command = app.add_subcommand("code", "print the join code of the hosts under it");
  std::string fallback;
  code_command
      ->add_option("--fallback", fallback,
                   "the project's join code, with which hosts join it when this relay is gone for good")
      ->type_name("CODE");
  bool json = false;
  auto* status_command = app.add_subcommand("status", "show the state of the running relay");
  status_command->add_flag("--json", json, "print one JSON document");
  bool force = false;
  auto* leave_command =
      app.add_subcommand("leave", "leave the project; hosts under it have to join elsewhere");
  leave_command->add_flag("--force", force, "also if results that the project does not have yet are lost");

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& mistake) {
    terminal::print(stderr, "gleaner-relay: {}\n", usage::explain(app, mistake));
    return 2;
  }
  const relay::RelayDirectory directory(root);
  if (*join_command) return finish(join_relay(directory, join));
  if (*leave_command) return finish(leave_relay(directory, force ? Undelivered::dropped : Undelivered::kept));
  if (*status_command) return finish(print_relay_status(directory, json ? Format::json : Format::text));
  if (*code_command) {
    const auto code = relay_join_code(directory, fallback);
    if (!code.ok()) return finish(code.error());
    terminal::print("{}\n", *code);
    return 0;
  }
  if (accept_loss) run_options.loss = storage::Loss::accepted;
  return finish(run(directory, run_options));
}

}  // namespace gleaner::server
