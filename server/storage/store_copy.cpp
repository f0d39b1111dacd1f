#include "server/storage/store_copy.h"

#include <random>

#include "server/storage/copy_tables.h"
#include "server/storage/directory_lock.h"
#include "server/storage/migrations.h"
#include "server/storage/open_parts.h"
#include "server/storage/postgres.h"
#include "server/storage/sqlite.h"

namespace gleaner::storage {
namespace {

// More than were given since any backup: at a thousand a second these are four months' worth.
constexpr std::int64_t beyond_a_backup = 10'000'000'000;
// One backup may be restored more than once, and hosts hold what each of those servers gave: two that gave
// ten million numbers each share some once in fifty thousand times. Nine thousand restores leave what an
// exact JSON number holds.
constexpr std::int64_t beyond_a_backup_max = 1'000'000'000'000;

std::int64_t some_beyond_a_backup() {
  std::random_device system;
  return std::uniform_int_distribution<std::int64_t>(beyond_a_backup, beyond_a_backup_max)(system);
}

Status copy_pages(const io::Path& from, const io::Path& to) {
  TRY_ASSIGN(const auto source, Database::open(from.string(), Database::Create::no, Database::Access::read));
  TRY_ASSIGN(const int version, source->schema_version());
  if (version == 0) return source->damaged("it has no tables");
  TRY_ASSIGN(const auto target, Database::open(to.string(), Database::Create::yes));
  TRY(source->copy_into(*target));
  // Everything into the main file, so that the copy is one file.
  return target->execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

// In one transaction, which sees nothing of what is committed meanwhile.
Status copy_rows(const std::string& url, const io::Path& to) {
  TRY_ASSIGN(const auto source, Postgres::open(url));
  TRY(source->only_read());
  TRY_ASSIGN(const auto target, Database::open(to.string(), Database::Create::yes));
  TRY(migrate(*target, migrations()));
  TRY(transact(*source, [&]() -> Status {
    TRY_ASSIGN(const int version, source->schema_version());
    if (version != migrations().back().version)
      return Error{ErrorKind::invalid,
                   source->place() + " has not this program's schema yet: start the server once"};
    TRY(check_place(*source, source->place()));
    TRY(copy_tables(*source, *target, [](const MoveProgress&) {}));
    return {};
  }));
  return target->execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

Status read_copy(const io::Path& path, StoreCopy& copy) {
  TRY_ASSIGN(auto database, Database::open(path.string(), Database::Create::no));
  TRY(database->check());
  TRY(check_place(*database, path.string()));
  TRY_ASSIGN(auto reader, Database::open(path.string(), Database::Create::no));
  SqlStore store(nullptr, std::move(database), std::move(reader));
  TRY(store.load_sequences());
  copy.at = store.generation();
  TRY_ASSIGN(copy.blobs, store.referenced_blobs());
  TRY_ASSIGN(const auto applications, store.applications());
  for (const auto& row : applications) copy.archives.push_back(row.archive);
  return {};
}

}  // namespace

Result<StoreCopy> copy_store(const std::string& url, const io::Path& from, const io::Path& to) {
  io::Files& files = io::real_files();
  const io::Path source = from / store_file;
  const io::Path target = to / store_file;
  if (url.empty() && !files.exists(source))
    return Error{ErrorKind::not_found, source.string() + " is missing"};
  if (files.exists(target)) return Error{ErrorKind::conflict, target.string() + " is there already"};
  TRY(url.empty() ? copy_pages(source, target) : copy_rows(url, target));
  StoreCopy copy;
  TRY(read_copy(target, copy));
  for (const char* suffix : {"-wal", "-shm"}) TRY(files.remove(target.string() + suffix));
  TRY(files.sync(target));
  return copy;
}

Result<std::unique_ptr<Store>> open_restored_store(const io::Path& directory) {
  TRY_ASSIGN(auto lock, DirectoryLock::take(directory));
  const std::string path = (directory / "store.sqlite").string();
  TRY_ASSIGN(auto database, Database::open(path, Database::Create::no));
  TRY(migrate(*database, migrations()));
  TRY_ASSIGN(auto reader, Database::open(path, Database::Create::no));
  auto store = std::make_unique<SqlStore>(std::move(lock), std::move(database), std::move(reader));
  TRY(store->load_sequences());
  GenerationNote beyond = store->generation();
  const std::int64_t more = some_beyond_a_backup();
  beyond.generation += more;
  beyond.units += more;
  beyond.segments += more;
  TRY(store->go_on_from(beyond));
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace gleaner::storage
