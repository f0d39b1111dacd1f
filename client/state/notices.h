// What the owner was told by notifications, and since when what may be told has held, in the file `notices`.
// Losing it costs that something is told again; what cannot be read counts as nothing.
#pragma once

#include "client/policy/notices.h"
#include "shared/io/files.h"

namespace gleaner::state {

inline constexpr std::size_t notices_kept_max = 100;

[[nodiscard]] client_policy::NoticeMemory load_notices(const io::Files& files, const io::Path& path);
[[nodiscard]] Status save_notices(io::Files& files, const io::Path& path,
                                  const client_policy::NoticeMemory& memory);

}  // namespace gleaner::state
