#include "server/program.h"

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "server/http/challenge.h"
#include "server/program_backup.h"
#include "server/program_check.h"
#include "server/program_front.h"
#include "server/program_migrate.h"
#include "server/program_move_blobs.h"
#include "server/program_owner.h"
#include "server/program_run.h"
#include "server/program_serving.h"
#include "server/service/access/key_rotation.h"
#include "server/service/core/manager_sandbox.h"
#include "server/service/core/project_directory.h"
#include "server/service/core/revocations.h"
#include "server/storage/open_blobs.h"
#include "server/storage/open_store.h"
#include "shared/base/figures.h"
#include "shared/base/version.h"
#include "shared/bundle/project_keys.h"
#include "shared/io/private_files.h"
#include "shared/protocol/join_code.h"
#include "shared/terminal/print.h"
#include "shared/token/root_key.h"
#include "shared/usage/help.h"
#include "shared/usage/usage.h"

namespace gleaner::server {
namespace {

// Which the package makes, and its unit serves.
constexpr const char* packaged_directory = "/var/lib/gleaner-server";
constexpr auto challenge_patience = std::chrono::seconds{10};

// A directory that others could reach is closed to them before there is anything in it.
Status close_directory(const io::Path& directory) {
  TRY(io::real_files().make_directories(directory));
  if (const std::string told = io::close_to_others(directory); !told.empty())
    terminal::print(stderr, "gleaner-server: {}\n", told);
  return {};
}

int initialise(service::InitOptions options, const std::string& root_key) {
  if (!root_key.empty()) {
    auto root = token::open_root_key(io::real_files(), root_key);
    if (!root.ok()) return fail(root.error());
    options.root = std::move(*root);
  }
  if (const Status closed = close_directory(options.directory); !closed.ok()) return fail(closed.error());
  service::InitReport report;
  const Status made = make_as_owner(options.directory, options.offline, [&]() -> Status {
    TRY_ASSIGN(report, service::init_project(io::real_files(), options, system_clock().now()));
    return {};
  });
  if (!made.ok()) return fail(made.error());
  terminal::print(
      "Project {}\n"
      "  directory     {}\n"
      "  offline keys  {}\n"
      "                Move this directory to a safe place away from this machine: whoever has the root key\n"
      "                owns the project, and the server never needs it. Sign applications with the signer "
      "key.\n"
      "  admin token   {}\n"
      "  join code     {}\n"
      "                It may be public: hosts that join with it are volunteers', and other hosts verify "
      "their\n                results. For your own computers, whose results count at once, make another "
      "code:\n"
      "                gleaner-admin --project {} code add lab --own\n"
      "Serve it with:  {}\n",
      options.configuration.name, options.directory.string(), options.offline.string(),
      (options.directory / "admin" / "token").string(), report.join_code,
      (options.directory / "admin").string(),
      options.directory == packaged_directory ? "systemctl start gleaner-server"
                                              : "gleaner-server run " + options.directory.string());
  return 0;
}

int check_configuration(const io::Path& directory) {
  const auto configuration = read_configuration(directory);
  if (!configuration.ok()) return fail(configuration.error());
  const auto blobs =
      storage::make_blobs(io::real_files(), directory, blob_place(directory, *configuration), system_clock());
  if (!blobs.ok()) return fail(blobs.error());
  const auto secrets =
      service::read_secrets(io::real_files(), service::ProjectDirectory(directory), system_clock().now());
  if (!secrets.ok()) return fail(secrets.error());
  const service::ProjectDirectory project(directory);
  if (io::real_files().exists(project.revocations())) {
    const auto list = bundle::read_revocations(io::real_files(), project.revocations(),
                                               crypto::fingerprint(secrets->root_key));
    if (!list.ok()) return fail(list.error());
    if (const Status own = service::check_own_keys(*list, *secrets); !own.ok()) return fail(own.error());
  }
  terminal::print("{}: good; the work key is certified until {}\n",
                  service::ProjectDirectory(directory).configuration().string(),
                  utc_text(secrets->work_certificate_expires));
  let_managers_read();
  const service::ManagerSandbox sandbox(service::ProjectDirectory(directory), *configuration,
                                        io::real_processes());
  terminal::print("{}\n", sandbox.describe());
  return 0;
}

// systemd has started it with a connection as its standard input and output.
int answer_challenge(const io::Path& webroot) {
  signal(SIGPIPE, SIG_IGN);
  const Status done =
      http::serve_challenge(STDIN_FILENO, STDOUT_FILENO, io::real_files(), webroot, challenge_patience);
  return done.ok() ? 0 : fail(done.error());
}

int take_keys(const io::Path& directory, const io::Path& from) {
  if (const Status user = check_user(directory, "take-keys"); !user.ok()) return fail(user.error());
  const service::ProjectDirectory project(directory);
  const auto taken = service::take_keys(io::real_files(), project, from, system_clock().now());
  if (!taken.ok()) return fail(taken.error());
  terminal::print(
      "Taken from {}: {}. Restart the server to use them (systemctl restart gleaner-server). Units that the "
      "former work\nkey granted continue until that key is revoked. Remove {}.\n",
      from.string(),
      taken->work && taken->tls ? "work key, TLS key"
      : taken->work             ? "work key"
                                : "TLS key",
      from.string());
  return 0;
}

}  // namespace

int run_program(int argc, char** argv) {
  io::make_private_files();
  CLI::App app{"Gleaner's server: hands out signed work, stores results, combines answers.",
               "gleaner-server"};
  usage::set_help_form(app);
  app.set_version_flag("--version", std::string("gleaner-server ") + version_text);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 success, 1 failure, 2 wrong usage; check also: 3 --repair can repair it, 4 needs an "
      "administrator.\nManual: man gleaner-server");

