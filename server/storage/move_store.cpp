#include "server/storage/move_store.h"

#include <optional>

#include "server/storage/all_tables.h"
#include "server/storage/copy_tables.h"
#include "server/storage/directory_lock.h"
#include "server/storage/migrations.h"
#include "server/storage/open_parts.h"
#include "server/storage/postgres.h"
#include "server/storage/sqlite.h"
#include "shared/base/failpoint.h"

namespace gleaner::storage {
namespace {

const char* const unfinished_file = "store.sqlite.moving";

Result<std::optional<std::string>> value_of(Connection& connection, const char* name) {
  Query query = connection.find(table_of<NamedValue>());
  return first_row(query.add(name), [](Query& row) { return take_row<NamedValue>(row).value; });
}

// In an open transaction.
Status put_value(Connection& connection, const char* name, const std::string& value) {
  Query query = connection.put(table_of<NamedValue>());
  return query.add(std::string_view(name)).add(std::string_view(value)).run();
}
Status drop_value(Connection& connection, const char* name) {
  return connection.query("DELETE FROM named_values WHERE name = ?").add(std::string_view(name)).run();
}

// One call of move_store() or copy_ahead().
class Move {
 public:
  Move(const io::Path& directory, const std::function<void(const MoveProgress&)>& progress)
      : directory_(directory), progress_(progress) {}

  Result<MovedStore> run(const std::string& from, const std::string& to) {
    TRY(lock(from, to, from == store_file || to == store_file));
    TRY(open_source(from));
    TRY(open_target(to));
    TRY_ASSIGN(auto report, copy());
    if (source_.check.valid()) TRY(source_.check.get());
    TRY(failpoint("move-compared"));
    Connection& source = *source_.connection;
    TRY(transact(source, [&] { return put_value(source, moved_value, report.to); }));
    if (from == store_file) TRY(settle(source));
    TRY(failpoint("move-given-up"));
    if (to == store_file) TRY(put_file_in_place());
    TRY(failpoint("move-in-place"));
    Connection& target = *target_.connection;
    TRY(transact(target, [&] { return drop_value(target, moving_value); }));
    TRY_ASSIGN(auto store, serve(std::move(target_), directory_, Loss::refused));
    return MovedStore{std::move(report), std::move(store)};
  }

  Result<MoveReport> run_ahead(const std::string& from, const std::string& to) {
    TRY(lock(from, to, to == store_file));
    TRY(open_served_source(from));
    TRY(open_target(to));
    return copy();
  }

 private:
  Status lock(const std::string& from, const std::string& to, bool file) {
    if (from == to) return Error{ErrorKind::conflict, "the rows of this project are there already"};
    if (!file) return {};
    TRY_ASSIGN(lock_, DirectoryLock::take(directory_));
    return {};
  }

  [[nodiscard]] static Result<Opened> open_url(const std::string& url, const std::string& meanwhile) {
    StoreOptions options;
    options.waits = [] { return false; };
    auto opened = open_database(url, options);
    if (!opened.ok() && opened.error().kind == ErrorKind::unavailable)
      return Error{ErrorKind::unavailable, opened.error().message + " (" + meanwhile + ")"};
    return opened;
  }

  Error nothing_to_move() const {
    return {ErrorKind::not_found, (directory_ / store_file).string() +
                                      " is not there: there is nothing to move. For a new project set "
                                      "store.url in server.toml before its first start"};
  }

  Status open_source(const std::string& from) {
    if (from != store_file) {
      TRY_ASSIGN(source_, open_url(from,
                                   "while a server runs, rows can only be copied ahead: stop it, and those "
                                   "that stand by"));
    } else if (io::real_files().exists(directory_ / store_file)) {
      TRY_ASSIGN(source_, open_file(lock_, directory_, OpenCheck::beside));
    } else {
      return nothing_to_move();
    }
    TRY(read_state());
    if (moved_away_) return {};  // open_target() says
    const auto note = read_generation_note(io::real_files(), directory_);
    if (!note.ok()) return note.error();
    if (!*note || (*note)->generation <= generation_) return {};
    return Error{ErrorKind::invalid,
                 source_.place + " is older than it was: `gleaner-server run` says what to do"};
  }

  // As it is now, in a transaction that sees nothing of what is committed meanwhile.
  Status open_served_source(const std::string& from) {
    if (from != store_file) {
      TRY_ASSIGN(auto database, Postgres::open(from));
      TRY(database->only_read());
      TRY(database->begin());
      source_ = {database->place(), "", nullptr, std::move(database), nullptr};
    } else {
      const io::Path path = directory_ / store_file;
      if (!io::real_files().exists(path)) return nothing_to_move();
      TRY_ASSIGN(auto file, Database::open(path.string(), Database::Create::no, Database::Access::read));
      TRY(file->execute("BEGIN"));
      source_ = {path.string(), "", nullptr, std::move(file), nullptr};
    }
    TRY_ASSIGN(const int version, source_.connection->schema_version());
    if (version != migrations().back().version)
      return Error{ErrorKind::invalid,
                   source_.place + " has not this program's schema yet: start the server once"};
    TRY(read_state());
    TRY(check_place(*source_.connection, source_.place));
    state_ = project_ + " ahead";
    return {};
  }

