// A model as text, so that what memory says can be compared with what the store says: everything that a
// restart brings back, nothing that it may forget (rates, what fair sharing charged lately, who waits for
// work).
#pragma once

#include <string>

#include "server/service/core/model.h"

namespace gleaner::service::testing {

[[nodiscard]] std::string text_of(const Model& model);

}  // namespace gleaner::service::testing
