#include "shared/io/secret_file.h"

#include <iostream>
#include <string>
#include <system_error>

#include "shared/base/paths.h"

namespace gleaner::io {

Result<Bytes> read_secret_file(const Files& files, const Path& path, std::int64_t bytes_max) {
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  using std::filesystem::perms;
  if (!failure && (status.permissions() & (perms::group_all | perms::others_all)) != perms::none) {
    return Error{ErrorKind::untrusted, "other users of this machine may read or change " + utf8_text(path) +
                                           ": it holds a secret; run `chmod 600 " + utf8_text(path) +
                                           "`, and replace the secret if somebody may have seen it"};
  }
  return files.read(path, bytes_max);
}

Result<std::string> read_secret_argument(const std::string& given) {
  if (given != "-") return given;
  std::string line;
  if (!std::getline(std::cin, line) || line.empty())
    return Error{ErrorKind::invalid, "\"-\" means a line of standard input, and there is none"};
  return line;
}

}  // namespace gleaner::io
