// The client that the system runs as a user of its own, for people who may not control it: what it shows to
// everybody, and what to do for the rest.
#pragma once

#include <optional>
#include <string>

#include "client/view/view_file.h"
#include "shared/io/files.h"

namespace gleaner::program {

struct SystemClient {
  io::Path state;  // closed to others
  io::Path view;   // readable by everybody while the client runs
};
// Where the package puts it.
[[nodiscard]] SystemClient system_client();

// Where the client with that state directory shows itself. The service's place is not in the environment of
// another program, as of one under sudo.
[[nodiscard]] io::Path view_of(const SystemClient& client, const io::Path& state);

// Is `own`, the caller's state directory, absent, and the system's there?
[[nodiscard]] bool is_meant(const SystemClient& client, const io::Path& own);
// "computing words on 1 of 2 cores: ...", then what this computer contributed.
[[nodiscard]] std::string text_of(const view::View& view);
// Answers status and why as far as the view goes, and says how the rest is done. The exit status.
[[nodiscard]] int answer_for(const SystemClient& client, const std::string& command, bool json);

}  // namespace gleaner::program
