// The projects that a state directory has joined: which they are, how people name them, and the migration
// from the layout of clients that knew only one project. Not thread-safe; migrate_state() only under the
// directory's lock.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/state/identity.h"

namespace gleaner::state {

inline constexpr std::size_t project_key_digits = 16;
[[nodiscard]] std::string project_key(std::string_view root_fingerprint);

// A state directory of a client that knew one project only becomes one of several. Renames, the identity
// last: whatever a kill leaves of it, the next call finishes; nothing to do is success. Also removes what a
// kill left of a project that was being left.
[[nodiscard]] Status migrate_state(io::Files& files, const StateDirectory& state);

// What was joined (or begun to be: join.h), by key; none is no error.
[[nodiscard]] Result<std::vector<ProjectDirectory>> joined_projects(const io::Files& files,
                                                                    const StateDirectory& state);

// Nobody has joined anything yet: what to do.
[[nodiscard]] Error none_joined(const StateDirectory& state);

// How one is named by people: its name, the beginning of its key, or its server (HOST, HOST:PORT,
// https://...).
struct ProjectNames {
  std::string key, name, server;  // server: https://HOST:PORT
};
[[nodiscard]] bool is_named(const ProjectNames& project, std::string_view text);
[[nodiscard]] ProjectNames names_of(const ProjectDirectory& directory, const Identity& identity);
// Of all that were joined, by key. Any process may ask.
[[nodiscard]] Result<std::vector<ProjectNames>> project_names(const io::Files& files,
                                                              const StateDirectory& state);
[[nodiscard]] std::string list_of(const std::vector<ProjectNames>& projects);
// Its index. not_found, or conflict if it could be several; the message lists them.
[[nodiscard]] Result<std::size_t> find_project(const std::vector<ProjectNames>& projects,
                                               std::string_view text);

}  // namespace gleaner::state
