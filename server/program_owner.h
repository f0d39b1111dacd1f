// Whose a project's directory is. What root leaves behind there, the server's own user could not open.
#pragma once

#include <functional>

#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::server {

// error: this is root and the directory is another user's, with the command to use: `command`, followed by
// the directory.
[[nodiscard]] Status check_user(const io::Path& directory, const std::string& command,
                                const std::string& program = "gleaner-server");

// Does `make` as the user whose `directory` is, if this is root; root owns `offline` afterwards, with what
// `make` left in it. One thread.
[[nodiscard]] Status make_as_owner(const io::Path& directory, const io::Path& offline,
                                   const std::function<Status()>& make);

}  // namespace gleaner::server
