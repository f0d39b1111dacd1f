#include "server/program_backup.h"

#include <fmt/format.h>

#include <cstdio>

#include "shared/json/text.h"

namespace gleaner::server {
namespace {

using service::BackupReport;

constexpr double bytes_of_megabyte = 1e6;

void print_report(const BackupReport& report) {
  json::Value missing = json::Value::array();
  for (const auto& path : report.missing) missing.push_back(path.string());
  const json::Value all{{"transactions", report.at.generation},
                        {"blobs", report.blobs},
                        {"bytes", report.bytes},
                        {"linked", report.linked},
                        {"keys", report.with_keys},
                        {"missing", missing}};
  fmt::print("{}\n", json::write(all, {.indent = 2}));
}

std::string files_text(const BackupReport& report) {
  return fmt::format("{} stored files with {:.1f} MB, {} of them linked", report.blobs,
                     static_cast<double>(report.bytes) / bytes_of_megabyte, report.linked);
}

}  // namespace

int run_backup(const io::Path& project, const io::Path& into, const service::BackupOptions& options,
               Format format) {
  if (const Status user = check_user(project, "backup"); !user.ok()) return fail(user.error());
  const auto report = service::back_up(io::real_files(), project, into, options, system_clock().now());
  if (!report.ok()) return fail(report.error());
  if (format == Format::json) {
    print_report(*report);
    return 0;
  }
  fmt::print("{} has the project as of transaction {}: {}.\n", into.string(), report->at.generation,
             files_text(*report));
  if (options.objects)
    fmt::print(
        "Its blobs stay in the object store, which has to keep them for as long as this backup is of use: "
        "versions of\nthe bucket, or a copy of it made from now on (deploy/objects).\n");
  if (report->linked > 0)
    fmt::print(
        "Linked files are on the disk of the project and lost with it: copy the backup to another, or use "
        "--copy.\n");
  if (report->with_keys)
    fmt::print(
        "It has the server's secret keys and the admin token: whoever reads it can act as the server.\n");
  else
    fmt::print(
        "It has no secret keys: keep keys/work.key, keys/tls.key, keys/enrolment.secret and admin/token of "
        "the "
        "project\nsomewhere safe, or make new ones with `gleaner-admin keys rotate` and the root key when "
        "you "
        "need them.\n");
  if (!options.objects) fmt::print("`gleaner-server check {}` reads all of it.\n", into.string());
  return 0;
}

int run_restore(const io::Path& backup, const io::Path& project, io::Place place, Format format) {
  const auto report = service::restore(io::real_files(), backup, project, place, system_clock().now());
  if (!report.ok()) return fail(report.error());
  if (format == Format::json) {
    print_report(*report);
    return 0;
  }
  fmt::print(
      "{} is the project of the backup: {}. What was stored after the backup is computed again; hosts that "
      "joined\nafter it join again.\n",
      project.string(), files_text(*report));
  for (const auto& path : report->missing)
    fmt::print("Missing, as the backup was made without --with-keys: put it at {}\n", path.string());
  fmt::print("Serve it with:  gleaner-server run {}\n", project.string());
  return 0;
}

}  // namespace gleaner::server
