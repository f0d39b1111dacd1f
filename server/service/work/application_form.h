// What an application declares of its problems.
#pragma once

#include <vector>

#include "server/service/core/model.h"
#include "shared/json/value.h"

namespace gleaner::service {

// Are these what the application declares that its problems have? Errors: invalid with all mistakes. Its
// manager may refuse them still.
[[nodiscard]] Status check_form(const Application& application, const json::Value& parameters,
                                const std::vector<protocol::Input>& inputs);

}  // namespace gleaner::service
