#include "server/program_move_blobs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "server/objects/place.h"
#include "server/program_bar.h"
#include "server/program_owner.h"
#include "server/service/core/acts.h"
#include "server/service/core/project_directory.h"
#include "server/storage/move_blobs.h"
#include "server/storage/open_store.h"
#include "shared/json/text.h"
#include "shared/terminal/print.h"

namespace gleaner::server {
namespace {

constexpr int code_moved = 0, code_unmoved = 1, code_lost = 4;
constexpr const char* in_files = "files";

std::string shown(const storage::BlobPlace& place) {
  return place.url.empty() ? in_files : place.url;
}

Result<storage::BlobMoveReport> move(const io::Path& directory, const service::Configuration& configuration,
                                     const storage::MoveOptions& options) {
  if (options.ahead) return storage::move_blobs(io::real_files(), directory, {}, options, system_clock());
  const storage::StoreOptions alone{storage::OpenCheck::none, storage::Loss::refused, [] { return false; },
                                    [](const Error&) {}};
  TRY_ASSIGN(const auto store, storage::open_store(configuration.store_url, directory, alone));
  TRY_ASSIGN(auto named, store->referenced_blobs());
  TRY_ASSIGN(auto report,
             storage::move_blobs(io::real_files(), directory, std::move(named), options, system_clock()));
  if (report.lost.empty())
    TRY(service::note_act(*store, service::server_actor("store migrate", shown(options.to)),
                          "from " + shown(options.from), system_clock().now()));
  return report;
}

}  // namespace

std::string objection_to_blob_place(const std::string& text) {
  if (text == in_files) return {};
  const auto place = objects::parse_place(text);
  return place.ok() ? "" : place.error().message;
}

storage::BlobPlace blob_place(const io::Path& directory, const service::Configuration& configuration) {
  return {configuration.blobs_url,
          configuration.blobs_region,
          configuration.blobs_keys.empty() ? directory / "keys" / "blobs.keys"
                                           : io::Path(configuration.blobs_keys),
          configuration.blobs_cache_megabytes * (1 << 20),
          {},
          configuration.blobs_public_url};
}

int run_move_blobs(const io::Path& directory, const service::Configuration& configuration,
                   const std::string& to, Extent extent, Format format) {
  const auto failed = [](const Error& error) {
    terminal::print(stderr, "gleaner-server: {}\n", error.message);
    return code_unmoved;
  };
  if (const Status user = check_user(directory, "migrate"); !user.ok()) return failed(user.error());
  const auto secrets =
      service::read_secrets(io::real_files(), service::ProjectDirectory(directory), system_clock().now());
  if (!secrets.ok()) return failed(secrets.error());
  storage::MoveOptions options;
  options.project = secrets->project;
  options.from = options.to = blob_place(directory, configuration);
  options.to.url = to == in_files ? "" : to;
  options.ahead = extent == Extent::ahead;
  Bar bar;
  const bool watched = isatty(STDERR_FILENO) == 1;
  options.progress = [&](std::int64_t done, std::int64_t all) {
    if (watched) bar.draw(done, all, [&] { return fmt::format("{} of {} blobs", done, all); });
  };
  const auto report = move(directory, configuration, options);
  bar.clear();
  if (!report.ok()) return failed(report.error());
  for (const auto& digest : report->lost)
    terminal::print(stderr, "gleaner-server: blob {} is damaged or gone where it is\n", digest);
  if (!report->lost.empty()) {
    terminal::print(
        stderr,
        "gleaner-server: nothing is changed: start the server once, which repairs what it can, and "
        "move again\n");
    return code_lost;
  }
  if (format == Format::json) {
    const json::Value all{{"from", shown(options.from)},
                          {"to", shown(options.to)},
                          {"blobs", report->moved + report->moved_before},
                          {"blobs_there", report->moved_before}};
    terminal::print("{}\n", json::write(all, {.indent = 2}));
    return code_moved;
  }
  terminal::print(
      "{} blobs are in {}{}.\n", report->moved + report->moved_before, shown(options.to),
      report->moved_before > 0 ? fmt::format(", {} of them since before", report->moved_before) : "");
  if (extent == Extent::ahead)
    terminal::print("Stop the server and call this again without --ahead: it moves what came in between.\n");
  else
    terminal::print("Write into {}, before the server starts:\n[blobs]\nurl = \"{}\"\n",
                    service::ProjectDirectory(directory).configuration().string(), options.to.url);
  return code_moved;
}

}  // namespace gleaner::server
