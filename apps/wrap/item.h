// What is kept of an item: the files that the program wrote, or why there are none. Its bytes: eight that
// check the rest, then status, last words and files, each after its length in eight bytes. The check covers
// what identifies the item, so that another item's bytes are noticed. Errors: invalid.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::wrap {

inline constexpr std::size_t status_length_max = 100;
inline constexpr std::size_t last_words_bytes_max = 4096;

struct Outcome {
  std::string status;                   // empty: it went well; else "exit 3"
  std::string words;                    // of one that failed: the end of its standard error
  std::vector<std::string_view> files;  // of one that went well: as many as the command has endings
};

[[nodiscard]] Bytes seal(const std::string& identity, const Outcome& outcome);
// The kept files of an item, whatever item it is; none if there are none. Points into `item`.
[[nodiscard]] std::vector<std::string_view> files_in(std::string_view item);
// Points into `item`. `files`: as many as the command keeps.
[[nodiscard]] Result<Outcome> unseal(const std::string& identity, std::size_t files, std::string_view item);

}  // namespace gleaner::wrap
