// `gleaner projects`: which projects this computer computes for, and how much of it each gets. Shows what the
// running client says; changes preferences, with or without one.
#pragma once

#include <string>

#include "client/state/state_directory.h"
#include "shared/base/result.h"
#include "shared/json/value.h"

namespace gleaner::program {

struct ProjectsCommand {
  state::StateDirectory state;
  io::Path socket;
  std::string verb;  // show, share, suspend, resume
  std::string project;
  double share = 1;
  bool json = false;
};

// Changes the preferences as `gleaner projects share|suspend|resume` does; what holds now, as a sentence.
[[nodiscard]] Result<std::string> change_project(const ProjectsCommand& command);

// Returns the exit status.
[[nodiscard]] int run_projects(const ProjectsCommand& command);

// The client's `projects` as a table. Missing or wrong fields show as blanks. Pure.
[[nodiscard]] std::string projects_text(const json::Value& projects);

}  // namespace gleaner::program
