// Short lists as JSON text in one column (platforms, inputs, ranges). Private to this module.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/range_set.h"
#include "shared/base/result.h"
#include "shared/protocol/messages.h"

namespace gleaner::storage {

// invalid if a text is not UTF-8.
[[nodiscard]] Result<std::string> to_text(const std::vector<std::string>& list);
[[nodiscard]] Result<std::string> to_text(const std::vector<protocol::Input>& list);
[[nodiscard]] Result<std::string> to_text(const std::vector<Range>& list);

// False if the text is not what to_text() writes.
[[nodiscard]] bool from_text(std::string_view text, std::vector<std::string>& list);
[[nodiscard]] bool from_text(std::string_view text, std::vector<protocol::Input>& list);
[[nodiscard]] bool from_text(std::string_view text, std::vector<Range>& list);

}  // namespace gleaner::storage
