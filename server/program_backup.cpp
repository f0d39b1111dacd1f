#include "server/program_backup.h"

#include <fmt/format.h>

#include <cstdio>
#include <optional>

#include "server/program_move_blobs.h"
#include "server/program_owner.h"
#include "server/program_run.h"
#include "server/service/core/project_directory.h"
#include "server/storage/move_blobs.h"
#include "server/storage/object_inventory.h"
#include "shared/base/figures.h"
#include "shared/json/text.h"
#include "shared/terminal/print.h"

namespace gleaner::server {
namespace {

using service::BackupReport;

constexpr int code_incomplete = 4;

void print_report(const BackupReport& report) {
  json::Value missing = json::Value::array();
  for (const auto& path : report.missing) missing.push_back(path.string());
  const json::Value all{{"transactions", report.at.generation},
                        {"blobs", report.blobs},
                        {"bytes", report.bytes},
                        {"linked", report.linked},
                        {"fetched", report.fetched},
                        {"lost", report.lost},
                        {"keys", report.with_keys},
                        {"missing", missing}};
  terminal::print("{}\n", json::write(all, {.indent = 2}));
}

std::string files_text(const BackupReport& report) {
  return fmt::format("{} with {}, {} of them linked", counted(report.blobs, "stored file"),
                     bytes_text(report.bytes), report.linked);
}

Error no_object_store(const io::Path& project) {
  return {ErrorKind::invalid, "the settings of " + project.string() +
                                  " name no object store (blobs.url): its "
                                  "blobs are files, and in every backup"};
}

bool names_object_store(const io::Path& project) {
  const auto configuration = read_configuration(project);
  return configuration.ok() && !configuration->blobs_url.empty();
}

// Before anything is restored: are settings and keys there?
Status can_put_back(const io::Path& backup) {
  TRY_ASSIGN(const auto configuration, read_configuration(backup));
  if (configuration.blobs_url.empty()) return no_object_store(backup);
  TRY(storage::make_bucket(io::real_files(), blob_place(backup, configuration), system_clock()));
  return {};
}

Result<storage::PutBackReport> put_back(const io::Path& project) {
  TRY_ASSIGN(const auto configuration, read_configuration(project));
  TRY_ASSIGN(const auto secrets, service::read_secrets(io::real_files(), service::ProjectDirectory(project),
                                                       system_clock().now()));
  return storage::put_back_blobs(io::real_files(), project, blob_place(project, configuration),
                                 secrets.project, system_clock());
}

}  // namespace

int run_backup(const io::Path& project, const io::Path& into, const service::Configuration& configuration,
               service::BackupOptions options, Objects objects, Format format) {
  if (const Status user = check_user(project, "backup"); !user.ok()) return fail(user.error());
  options.store_url = configuration.store_url;
  options.objects = !configuration.blobs_url.empty();
  std::optional<storage::ObjectInventory> inventory;
  if (objects == Objects::copied) {
    if (!options.objects) return fail(no_object_store(project));
    auto opened =
        storage::ObjectInventory::open(io::real_files(), blob_place(project, configuration), system_clock());
    if (!opened.ok()) return fail(opened.error());
    options.copied = &inventory.emplace(std::move(*opened));
  }
  const auto report = service::back_up(io::real_files(), project, into, options, system_clock().now());
  if (!report.ok()) return fail(report.error());
  for (const auto& digest : report->lost)
    terminal::print(stderr, "gleaner-server: blob {} is damaged or gone at the object store\n", digest);
  const int code = report->lost.empty() ? 0 : code_incomplete;
  if (format == Format::json) {
    print_report(*report);
    return code;
  }
  terminal::print("{} has the project as of transaction {}: {}.\n", into.string(), report->at.generation,
                  files_text(*report));
  if (options.copied != nullptr)
    terminal::print("{} came from the object store, each compared with its digest.\n", report->fetched);
  else if (options.objects)
    terminal::print(
        "Its blobs stay in the object store, which has to keep them for as long as this backup is of use: "
        "versions of\nthe bucket, a copy of it made from now on, or --objects (deploy/objects).\n");
  if (report->linked > 0)
    terminal::print(
        "Linked files are on the disk of the project and lost with it: copy the backup to another, or use "
        "--copy.\n");
  if (report->with_keys)
    terminal::print(
        "It has the server's secret keys and the admin token: whoever reads it can act as the server.\n");
  else
    terminal::print(
        "It has no secret keys: keep keys/work.key, keys/tls.key, keys/enrolment.secret and admin/token of "
        "the "
        "project\nsomewhere safe, or make new ones with `gleaner-admin keys rotate` and the root key when "
        "you "
        "need them.\n");
  if (!options.objects) terminal::print("`gleaner-server check {}` reads all of it.\n", into.string());
  return code;
}

int run_restore(const io::Path& backup, const io::Path& project, io::Place place, Objects objects,
                Format format) {
  if (objects == Objects::copied)
    if (const Status can = can_put_back(backup); !can.ok()) return fail(can.error());
  const auto report = service::restore(io::real_files(), backup, project, place, system_clock().now());
  if (!report.ok()) return fail(report.error());
  if (objects == Objects::copied) {
    const auto put = put_back(project);
    if (!put.ok())
      return fail(
          {put.error().kind,
           put.error().message + "; " + project.string() +
               " is restored, but its blobs are in files: remove url from [blobs] in its server.toml, "
               "then run `gleaner-server migrate --blobs`"});
    terminal::print(stderr, "{} of its {} blobs were not in the object store, and are there now.\n",
                    put->lacked, put->blobs);
  } else if (report->blobs > 0 && names_object_store(project)) {
    terminal::print(
        stderr,
        "Its blobs are in files, and its settings name an object store: restore it with --objects, which "
        "puts back\nwhat that lacks, or remove url from [blobs].\n");
  }
  if (format == Format::json) {
    print_report(*report);
    return 0;
  }
  terminal::print(
      "{} is the project of the backup: {}. What was stored after the backup is computed again; hosts that "
      "joined\nafter it join again.\n",
      project.string(), files_text(*report));
  for (const auto& path : report->missing)
    terminal::print("Missing, as the backup was made without --with-keys: put it at {}\n", path.string());
  terminal::print("Serve it with:  gleaner-server run {}\n", project.string());
  return 0;
}

}  // namespace gleaner::server
