#include "server/storage/move_store.h"

#include <algorithm>
#include <optional>

#include "server/storage/copy_tables.h"
#include "server/storage/directory_lock.h"
#include "server/storage/migrations.h"
#include "server/storage/open_parts.h"
#include "server/storage/sqlite.h"
#include "shared/base/failpoint.h"

namespace gleaner::storage {
namespace {

const char* const unfinished_file = "store.sqlite.moving";

Result<std::optional<std::string>> value_of(Connection& connection, const char* name) {
  Query query = connection.find(table_of<NamedValue>());
  return first_row(query.add(name), [](Query& row) { return take_row<NamedValue>(row).value; });
}

Status set_value(Connection& connection, const char* name, const std::string& value) {
  return transact(connection, [&]() -> Status {
    Query query = connection.put(table_of<NamedValue>());
    return query.add(std::string_view(name)).add(std::string_view(value)).run();
  });
}

Status drop_value(Connection& connection, const char* name) {
  return transact(connection, [&]() -> Status {
    return connection.query("DELETE FROM named_values WHERE name = ?").add(std::string_view(name)).run();
  });
}

// One call of move_store().
class Move {
 public:
  Move(const io::Path& directory, const std::function<void(const MoveProgress&)>& progress)
      : directory_(directory), progress_(progress) {}

  Result<MovedStore> run(const std::string& from, const std::string& to) {
    if (from == to) return Error{ErrorKind::conflict, "the rows of this project are there already"};
    if (from == store_file || to == store_file) {
      TRY_ASSIGN(lock_, DirectoryLock::take(directory_));
    }
    TRY(open_source(from));
    TRY(open_target(to));
    TRY(copy());
    TRY(compare());
    report_.from = source_.place, report_.to = target_.place;
    TRY(failpoint("move-compared"));
    TRY(set_value(*source_.connection, moved_value, report_.to));
    if (from == store_file) TRY(settle(*source_.connection));
    TRY(failpoint("move-given-up"));
    if (to == store_file) TRY(put_file_in_place());
    TRY(failpoint("move-in-place"));
    TRY(drop_value(*target_.connection, moving_value));
    TRY_ASSIGN(auto store, serve(std::move(target_), directory_, Loss::refused));
    return MovedStore{std::move(report_), std::move(store)};
  }

 private:
  [[nodiscard]] Result<Opened> open_url(const std::string& url) const {
    StoreOptions options;
    options.waits = [] { return false; };
    auto opened = open_database(url, options);
    if (!opened.ok() && opened.error().kind == ErrorKind::unavailable)
      return Error{ErrorKind::unavailable,
                   opened.error().message +
                       " (while a server runs, nothing can be moved: stop it, and those "
                       "that stand by)"};
    return opened;
  }

  Status open_source(const std::string& from) {
    if (from != store_file) {
      TRY_ASSIGN(source_, open_url(from));
    } else if (io::real_files().exists(directory_ / store_file)) {
      TRY_ASSIGN(source_, open_file(lock_, directory_, OpenCheck::quick_check));
    } else {
      return Error{ErrorKind::not_found, (directory_ / store_file).string() +
                                             " is not there: there is nothing to move. For a new project set "
                                             "store.url in server.toml before its first start"};
    }
    Connection& source = *source_.connection;
    TRY_ASSIGN(const auto project, value_of(source, "project"));
    if (!project)
      return Error{ErrorKind::not_found, source_.place + " has no project in it: there is nothing to move"};
    project_ = *project;
    TRY_ASSIGN(const auto unfinished, value_of(source, moving_value));
    if (unfinished) return check_place(source, source_.place);
    std::int64_t generation = 0;
    Query query = source.find(table_of<SequenceRow>());
    TRY_ASSIGN(const auto row, first_row(query.add(std::string_view("generation")), take_row<SequenceRow>));
    if (row) generation = row->next;
    state_ = project_ + " " + std::to_string(generation);
    TRY_ASSIGN(moved_away_, value_of(source, moved_value));
    if (moved_away_) return {};  // open_target() says
    const auto note = read_generation_note(io::real_files(), directory_);
    if (!note.ok()) return note.error();
    if (!*note || (*note)->generation <= generation) return {};
    return Error{ErrorKind::invalid,
                 source_.place + " is older than it was: `gleaner-server run` says what to do"};
  }

  Status open_target(const std::string& to) {
    if (to != store_file) {
      TRY_ASSIGN(target_, open_url(to));
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
      const auto& tables = all_tables();
      for (auto each = tables.rbegin(); each != tables.rend(); ++each) TRY(target.query(each->clear).run());
      Query query = target.put(table_of<NamedValue>());
      return query.add(std::string_view(moving_value)).add(std::string_view(state_)).run();
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
    std::int64_t rows = 0;
    for (const WholeTable& table : all_tables()) {
      TRY_ASSIGN(const std::int64_t more, count_rows(target, table));
      rows += more;
    }
    TRY_ASSIGN(const auto project, value_of(target, "project"));
    TRY_ASSIGN(const auto moved, value_of(target, moved_value));
    const bool ours = !project || *project == project_;
    if (rows == 0 || (ours && (moved || unfinished))) return {};
    return Error{ErrorKind::invalid,
                 place +
                     (ours ? " has rows of this project that are in use" : " has rows of another project") +
                     ": name an empty database"};
  }

  Status copy() {
    const auto& tables = all_tables();
    progress_now_ = {MoveProgress::Step::copying, 0, 0};
    for (const WholeTable& table : tables) {
      TRY_ASSIGN(const std::int64_t rows, count_rows(*source_.connection, table));
      TRY_ASSIGN(const std::int64_t there, count_rows(*target_.connection, table));
      progress_now_.all += rows;
      progress_now_.done += there;
    }
    report_.there = progress_now_.done;
    const auto row_copied = [this] {
      progress_now_.done = std::min(progress_now_.done + 1, progress_now_.all);
      progress_(progress_now_);
    };
    for (const WholeTable& table : tables)
      TRY(copy_table(*source_.connection, *target_.connection, table, row_copied));
    return copy_numbers(*source_.connection, *target_.connection);
  }

  Status compare() {
    progress_now_ = {MoveProgress::Step::comparing, 0, 2 * progress_now_.all};
    const auto row_read = [&] {
      ++progress_now_.done;
      progress_(progress_now_);
    };
    for (const WholeTable& table : all_tables()) {
      TRY_ASSIGN(const TableSum sum,
                 compare_table(*source_.connection, *target_.connection, table, row_read));
      report_.tables.push_back({table.table.name, sum.rows, sum.digest});
      report_.rows += sum.rows;
    }
    return {};
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
  MoveProgress progress_now_;
  MoveReport report_;
};

}  // namespace

Result<MovedStore> move_store(const io::Path& directory, const std::string& from, const std::string& to,
                              const std::function<void(const MoveProgress&)>& progress) {
  return Move(directory, progress).run(from, to);
}

}  // namespace gleaner::storage
