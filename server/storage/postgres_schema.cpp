#include <array>
#include <cctype>
#include <utility>

#include "server/storage/postgres.h"

namespace gleaner::storage {
namespace {

// Names in the order of their bytes, as SQLite has them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> postgres_words{{
    {"INTEGER", "bigint"},
    {"REAL", "double precision"},
    {"TEXT", "text COLLATE \"C\""},
    {"BLOB", "bytea"},
    {"ANY", "bytea"},  // digests
    {"AUTOINCREMENT", ""},
    {"STRICT", ""},
}};

bool in_word(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_';
}

}  // namespace

std::string postgres_schema(std::string_view sql) {
  constexpr std::string_view without_rowid = ", WITHOUT ROWID", pragma = "PRAGMA";
  std::string result;
  for (std::size_t i = 0; i < sql.size();) {
    const std::string_view rest = sql.substr(i);
    std::size_t length = 1;
    const bool bytes = rest.starts_with("x'");
    if (bytes || rest.front() == '\'') {
      const std::size_t begin = bytes ? 2 : 1;
      length = std::min(rest.find('\'', begin), rest.size() - 1) + 1;
      result += bytes ? "'\\x" : "'";
      result += rest.substr(begin, length - begin);
    } else if (rest.starts_with(without_rowid)) {
      length = without_rowid.size();
    } else if (rest.starts_with(pragma)) {
      length = std::min(rest.find(';'), rest.size() - 1) + 1;
    } else if (in_word(rest.front())) {
      while (length < rest.size() && in_word(rest[length])) ++length;
      std::string_view word = rest.substr(0, length);
      for (const auto& [from, to] : postgres_words)
        if (word == from) word = to;
      result += word;
    } else {
      result += rest.front();
    }
    i += length;
  }
  return result;
}

}  // namespace gleaner::storage
