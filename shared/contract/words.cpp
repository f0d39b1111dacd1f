#include "shared/contract/words.h"

#include "shared/protocol/text.h"

namespace gleaner::contract {
namespace {

constexpr std::size_t quoted_bytes_max = 120;
constexpr std::size_t last_words_bytes_max = 2000;

}  // namespace

std::string in_quotes(std::string_view line) {
  return "\"" + protocol::clean_line(line, quoted_bytes_max) + "\"";
}

std::string last_words(std::string_view error_tail) {
  if (error_tail.size() > last_words_bytes_max)
    error_tail.remove_prefix(error_tail.size() - last_words_bytes_max);
  const auto begin = error_tail.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  const auto end = error_tail.find_last_not_of(" \t\r\n");
  return ". Its last words: " +
         protocol::clean_text(error_tail.substr(begin, end - begin + 1), last_words_bytes_max);
}

}  // namespace gleaner::contract
