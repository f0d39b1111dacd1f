#include "server/storage/open_store.h"

#include "server/storage/all_tables.h"
#include "server/storage/directory_lock.h"
#include "server/storage/leadership.h"
#include "server/storage/migrations.h"
#include "server/storage/open_parts.h"
#include "server/storage/sqlite.h"
#include "shared/base/figures.h"
#include "shared/base/thread_name.h"

namespace gleaner::storage {
namespace {

// A new store is made beside and renamed when it is whole, so that an empty or half-made store.sqlite can
// only be damage, never a beginning.
Status create(const io::Path& path) {
  io::Files& files = io::real_files();
  const io::Path beside = path.parent_path() / "store.sqlite.new";
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) TRY(files.remove(beside.string() + suffix));
  {
    TRY_ASSIGN(const auto database, Database::open(beside.string(), Database::Create::yes));
    TRY(migrate(*database, migrations()));
    // Everything into the main file: the log keeps its name when the file is renamed.
    TRY(database->execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  }
  TRY(files.sync(beside));
  return files.rename(beside, path);
}

Result<std::future<Status>> check_beside(const io::Path& path) {
  TRY_ASSIGN(auto database, Database::open(path.string(), Database::Create::no));
  TRY(database->execute("PRAGMA cache_size = -4096"));  // it needs no page twice
  return std::async(std::launch::async, [database = std::move(database)] {
    name_this_thread("checker");
    return database->check();
  });
}

Error older(const Opened& opened, const GenerationNote& store, const GenerationNote& note) {
  return {ErrorKind::invalid,
          opened.place + " is older than it was: it has " + std::to_string(store.generation) +
              " transactions, and " + std::to_string(note.generation) + " were stored by " +
              utc_text(note.at) + ". " + opened.how +
              " If there is none, `gleaner-server run --accept-loss` starts without the last " +
              std::to_string(note.generation - store.generation) +
              ": results that were accepted in them are computed again, and hosts, problems and applications "
              "that were added in them are gone"};
}

Status check_generation(SqlStore& store, const Opened& opened, const io::Path& directory, Loss loss) {
  const auto note = read_generation_note(io::real_files(), directory);
  if (!note.ok()) {
    if (loss == Loss::accepted) return {};
    return Error{note.error().kind, note.error().message +
                                        ". If there is no newer copy of the project, continue with "
                                        "`gleaner-server run --accept-loss`"};
  }
  const GenerationNote present = store.generation();
  if (!*note || (*note)->generation <= present.generation) return {};
  if (loss == Loss::refused) return older(opened, present, **note);
  return store.go_on_from(**note);
}

}  // namespace

Result<Opened> open_file(std::shared_ptr<void> lock, const io::Path& directory, OpenCheck how) {
  io::Files& files = io::real_files();
  const io::Path path = directory / store_file;
  if (!files.exists(path)) {
    if (files.exists(path.string() + "-wal"))
      return Error{ErrorKind::invalid, path.string() +
                                           " is missing, but its log is there: restore both from the newest "
                                           "backup, or move the log away to start anew"};
    TRY(create(path));
  }
  TRY_ASSIGN(const std::int64_t bytes, files.size(path));
  if (bytes == 0) return damaged_store(path.string(), "it is empty");
  TRY_ASSIGN(auto database, Database::open(path.string(), Database::Create::no));
  TRY_ASSIGN(const int version, database->schema_version());
  if (version == 0) return database->damaged("it has no tables");
  const bool beside = how == OpenCheck::beside && version == migrations().back().version;
  if (how != OpenCheck::none && !beside) TRY(database->check());
  TRY(migrate(*database, migrations()));
  // What the server before us wrote but did not live to sync would be read as committed: make it durable
  // before anybody hears of it.
  TRY(database->execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  // The log is there now, and SQLite would not say if its name could not be made durable (unixSync() ignores
  // what fsync() of the directory answers): a power cut would take all of it.
  TRY(files.sync(directory));
  TRY_ASSIGN(auto reader, Database::open(path.string(), Database::Create::no));
  Opened opened{path.string(),
                "Its log (store.sqlite-wal) was removed or cut, or an older copy was put back: bring the "
                "newer files back.",
                std::move(lock), std::move(database), std::move(reader)};
  if (beside) {
    TRY_ASSIGN(opened.check, check_beside(path));
  }
  return opened;
}

Result<Opened> open_database(const std::string& url, const StoreOptions& options) {
  TRY_ASSIGN(auto session, Postgres::open(url));
  TRY_ASSIGN(auto leadership,
             Leadership::take(*session, url, options.waits, options.lost, options.last_beat));
  TRY(migrate(*session, migrations()));
  TRY_ASSIGN(auto reader, Postgres::open(url));
  return Opened{session->place(),
                "An older copy or a replica that lacked the last of them was put in its place: bring the "
                "newer one back.",
                std::move(leadership), std::move(session), std::move(reader)};
}

Status check_place(Connection& connection, const std::string& place) {
  for (const char* const name : {moved_value, moving_value}) {
    Query query = connection.find(table_of<NamedValue>());
    TRY_ASSIGN(const auto found, first_row(query.add(name), take_row<NamedValue>));
    if (!found) continue;
    if (name == moving_value)
      return Error{ErrorKind::invalid, "not all rows of the project are in " + place +
                                           " yet: finish `gleaner-server migrate` as it was begun"};
    return Error{ErrorKind::invalid, "the rows of this project were moved from " + place + " to " +
                                         found->value + ": set store.url in server.toml accordingly"};
  }
  return {};
}

Result<std::unique_ptr<SqlStore>> serve(Opened opened, const io::Path& directory, Loss loss) {
  TRY(check_place(*opened.connection, opened.place));
  auto store = std::make_unique<SqlStore>(std::move(opened.lock), std::move(opened.connection),
                                          std::move(opened.reader));
  store->expect_check(std::move(opened.check));
  TRY(store->load_sequences());
  TRY(check_generation(*store, opened, directory, loss));
  return store;
}

Result<std::unique_ptr<Store>> open_sqlite_store(const io::Path& directory, OpenCheck how, Loss loss) {
  TRY(io::real_files().make_directories(directory));
  TRY_ASSIGN(auto lock, DirectoryLock::take(directory));
  TRY_ASSIGN(auto opened, open_file(std::move(lock), directory, how));
  TRY_ASSIGN(auto store, serve(std::move(opened), directory, loss));
  return std::unique_ptr<Store>(std::move(store));
}

bool is_database_url(const std::string& url) {
  return url.starts_with("postgresql://") || url.starts_with("postgres://");
}

Result<std::unique_ptr<Store>> open_store(const std::string& url, const io::Path& directory,
                                          const StoreOptions& options) {
  if (url.empty()) return open_sqlite_store(directory, options.check, options.loss);
  TRY(io::real_files().make_directories(directory));
  TRY_ASSIGN(auto opened, open_database(url, options));
  TRY_ASSIGN(auto store, serve(std::move(opened), directory, options.loss));
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace gleaner::storage
