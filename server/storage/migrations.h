// The schema, as numbered steps that only go forward. A published step is never edited: a change of the
// schema is a new step, tested from every earlier one. Schemas before the first step were never released.
// FORMAT.md describes the tables. Private to this module.
#pragma once

#include <span>

#include "server/storage/connection.h"

namespace gleaner::storage {

struct Migration {
  int version = 0;  // rising; the first step makes everything
  const char* name = "";
  const char* sql = "";
};

// All steps, oldest first.
[[nodiscard]] std::span<const Migration> migrations();

// Refuses (invalid) a store that is older than the first of `steps` or newer than the last; 0: it is empty.
[[nodiscard]] Status check_schema(int present, std::span<const Migration> steps);
// Takes the store to the last of `steps`, each step in a transaction of its own, if check_schema() allows it.
[[nodiscard]] Status migrate(Connection& connection, std::span<const Migration> steps);

}  // namespace gleaner::storage
