// The projects that a daemon serves: who it is to each, and for each its own queues, whose connections are to
// that project's server only. Made once, at the daemon's start.
#pragma once

#include <memory>
#include <vector>

#include "client/join/join.h"
#include "client/settings/owner_settings.h"
#include "client/state/projects.h"
#include "shared/transport/link_meter.h"
#include "shared/transport/thread_workers.h"

namespace gleaner::program {

struct ServedProject {
  state::ProjectDirectory directory;
  state::Identity identity;
  std::shared_ptr<io::TransferRates> rates = std::make_shared<io::TransferRates>();
  std::shared_ptr<transport::LinkMeter> link = std::make_shared<transport::LinkMeter>();
  std::shared_ptr<io::RefusedTlsKeys> refused = std::make_shared<io::RefusedTlsKeys>();
  std::shared_ptr<io::PinnedTlsKey> pinned = std::make_shared<io::PinnedTlsKey>();
  std::unique_ptr<transport::ThreadWorkers> workers = {};
  state::Move move = {};  // there is a fallback in its join code, and it is under a relay
  state::Move join_again = {}, part = {};
};

// Those that were joined, with `machine`, which outlives them; a state directory of a client that knew only
// one is changed into one of several before. One that cannot be served is logged and keeps no other from it;
// an error if none can.
[[nodiscard]] Result<std::vector<ServedProject>> served_projects(const state::StateDirectory& state,
                                                                 const host::Machine& machine,
                                                                 const joining::JoinFacts& facts);

// Together they move no more than the owner allows: each an equal part of it.
void take_rates(const std::vector<ServedProject>& projects, const settings::OwnerSettings& owner_settings);

}  // namespace gleaner::program
