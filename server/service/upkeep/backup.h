// A project's directory copied while its server runs, and put back. Stateless; blocks until all is copied.
//
// In a backup every row of the store finds its file: the blobs that there are come first, so that none goes
// meanwhile, then the store as it is at one moment (storage/store_copy.h), then what came in between. A file
// is a hard link where the backup is on the same file system, as blobs never change: it costs nothing, and it
// is lost with that disk. The file `gleaner-backup` comes last: without it a backup is not whole.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/service/core/project_directory.h"
#include "server/storage/generation_note.h"
#include "server/storage/object_inventory.h"
#include "shared/base/result.h"
#include "shared/io/files.h"
#include "shared/io/place_file.h"

namespace gleaner::service {

enum class Keys { left_out, included };

struct BackupOptions {
  Keys keys = Keys::left_out;  // the work key, the TLS key, the enrolment secret, the admin token
  io::Place place = io::Place::link_or_copy;
  std::string
      store_url;  // of the project's rows (storage/open_store.h); in the backup they are in store.sqlite
  bool objects = false;  // blobs are in an object store: the backup has none, unless
  const storage::ObjectInventory* copied = nullptr;  // they are copied from there
  io::Path former;  // a backup that had them copied: what it has is taken from it; empty: none
};

struct BackupReport {
  storage::GenerationNote at;  // what the backup has
  std::int64_t blobs = 0, bytes = 0, linked = 0;
  std::int64_t fetched = 0;  // blobs that were copied from an object store, each compared with its digest
  std::vector<std::string> lost;  // those that rows name, and that are damaged or gone there
  bool with_keys = false;
  std::vector<io::Path> missing;  // of a restored project: the keys that must be put there before it runs
};

// Was this directory made by back_up()? Then its rows are in store.sqlite, whatever its settings say.
[[nodiscard]] bool is_backup(const io::Files& files, const io::Path& directory);
// conflict: there is something at `into` already. not_found: no project. invalid: `former` is no backup.
[[nodiscard]] Result<BackupReport> back_up(io::Files& files, const io::Path& project, const io::Path& into,
                                           const BackupOptions& options, Timestamp now);
// conflict: there is something at `project` already. invalid: the backup is not whole.
[[nodiscard]] Result<BackupReport> restore(io::Files& files, const io::Path& backup, const io::Path& project,
                                           io::Place place, Timestamp now);

}  // namespace gleaner::service
