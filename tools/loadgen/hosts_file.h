// Hosts that were enrolled, as a file: a line "gleaner-hosts 1 PROJECT", then "HOST TOKEN" for each, or "HOST
// TOKEN KEY" under a relay (the private key as PEM in base64url). Tokens and keys are secrets: the file is
// for its owner only. Errors: io, not_found, invalid (with the line).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::loadgen {

struct EnrolledHost {
  HostId id;
  std::string token;
  std::string key = {};  // under a relay: its private key, PEM
  friend bool operator==(const EnrolledHost&, const EnrolledHost&) = default;
};

[[nodiscard]] Status write_hosts(io::Files& files, const io::Path& path, const std::string& project,
                                 const std::vector<EnrolledHost>& hosts);
// At most `count` of them; they must be of `project`.
[[nodiscard]] Result<std::vector<EnrolledHost>> read_hosts(const io::Files& files, const io::Path& path,
                                                           const std::string& project, std::int64_t count);

}  // namespace gleaner::loadgen
