// A store copied while its server goes on, and a copy taken into use in the place of what was lost. Blocks
// for as long as the disk takes. Nothing of it is called by a running server.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/storage/generation_note.h"
#include "server/storage/store.h"
#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::storage {

struct StoreCopy {
  GenerationNote at;                  // how far the store was at the copy's moment; `at.at` is 0
  std::vector<std::string> blobs;     // digests that its rows name
  std::vector<std::string> archives;  // of them, those of applications
};

// A project's rows as they were at one moment, into TO/store.sqlite, where there is none yet. The server's
// writer is not held up. Of FROM/store.sqlite, with what only its log has, by SQLite's online backup; its log
// grows until the copy is made. Of a database (`url` not empty), row by row, read in one transaction and
// compared. Durable on success.
[[nodiscard]] Result<StoreCopy> copy_store(const std::string& url, const io::Path& from, const io::Path& to);

// Opens a store that was copied some time before it was needed. What was written after the copy is lost, and
// nobody knows how much that was: its generation and its ids go on far beyond all that can have been given,
// so that no id is given twice, and so that the lost store, should it be found again, is refused as older.
[[nodiscard]] Result<std::unique_ptr<Store>> open_restored_store(const io::Path& directory);

}  // namespace gleaner::storage
