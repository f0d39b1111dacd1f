// Secrets that are handed to a program: files that only their owner may read (keys, tokens, join codes), and
// standard input. Thread-safe but for the latter.
#pragma once

#include <string>

#include "shared/io/files.h"

namespace gleaner::io {

// Errors: untrusted if its mode lets others read or change it: says `chmod 600 FILE`.
[[nodiscard]] Result<Bytes> read_secret_file(const Files& files, const Path& path, std::int64_t bytes_max);

// A secret that is given as an argument: "-" is the next line of standard input, where no other user of this
// computer can read it, as everybody can a program's arguments. invalid: there is no such line.
[[nodiscard]] Result<std::string> read_secret_argument(const std::string& given);

}  // namespace gleaner::io
