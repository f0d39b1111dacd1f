// The model, from the store.
#pragma once

#include "server/service/core/model.h"

namespace gleaner::service {

// Reads everything. Problems that were planning or combining are found so (their jobs start again).
[[nodiscard]] Result<Model> load_model(storage::Store& store, io::Files& files, const Settings& settings,
                                       Timestamp now);

}  // namespace gleaner::service
