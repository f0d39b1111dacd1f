// What the server knows, in memory: rebuilt from the store at start and after a failed transaction, changed
// only on the writer thread, together with the store.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/policy/stage.h"
#include "server/service/project_directory.h"
#include "server/storage/store.h"
#include "shared/base/result.h"
#include "shared/bundle/manifest.h"

namespace gleaner::service {

struct Application {
  storage::ApplicationRow row;
  bundle::Manifest manifest;
  std::string signer_name;
};

struct Problem {
  storage::ProblemRow row;
  storage::StageRow stage_row;
  std::unique_ptr<policy::Stage> stage;  // absent while planning and when over
  bundle::Manifest manifest;             // of its application
  std::string application_name;          // name@version
  std::string parameters_digest;
  int reviews = 0;                                   // comparisons of overlapping results under way
  bool job_running = false;                          // planning or combining on the pool
  std::vector<storage::FailureRow> recent_failures;  // newest last, at most 100
  std::int64_t disagreements = 0;
  double kept_service = 0;  // row.service as stored
};

struct Host {
  storage::HostRow row;
  Timestamp stored_contact{};  // last_contact as written
  std::set<UnitId> units;      // open ones
};

struct Model {
  std::map<HostId, Host> hosts;
  std::map<ApplicationId, Application> applications;
  std::map<ProblemId, Problem> problems;
  std::unordered_map<UnitId, ProblemId> open_units;  // of the problems' present stages; may lag on closing
  std::optional<UnitId> spare_unit;                  // reserved, not handed out yet
  double slowest_mflops = 0;
};

// Finished, cancelled or failed: nothing more happens to it.
[[nodiscard]] bool over(protocol::ProblemState state);
// The row's rules for the pure stage.
[[nodiscard]] policy::StageSetup stage_setup(const Problem& problem, const Configuration& configuration);
// Reads everything. Problems that were planning or combining are found so (their jobs start again).
[[nodiscard]] Result<Model> load_model(storage::Store& store, io::Files& files,
                                       const ProjectDirectory& directory, const Configuration& configuration,
                                       Timestamp now);
void update_slowest(Model& model);

// Stores what a stage changed, in the writer's transaction.
[[nodiscard]] Status store_changes(storage::Store& store, Model& model, Problem& problem,
                                   const policy::Changes& changes);

}  // namespace gleaner::service
