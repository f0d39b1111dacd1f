// The schema, as numbered steps that only go forward. A published step is never edited: a change of the
// schema is a new step, tested from every earlier one. FORMAT.md describes the tables. Private to this
// module.
#pragma once

#include <span>

#include "server/storage/sqlite.h"

namespace gleaner::storage {

struct Migration {
  int version = 0;  // 1, 2, 3 ... without gaps
  const char* name = "";
  const char* sql = "";
};

// All steps, oldest first.
[[nodiscard]] std::span<const Migration> migrations();

// The schema of the open file; 0: no tables at all. invalid if it is not Gleaner's store.
[[nodiscard]] Result<int> schema_version(Database& database);
// That a file of schema `present` is not for a program that knows `newest`.
[[nodiscard]] Error newer_store(int present, int newest);
// Takes the file to the last of `steps`, each step in a transaction of its own. A newer file is refused
// (invalid).
[[nodiscard]] Status migrate(Database& database, std::span<const Migration> steps);

}  // namespace gleaner::storage