  service::InitOptions init;
  std::string directory, offline, root_key;
  auto* init_command =
      app.add_subcommand("init", "create a project: keys, settings, empty store; prints the join code");
  init_command->add_option("DIR", directory, "directory for the new project")->required();
  init_command->add_option("--offline", offline, "where the root and signer keys go (default: DIR.offline)")
      ->type_name("DIR");
  init_command
      ->add_option("--root-key", root_key,
                   "use this root key instead of making one: pkcs11:... in a hardware token, or a file")
      ->type_name("KEY");
  init_command->add_option("--name", init.configuration.name, "what volunteers see")->capture_default_str();
  init_command->add_option("--address", init.configuration.address, "address to listen on")
      ->capture_default_str();
  init_command->add_option("--port", init.configuration.port, "port")
      ->capture_default_str()
      ->check(CLI::Range(1, 65535));
  init_command->add_option("--public-host", init.configuration.public_host,
                           "name or address that volunteers can reach (default: this machine's name)");
  init_command->add_flag("--public-certificate", init.configuration.public_certificate,
                         "the server presents a certificate of a public authority; the join code says so");
  init_command->add_option("--days", init.days, "validity of the work key and TLS certificates")
      ->capture_default_str()
      ->check(CLI::Range(1, 36500));

  int port = -1;
  bool check = false, accept_loss = false;
  std::string log_level;
  auto* run_command = app.add_subcommand("run", "serve a project until SIGTERM");
  run_command->add_option("DIR", directory, "the project's directory")->required();
  run_command->add_option("--port", port, "port, instead of the one in the settings (0: any free port)")
      ->check(CLI::Range(0, 65535));
  run_command->add_option("--log-level", log_level, "trace, debug, info, warning or error")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error"}));
  run_command->add_flag("--check-config", check,
                        "check settings and keys, say how managers are confined, then exit");
  run_command->add_flag(
      "--accept-loss", accept_loss,
      "start with a store that has lost its newest changes: its log is gone, or it is an old copy");
  auto* front_command = app.add_subcommand(
      "front",
      "receive and check what hosts send, and have the project's leading server decide, until SIGTERM");
  front_command->add_option("DIR", directory, "the front end's directory: server.toml and keys")->required();
  front_command->add_option("--port", port, "port, instead of the one in the settings (0: any free port)")
      ->check(CLI::Range(0, 65535));
  front_command->add_option("--log-level", log_level, "trace, debug, info, warning or error")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error"}));
  std::int64_t hold = 5;
  front_command
      ->add_option("--hold", hold, "seconds for which requests wait while no server leads (0: they do not)")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->check(CLI::Range(0, 60));
  std::string link_key;
  auto* link_key_command = app.add_subcommand(
      "link-key", "make the key by which a project's servers and front ends know each other");
  link_key_command->add_option("FILE", link_key, "a new file, keys/link.pem of each of them")->required();
  std::string new_keys;
  auto* keys_command = app.add_subcommand("take-keys", "use keys that `gleaner-admin keys rotate` made");
  keys_command->add_option("DIR", directory, "the project's directory")->required();
  keys_command->add_option("NEW", new_keys, "the directory with the new keys")->required();
  bool json = false;
  service::CheckOptions options;
  auto* check_command = app.add_subcommand(
      "check", "verify everything that is stored and report damage; the server must be stopped");
  check_command->add_option("DIR", directory, "the project's directory")->required();
  check_command->add_flag("--json", json, "print one JSON document");
  auto* repair_option = check_command->add_flag(
      "--repair", options.repair, "free the items of lost results, remove what nothing refers to");
  check_command->add_flag("--deep", options.deep,
                          "with blobs in an object store: read every object, not only their list");
  check_command
      ->add_flag("--accept-loss", accept_loss, "repair a store that has lost its newest changes, as with run")
      ->needs(repair_option);
  std::string into, former;
  bool with_keys = false, copy = false, with_objects = false;
  auto* backup_command = app.add_subcommand(
      "backup", "copy a project as it is at one moment, while its server runs or while it does not");
  backup_command->add_option("DIR", directory, "the project's directory")->required();
  backup_command->add_option("INTO", into, "a new directory for the backup")->required();
  backup_command->add_flag("--with-keys", with_keys,
                           "with the server's secret keys and the admin token: keep such a backup as safe as "
                           "the server");
  auto* objects_option = backup_command->add_flag(
      "--objects", with_objects, "with the blobs that are in an object store, which stay there otherwise");
  backup_command
      ->add_option("--former", former,
                   "an earlier backup with --objects; blobs that it has are not copied again")
      ->needs(objects_option)
      ->type_name("DIR");
  auto* restore_command =
      app.add_subcommand("restore", "make a project of a backup, in the place of one that is lost");
  restore_command->add_option("BACKUP", into, "the backup's directory")->required();
  restore_command->add_option("DIR", directory, "a new directory for the project")->required();
  restore_command->add_flag("--objects", with_objects,
                            "upload blobs that the object store lacks from the backup");
  for (CLI::App* each : {backup_command, restore_command}) {
    each->add_flag("--copy", copy, "copy stored files; otherwise they are linked where both are on one disk");
    each->add_flag("--json", json, "print one JSON document");
  }
  MigrateOptions migrate;
  auto* migrate_command = app.add_subcommand(
      "migrate", "move a project's rows into a database, its blobs into an object store, or back");
  migrate_command->add_option("DIR", directory, "the project's directory")->required();
  auto* rows_option =
      migrate_command->add_option("--to", migrate.to, "the rows: postgresql://HOST/DATABASE, or store.sqlite")
          ->type_name("PLACE")
          ->check(objection_to_place);
  migrate_command
      ->add_option("--from", migrate.from, "where the rows are, if not where the settings say (store.url)")
      ->type_name("PLACE")
      ->check(objection_to_place)
      ->needs(rows_option);
  std::string blobs_to;
  bool ahead = false;
  migrate_command
      ->add_option("--blobs", blobs_to,
                   "archives, inputs and large results: s3+https://HOST/BUCKET[/PREFIX], or files")
      ->type_name("PLACE")
      ->check(objection_to_blob_place);
  migrate_command->add_flag("--ahead", ahead,
                            "only copy what there is, while the server runs; the move is shorter then");
  migrate_command->add_flag("--json", json, "print one JSON document for each: blobs, then rows");
  std::string webroot;
  auto* challenge_command = app.add_subcommand(
      "challenge", "answer one question of a certificate authority (ACME) on standard input and output");
  challenge_command->add_option("WEBROOT", webroot, "directory of certbot's webroot plugin")->required();
  auto* code_command =
      app.add_subcommand("join-code", "print the join code for volunteers, which may be public");
  code_command->add_option("DIR", directory, "the project's directory")->required();

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& mistake) {
    terminal::print(stderr, "gleaner-server: {}\n", usage::explain(app, mistake));
    return 2;
  }
  if (*init_command) {
    init.directory = directory;
    init.offline = offline.empty() ? directory + ".offline" : offline;
    return initialise(std::move(init), root_key);
  }
  if (*front_command) return run_front(directory, port, log_level, std::chrono::seconds{hold});
  if (*link_key_command) return make_link_key(link_key);
  if (*challenge_command) return answer_challenge(webroot);
  if (*keys_command) return take_keys(directory, new_keys);
  if (*restore_command)
    if (const Status closed = close_directory(directory); !closed.ok()) return fail(closed.error());
  if (*restore_command || *check_command || *migrate_command) let_managers_read();
  if (*check_command) {
    auto configuration = read_configuration(directory);
    if (!configuration.ok()) return fail(configuration.error());
    options.objects = blob_place(directory, *configuration);
    if (accept_loss) options.loss = storage::Loss::accepted;
    if (service::is_backup(io::real_files(), directory)) configuration->store_url.clear();
    return run_check({service::ProjectDirectory(directory), std::move(*configuration)}, options,
                     json ? Format::json : Format::text);
  }
  const io::Place place = copy ? io::Place::copy : io::Place::link_or_copy;
  const Format format = json ? Format::json : Format::text;
  const Objects objects = with_objects ? Objects::copied : Objects::left;
  if (*backup_command) {
    const auto configuration = read_configuration(directory);
    if (!configuration.ok()) return fail(configuration.error());
    service::BackupOptions backup;
    backup.keys = with_keys ? service::Keys::included : service::Keys::left_out;
    backup.place = place;
    backup.former = former;
    return run_backup(directory, into, *configuration, backup, objects, format);
  }
  if (*restore_command) {
    const int code = run_restore(into, directory, place, objects, format);
    const auto configuration = read_configuration(directory);
    if (code == 0 && configuration.ok() && !configuration->store_url.empty())
      terminal::print(
          stderr,
          "The rows of the backup are in {}, and its settings name a database (store.url): move them "
          "into an empty one,\n`gleaner-server migrate {} --from store.sqlite --to ...`, or remove "
          "url.\n",
          (io::Path(directory) / storage::store_file).string(), directory);
    return code;
  }
  if (*migrate_command) {
    const auto configuration = read_configuration(directory);
    if (!configuration.ok()) return fail(configuration.error());
    migrate.extent = ahead ? Extent::ahead : Extent::all;
    if (blobs_to.empty() && migrate.to.empty()) {
      terminal::print(stderr,
                      "gleaner-server: migrate what? Say --to for rows, --blobs for blobs, or both\n");
      return 2;
    }
    if (!blobs_to.empty()) {
      const int code = run_move_blobs(directory, *configuration, blobs_to, migrate.extent, format);
      if (code != 0 || migrate.to.empty()) return code;
    }
    if (migrate.from.empty())
      migrate.from =
          configuration->store_url.empty() ? std::string(storage::store_file) : configuration->store_url;
    return run_migrate(directory, migrate, format);
  }
  if (*code_command) {
    const auto configuration = read_configuration(directory);
    if (!configuration.ok()) return fail(configuration.error());
    const auto secrets =
        service::read_secrets(io::real_files(), service::ProjectDirectory(directory), system_clock().now());
    if (!secrets.ok()) return fail(secrets.error());
    if (secrets->enrolment_secret.empty())
      return fail(
          {ErrorKind::not_found,
           "the code \"default\" was rotated or withdrawn, and secrets are shown once: make a join code with "
           "`gleaner-admin code add NAME`"});
    terminal::print("{}\n", protocol::to_text(service::join_code(*configuration, secrets->root_key,
                                                                 secrets->enrolment_secret,
                                                                 static_cast<int>(configuration->port))));
    terminal::print(
        stderr,
        "Hosts that join with it are volunteers': other hosts verify their results. For your own computers:\n"
        "gleaner-admin code add NAME --own\n");
    return 0;
  }
  return check ? check_configuration(directory)
               : run_server(directory, port, log_level,
                            accept_loss ? storage::Loss::accepted : storage::Loss::refused);
}

}  // namespace gleaner::server
