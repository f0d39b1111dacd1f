// The file `notices`: troubles, since when they last, and which of them the owner has been notified of. A
// lost or unreadable file is an empty one: the client notifies once more.
#pragma once

#include "client/policy/notices.h"
#include "shared/io/files.h"

namespace gleaner::state {

inline constexpr std::size_t notices_kept_max = 100;

[[nodiscard]] client_policy::NoticeMemory load_notices(const io::Files& files, const io::Path& path);
[[nodiscard]] Status save_notices(io::Files& files, const io::Path& path,
                                  const client_policy::NoticeMemory& memory);

}  // namespace gleaner::state
