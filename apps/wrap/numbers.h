// The numbers of [wrap.numbers] in what a program wrote. Pure.
#pragma once

#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace gleaner::wrap {

// In the first line of the first file that has it: what stands in the expression's parentheses, or all that
// it matched.
[[nodiscard]] std::string find_number(const std::vector<std::string_view>& files,
                                      const std::regex& expression);

}  // namespace gleaner::wrap
