#include "server/storage/open_store.h"

#include "server/storage/directory_lock.h"
#include "server/storage/leadership.h"
#include "server/storage/migrations.h"
#include "server/storage/sql_store.h"
#include "server/storage/sqlite.h"

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

// What a store is called, and how it can have become older than it was.
struct Kind {
  std::string name, how;
};

Error older(const Kind& kind, const GenerationNote& store, const GenerationNote& note) {
  return {ErrorKind::invalid,
          kind.name + " is older than it was: it has " + std::to_string(store.generation) +
              " transactions, and " + std::to_string(note.generation) + " were stored by " +
              to_rfc3339(note.at) + ". " + kind.how +
              " If there is none, `gleaner-server run --accept-loss` goes on without the last " +
              std::to_string(note.generation - store.generation) +
              ": results that were accepted in them are computed again, and hosts, problems and applications "
              "that were added in them are gone"};
}

Status check_generation(SqlStore& store, const Kind& kind, const io::Path& directory, Loss loss) {
  const auto note = read_generation_note(io::real_files(), directory);
  if (!note.ok()) {
    if (loss == Loss::accepted) return {};
    return Error{note.error().kind, note.error().message +
                                        ". If no newer copy of the project is to be had, go on with "
                                        "`gleaner-server run --accept-loss`"};
  }
  const GenerationNote present = store.generation();
  if (!*note || (*note)->generation <= present.generation) return {};
  if (loss == Loss::refused) return older(kind, present, **note);
  return store.go_on_from(**note);
}

Result<std::unique_ptr<Store>> open_postgres_store(const std::string& url, const io::Path& directory,
                                                   const StoreOptions& options) {
  TRY(io::real_files().make_directories(directory));
  TRY_ASSIGN(auto session, Postgres::open(url));
  TRY_ASSIGN(auto leadership, Leadership::take(*session, url, options.waits, options.lost));
  TRY(migrate(*session, migrations()));
  TRY_ASSIGN(auto reader, Postgres::open(url));
  const Kind kind{session->place(),
                  "An older copy or a replica that lacked the last of them was put in its place: bring the "
                  "newer one back."};
  auto store = std::make_unique<SqlStore>(std::move(leadership), std::move(session), std::move(reader));
  TRY(store->load_sequences());
  TRY(check_generation(*store, kind, directory, options.loss));
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const io::Path& directory, OpenCheck how, Loss loss) {
  io::Files& files = io::real_files();
  TRY(files.make_directories(directory));
  TRY_ASSIGN(auto lock, DirectoryLock::take(directory));
  const io::Path path = directory / "store.sqlite";
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
  if (how == OpenCheck::quick_check) TRY(database->check());
  TRY(migrate(*database, migrations()));
  // What the server before us wrote but did not live to sync would be read as committed: make it durable
  // before anybody hears of it.
  TRY(database->execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  // The log is there now, and SQLite would not say if its name could not be made durable (unixSync() ignores
  // what fsync() of the directory answers): a power cut would take all of it.
  TRY(files.sync(directory));
  TRY_ASSIGN(auto reader, Database::open(path.string(), Database::Create::no));
  auto store = std::make_unique<SqlStore>(std::move(lock), std::move(database), std::move(reader));
  TRY(store->load_sequences());
  TRY(check_generation(
      *store,
      {path.string(),
       "Its log (store.sqlite-wal) was removed or cut, or an older copy was put back: bring the "
       "newer files back."},
      directory, loss));
  return std::unique_ptr<Store>(std::move(store));
}

bool is_database_url(const std::string& url) {
  return url.starts_with("postgresql://") || url.starts_with("postgres://");
}

Result<std::unique_ptr<Store>> open_store(const std::string& url, const io::Path& directory,
                                          const StoreOptions& options) {
  if (url.empty()) return open_sqlite_store(directory, options.check, options.loss);
  return open_postgres_store(url, directory, options);
}

}  // namespace gleaner::storage
