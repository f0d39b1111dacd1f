#include "apps/wrap/numbers.h"

#include <algorithm>

namespace gleaner::wrap {
namespace {

// Of a line that is searched: the library's matcher needs stack for each of its bytes.
constexpr std::size_t searched_line_max = 4096;

}  // namespace

std::string find_number(const std::vector<std::string_view>& files, const std::regex& expression) {
  for (const std::string_view text : files)
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string line(text.substr(begin, std::min(end - begin, searched_line_max)));
      std::smatch match;
      if (std::regex_search(line, match, expression)) {
        const std::string found = match[match.size() > 1 ? 1 : 0].str();
        if (!found.empty()) return found;
        break;  // in the next file
      }
      begin = end + 1;
    }
  return {};
}

}  // namespace gleaner::wrap