  // What the former store says of itself.
  Status read_state() {
    Connection& source = *source_.connection;
    TRY_ASSIGN(const auto project, value_of(source, "project"));
    if (!project)
      return Error{ErrorKind::not_found, source_.place + " has no project in it: there is nothing to move"};
    project_ = *project;
    TRY_ASSIGN(const auto unfinished, value_of(source, moving_value));
    if (unfinished) return check_place(source, source_.place);
    Query query = source.find(table_of<SequenceRow>());
    TRY_ASSIGN(const auto row, first_row(query.add(std::string_view("generation")), take_row<SequenceRow>));
    if (row) generation_ = row->next;
    state_ = project_ + " " + std::to_string(generation_);
    TRY_ASSIGN(moved_away_, value_of(source, moved_value));
    return {};
  }

  Status open_target(const std::string& to) {
    if (to != store_file) {
      TRY_ASSIGN(target_, open_url(to, "a server uses it: name an empty database"));
    } else {
      TRY(open_target_file());
    }
    Connection& target = *target_.connection;
    TRY_ASSIGN(const auto moving, value_of(target, moving_value));
    const bool goes_on = moving && *moving == state_;
    // Its last steps only were missing.
    if (moved_away_ && !goes_on) return check_place(*source_.connection, source_.place);
    if (goes_on) return {};
    TRY(check_may_be_filled(target, target_.place, moving.has_value()));
    return transact(target, [&]() -> Status {
      TRY(put_value(target, moving_value, state_));
      return drop_value(target, moved_value);
    });
  }

  // A file beside store.sqlite, until it is whole; or that, if only the last step is missing.
  Status open_target_file() {
    io::Path path = directory_ / store_file;
    if (io::real_files().exists(path)) {
      TRY_ASSIGN(target_, open_file(lock_, directory_, OpenCheck::none));
      TRY_ASSIGN(const auto moving, value_of(*target_.connection, moving_value));
      if (moving) return {};
      TRY(check_may_be_filled(*target_.connection, target_.place, false));
      target_ = {};
    }
    path = directory_ / unfinished_file;
    TRY_ASSIGN(auto database, Database::open(path.string(), Database::Create::yes));
    TRY(migrate(*database, migrations()));
    target_ = {(directory_ / store_file).string(), "", lock_, std::move(database), nullptr};
    beside_ = true;
    return {};
  }

  // What is there is nothing, or nobody's any more.
  Status check_may_be_filled(Connection& target, const std::string& place, bool unfinished) const {
    TRY_ASSIGN(const auto project, value_of(target, "project"));
    TRY_ASSIGN(const auto moved, value_of(target, moved_value));
    const bool ours = !project || *project == project_;
    if (ours && (moved || unfinished)) return {};
    std::int64_t rows = 0;
    for (const WholeTable& table : all_tables()) {
      TRY_ASSIGN(const std::int64_t more, count_rows(target, table));
      rows += more;
    }
    if (rows == 0) return {};
    return Error{ErrorKind::invalid,
                 place +
                     (ours ? " has rows of this project that are in use" : " has rows of another project") +
                     ": name an empty database"};
  }

  Result<MoveReport> copy() {
    TRY_ASSIGN(auto report, copy_tables(*source_.connection, *target_.connection, progress_));
    report.from = source_.place, report.to = target_.place;
    return report;
  }

  // Everything into the file itself: its log keeps its name when the file is renamed.
  static Status settle(Connection& file) {
    return static_cast<Database&>(file).execute("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  Status put_file_in_place() {
    if (!beside_) return {};
    io::Files& files = io::real_files();
    TRY(settle(*target_.connection));
    target_ = {};
    for (const char* const suffix : {"-wal", "-shm"}) {
      TRY(files.remove((directory_ / unfinished_file).string() + suffix));
      TRY(files.remove((directory_ / store_file).string() + suffix));  // of one that was moved away before
    }
    TRY(files.sync(directory_ / unfinished_file));
    TRY(files.rename(directory_ / unfinished_file, directory_ / store_file));
    TRY_ASSIGN(target_, open_file(lock_, directory_, OpenCheck::none));
    return {};
  }

  const io::Path directory_;
  const std::function<void(const MoveProgress&)>& progress_;
  std::shared_ptr<void> lock_;  // of the directory, if one of them is a file there
  Opened source_, target_;
  bool beside_ = false;                    // the new store is a file that has not its name yet
  std::optional<std::string> moved_away_;  // where the former store says that its rows are
  std::string project_, state_;            // of the former store: of whom, and how far
  std::int64_t generation_ = 0;
};

}  // namespace

Result<MovedStore> move_store(const io::Path& directory, const std::string& from, const std::string& to,
                              const std::function<void(const MoveProgress&)>& progress) {
  return Move(directory, progress).run(from, to);
}

Result<MoveReport> copy_ahead(const io::Path& directory, const std::string& from, const std::string& to,
                              const std::function<void(const MoveProgress&)>& progress) {
  return Move(directory, progress).run_ahead(from, to);
}

}  // namespace gleaner::storage
