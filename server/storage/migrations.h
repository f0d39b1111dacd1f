// The schema, as numbered steps that only go forward. A published step is never edited: a change of the
// schema is a new step, tested from every earlier one. FORMAT.md describes the tables. Private to this
// module.
#pragma once

#include <span>

#include "server/storage/connection.h"

namespace gleaner::storage {

struct Migration {
  int version = 0;  // 1, 2, 3 ... without gaps
  const char* name = "";
  const char* sql = "";
};

// All steps, oldest first.
[[nodiscard]] std::span<const Migration> migrations();

// That a store of schema `present` is not for a program that knows `newest`.
[[nodiscard]] Error newer_store(int present, int newest);
// Takes the store to the last of `steps`, each step in a transaction of its own. A newer one is refused
// (invalid).
[[nodiscard]] Status migrate(Connection& connection, std::span<const Migration> steps);

}  // namespace gleaner::storage
