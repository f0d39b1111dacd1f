#include "server/program_migrate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "server/program_bar.h"
#include "server/program_owner.h"
#include "server/service/core/acts.h"
#include "server/storage/move_store.h"
#include "server/storage/open_store.h"
#include "shared/json/text.h"
#include "shared/terminal/print.h"

namespace gleaner::server {
namespace {

using storage::MoveProgress;
using storage::MoveReport;

const char* name_of(MoveProgress::Step step) {
  switch (step) {
    case MoveProgress::Step::finding:
      return "looked for";
    case MoveProgress::Step::copying:
      return "copied";
    default:
      return "compared";
  }
}

void print_json(const MoveReport& report) {
  json::Value tables = json::Value::array(), steps = json::Value::array();
  for (const auto& table : report.tables)
    tables.push_back({{"name", table.name}, {"rows", table.rows}, {"digest", table.digest}});
  for (const auto& time : report.times)
    steps.push_back({{"step", name_of(time.step)},
                     {"seconds", time.seconds},
                     {"processor_seconds", time.processor_seconds}});
  const json::Value all{{"from", report.from},        {"to", report.to},  {"rows", report.rows},
                        {"rows_there", report.there}, {"tables", tables}, {"steps", steps}};
  terminal::print("{}\n", json::write(all, {.indent = 2}));
}

void print_text(const MoveReport& report, const MigrateOptions& options) {
  for (const auto& table : report.tables)
    if (table.rows > 0) terminal::print("{:18}{:>14} rows  {:.16}\n", table.name, table.rows, table.digest);
  terminal::print("{} rows of {} are in {}, each read from both and compared", report.rows, report.from,
                  report.to);
  if (report.there > 0) terminal::print("; {} were there already", report.there);
  if (options.extent == Extent::ahead) {
    terminal::print(
        ".\nOnce more with --ahead copies what has changed since. Then stop the server, and call this "
        "without "
        "it.\n");
    return;
  }
  const bool file = options.to == storage::store_file;
  terminal::print(
      ".\nNow {} in server.toml, section [store], then start the server. Before that it refuses to start.\n"
      "What is left in {} is not used any more.\n",
      file ? "remove url" : "set url to this database", report.from);
}

// The new store says in its audit log where its rows are from; the directory, how far it is.
Status note_move(const io::Path& project, storage::Store& store, const MoveReport& report) {
  const Timestamp now = system_clock().now();
  TRY(service::note_act(store, service::server_actor("store migrate", report.to),
                        fmt::format("{} rows, from {}", report.rows, report.from), now));
  storage::GenerationNote note = store.generation();
  note.at = now;
  return storage::write_generation_note(io::real_files(), project, note);
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
    bar.draw(now.done, now.all,
             [&] { return fmt::format("{} of {} rows {}", now.done, now.all, name_of(now.step)); });
  };
  const auto moved = [&]() -> Result<MoveReport> {
    TRY(check_user(project, "migrate"));
    if (options.extent == Extent::ahead)
      return storage::copy_ahead(project, options.from, options.to, progress);
    TRY_ASSIGN(auto made, storage::move_store(project, options.from, options.to, progress));
    TRY(note_move(project, *made.store, made.report));
    return std::move(made.report);
  }();
  bar.clear();
  if (!moved.ok()) {
    terminal::print(stderr, "gleaner-server: {}\n", moved.error().message);
    return 1;
  }
  if (format == Format::json)
    print_json(*moved);
  else
    print_text(*moved, options);
  return 0;
}

}  // namespace gleaner::server
