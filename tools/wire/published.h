// The texts that are made of the catalog and the operations.
#pragma once

#include <string>
#include <vector>

#include "tools/wire/catalog.h"
#include "tools/wire/operations.h"

namespace gleaner::wire {

// server/http/openapi.yaml.
[[nodiscard]] std::string openapi(const Catalog& catalog, const std::vector<Operation>& operations);
// The table of shared/protocol/API.md.
[[nodiscard]] std::string operation_table(const Catalog& catalog, const std::vector<Operation>& operations);
// server/console/web/src/messages.ts: the messages of what an administrator may ask.
[[nodiscard]] std::string console_types(const Catalog& catalog, const std::vector<Operation>& operations);
// tools/python/gleaner/_wire.py: the same of what an admin token may ask, and a table of these operations.
[[nodiscard]] std::string python_types(const Catalog& catalog, const std::vector<Operation>& operations);

}  // namespace gleaner::wire
