#include "client/state/projects.h"

#include <algorithm>

#include "shared/base/limits.h"
#include "shared/base/paths.h"

namespace gleaner::state {
namespace {

constexpr const char* unreadable_key = "unreadable";  // a project whose join code cannot be read: leave it
constexpr std::size_t key_digits_min = 4;             // that people may give

// Where both are (an older client ran in between), what is there already stays.
Status move_into(io::Files& files, const io::Path& from, const io::Path& to) {
  if (!files.exists(from)) return {};
  if (!files.exists(to)) return files.rename(from, to);
  if (const auto names = files.list(from); names.ok())
    for (const std::string& name : *names)
      if (!files.exists(to / utf8_path(name)))
        TRY(files.rename(from / utf8_path(name), to / utf8_path(name)));
  return files.remove_all(from);
}

std::string key_in(const io::Files& files, const io::Path& identity) {
  const auto text = files.read(identity / "join-code", limits::text_length_max);
  if (!text.ok()) return unreadable_key;
  const auto code = protocol::parse_join_code(*text);
  return code.ok() ? project_key(code->root_fingerprint) : unreadable_key;
}

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_directory_name(const std::string& name) {
  return name == unreadable_key || (name.size() == project_key_digits && is_hex(name));
}

}  // namespace

std::string project_key(std::string_view root_fingerprint) {
  return to_hex(root_fingerprint).substr(0, project_key_digits);
}

Status migrate_state(io::Files& files, const StateDirectory& state) {
  if (const auto names = files.list(state.projects()); names.ok())
    for (const std::string& name : *names)
      if (name.ends_with(left_suffix)) TRY(files.remove_all(state.projects() / utf8_path(name)));
  const ProjectDirectory old{state.root};
  // Of a joining that never came to its end there is a key at most, which nobody knows.
  if (!files.exists(old.identity() / "join-code") && !files.exists(old.identity() / "host.json"))
    return files.remove_all(old.identity());
  const ProjectDirectory now = state.project(key_in(files, old.identity()));
  TRY(files.make_directories(now.root));
  TRY(files.remove_all(old.bundles()));  // these two are rebuilt anyway
  TRY(files.remove_all(old.problems()));
  for (const auto& [from, to] : {std::pair(old.units(), now.units()),
                                 {old.receipts(), now.receipts()},
                                 {old.blobs(), now.blobs()},
                                 {old.identity(), now.identity()}})
    TRY(move_into(files, from, to));
  return {};
}

Result<std::vector<ProjectDirectory>> joined_projects(const io::Files& files, const StateDirectory& state) {
  std::vector<ProjectDirectory> joined;
  if (!files.exists(state.projects())) return joined;
  TRY_ASSIGN(const std::vector<std::string> names, files.list(state.projects()));
  for (const std::string& name : names) {
    const ProjectDirectory project = state.project(name);
    const bool known =
        files.exists(project.identity() / "join-code") || files.exists(project.identity() / "host.json");
    if (is_directory_name(name) && known) joined.push_back(project);
  }
  return joined;
}

bool is_named(const ProjectNames& project, std::string_view text) {
  if (text.empty()) return false;
  if (text == project.name || text == project.server) return true;
  if (text.size() >= key_digits_min && project.key.starts_with(text)) return true;
  constexpr std::string_view scheme = "https://";
  std::string_view address = project.server;
  if (address.starts_with(scheme)) address.remove_prefix(scheme.size());
  return address == text || address.substr(0, address.rfind(':')) == text;
}

Error none_joined(const StateDirectory& state) {
  return {ErrorKind::not_found, "this computer has not joined a project yet (nothing in " +
                                    utf8_text(state.projects()) + "): run gleaner-client join CODE"};
}

Result<std::vector<ProjectNames>> project_names(const io::Files& files, const StateDirectory& state) {
  TRY_ASSIGN(const auto joined, joined_projects(files, state));
  std::vector<ProjectNames> names;
  for (const ProjectDirectory& project : joined) {
    const auto identity = load_identity(files, project);
    names.push_back(identity.ok() ? names_of(project, *identity)
                                  : ProjectNames{project.key(), "not readable", ""});
  }
  return names;
}

std::string list_of(const std::vector<ProjectNames>& projects) {
  std::string all;
  for (const ProjectNames& one : projects)
    all += (all.empty() ? "" : ", ") + one.name + " (" + one.key + (one.server.empty() ? "" : " at ") +
           one.server + ")";
  return all.empty() ? "none" : all;
}

Result<std::size_t> find_project(const std::vector<ProjectNames>& projects, std::string_view text) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < projects.size(); ++i) {
    if (projects[i].key == text) return i;
    if (is_named(projects[i], text)) found.push_back(i);
  }
  if (found.size() == 1) return found.front();
  const std::string named = "\"" + std::string(text) + "\"";
  if (found.empty())
    return Error{ErrorKind::not_found,
                 "this computer has not joined a project " + named + ": it has joined " + list_of(projects)};
  return Error{ErrorKind::conflict,
               named + " could be several projects: name one by its key: " + list_of(projects)};
}

ProjectNames names_of(const ProjectDirectory& directory, const Identity& identity) {
  return {directory.key(), identity.project_name(), identity.code.base_url()};
}

}  // namespace gleaner::state
