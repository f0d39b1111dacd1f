// All that an operation on the writer thread may touch (writer.h). What it wants to happen elsewhere it adds
// to the effects; nothing here leads to the pool, to processes or to files.
#pragma once

#include <functional>
#include <set>

#include "server/service/core/effects.h"
#include "server/service/core/model.h"
#include "server/storage/store.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace gleaner::service {

struct Transaction {
  storage::Store& store;
  Model& model;
  Effects& effects;
  const Settings& settings;
  Timestamp now;
  // How long the calendar has been believed: what expires for good needs it (policy/calendar.h).
  Duration calendar_agreed = {};
  std::set<ProblemId> due = {};  // their next step may be due: they are advanced before the operation ends
};

// An error poisons the whole batch of operations: return one only for failures of the store; a refused
// request is a value.
using Operation = std::function<Status(Transaction&)>;

}  // namespace gleaner::service
