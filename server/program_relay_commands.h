// What gleaner-relay does besides running. Each is done when it returns; errors are for people.
#pragma once

#include <optional>
#include <string>

#include "server/program_check.h"
#include "server/relay/directory.h"

namespace gleaner::server {

struct RelayJoin {
  std::string code;
  std::string via;  // HOST[:PORT] of the relay under which this one is to be; empty: as the code says
  // Into the settings, where they are given.
  std::optional<std::string> name, address, public_host;
  std::optional<int> port;
};
// Prints what to do next.
[[nodiscard]] Status join_relay(const relay::RelayDirectory& directory, const RelayJoin& command);

enum class Undelivered { kept, dropped };
// conflict: there are results that the project does not have yet, which would be lost.
[[nodiscard]] Status leave_relay(const relay::RelayDirectory& directory, Undelivered undelivered);

// With which its children join. `fallback`: the project's own join code, for when this relay is gone for
// good; empty: they wait for it. invalid: it is of another project, or this relay's own.
[[nodiscard]] Result<std::string> relay_join_code(const relay::RelayDirectory& directory,
                                                  const std::string& fallback);

// As the running relay tells it. unavailable: it does not run.
[[nodiscard]] Status print_relay_status(const relay::RelayDirectory& directory, Format format);

}  // namespace gleaner::server
