// The projects that a daemon serves: who it is to each, and for each its own lanes, whose connections are to
// that project's server only. Made once, at the daemon's start.
#pragma once

#include <memory>
#include <vector>

#include "client/engine/join.h"
#include "client/engine/link_meter.h"
#include "client/engine/projects.h"
#include "client/engine/thread_workers.h"
#include "client/engine/wishes.h"

namespace gleaner::program {

struct ServedProject {
  engine::ProjectDirectory directory;
  engine::Identity identity;
  std::shared_ptr<io::TransferRates> rates = std::make_shared<io::TransferRates>();
  std::shared_ptr<engine::LinkMeter> link = std::make_shared<engine::LinkMeter>();
  std::unique_ptr<engine::ThreadWorkers> workers = {};
};

// Those that were joined; a state directory of a client that knew only one is changed into one of several
// before. One that cannot be served is logged and keeps no other from it; an error if none can.
[[nodiscard]] Result<std::vector<ServedProject>> served_projects(const engine::StateDirectory& state,
                                                                 const engine::Machine& machine,
                                                                 const engine::JoinFacts& facts);

// Together they move no more than the owner allows: each an equal part of it.
void take_rates(const std::vector<ServedProject>& projects, const engine::Wishes& wishes);

}  // namespace gleaner::program
