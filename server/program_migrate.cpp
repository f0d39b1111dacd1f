#include "server/program_migrate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "server/program_bar.h"
#include "server/service/acts.h"
#include "server/storage/move_store.h"
#include "server/storage/open_store.h"
#include "shared/json/text.h"

namespace gleaner::server {
namespace {

using storage::MoveProgress;
using storage::MoveReport;

void print_json(const MoveReport& report) {
  json::Value tables = json::Value::array();
  for (const auto& table : report.tables)
    tables.push_back({{"name", table.name}, {"rows", table.rows}, {"digest", table.digest}});
  const json::Value all{{"from", report.from},
                        {"to", report.to},
                        {"rows", report.rows},
                        {"rows_there", report.there},
                        {"tables", tables}};
  fmt::print("{}\n", json::write(all, {.indent = 2}));
}

void print_text(const MoveReport& report, const MigrateOptions& options) {
  for (const auto& table : report.tables)
    if (table.rows > 0) fmt::print("{:18}{:>14} rows  {:.16}\n", table.name, table.rows, table.digest);
  fmt::print("{} rows of {} are in {}, each read back and compared", report.rows, report.from, report.to);
  if (report.there > 0) fmt::print("; {} were there from an earlier attempt", report.there);
  const bool file = options.to == storage::store_file;
  fmt::print(
      ".\nNow {} in server.toml, section [store], then start the server. Before that it refuses to start.\n"
      "What is left in {} is not used any more.\n",
      file ? "remove url" : "set url to this database", report.from);
}

}  // namespace

std::string objection_to_place(const std::string& text) {
  if (storage::is_database_url(text) || text == storage::store_file) return {};
  return "expected postgresql://HOST/DATABASE, or store.sqlite for the file in the project's directory";
}

int run_migrate(const io::Path& project, const MigrateOptions& options, Format format) {
  Bar bar;
  const bool watched = ::isatty(STDERR_FILENO) == 1;
  const auto progress = [&](const MoveProgress& now) {
    if (!watched) return;
    const char* const done = now.step == MoveProgress::Step::copying ? "copied" : "compared";
    bar.draw(now.done, now.all, [&] { return fmt::format("{} of {} rows {}", now.done, now.all, done); });
  };
  const auto moved = [&]() -> Result<MoveReport> {
    TRY(check_user(project, "migrate"));
    TRY_ASSIGN(auto made, storage::move_store(project, options.from, options.to, progress));
    const MoveReport& report = made.report;
    const Timestamp now = system_clock().now();
    TRY(service::note_act(*made.store, service::server_actor("store migrate", report.to),
                          fmt::format("{} rows, from {}", report.rows, report.from), now));
    storage::GenerationNote note = made.store->generation();
    note.at = now;
    TRY(storage::write_generation_note(io::real_files(), project, note));
    return std::move(made.report);
  }();
  bar.clear();
  if (!moved.ok()) {
    fmt::print(stderr, "gleaner-server: {}\n", moved.error().message);
    return 1;
  }
  if (format == Format::json)
    print_json(*moved);
  else
    print_text(*moved, options);
  return 0;
}

}  // namespace gleaner::server
