// A project's server: it plans the items that it hands out, and its word on results is the project's.
#pragma once

#include <memory>

#include "server/service/core/origin.h"

namespace gleaner::service {

[[nodiscard]] std::unique_ptr<Origin> make_own_items();

}  // namespace gleaner::service
