// What every part of the engine has access to: the outside world as interfaces, and settings. Borrowed; all
// of it outlives the engine.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "client/host/activity_monitor.h"
#include "client/host/cpu_gate.h"
#include "client/host/launcher.h"
#include "client/host/machine.h"
#include "client/host/outside_source.h"
#include "client/state/state_directory.h"
#include "shared/base/random.h"
#include "shared/bundle/bundle.h"
#include "shared/transport/workers.h"

namespace gleaner::engine {

class ItemObserver;

struct EngineSettings {
  int cores = 1;              // slots: one kernel process each
  double cpu_share = 1;       // of each core, (0, 1]
  double watts_per_core = 0;  // that one draws while it computes; 0: not said
  int computer_cores = 0;     // see settings::OwnerSettings
  std::string limit = {};
  std::int64_t memory_bytes = 0;           // that kernels may use, altogether
  std::optional<double> benchmark_mflops;  // instead of measuring, for tests
  std::int64_t cache_bytes_max = std::int64_t{2} << 30;
  std::int64_t free_bytes_min = std::int64_t{200} << 20;  // of the disk, left alone
  std::vector<std::string> applications = {};             // the only ones permitted; none: any
  std::vector<std::string> capabilities = {};             // what kernels find here (shared/base/capability.h)
  std::string client_version = "0";
};

[[nodiscard]] inline bool permits(const EngineSettings& settings, const std::string& application) {
  const auto& permitted = settings.applications;
  return permitted.empty() || std::find(permitted.begin(), permitted.end(), application) != permitted.end();
}

struct Services {
  Clock& clock;
  Random& random;
  io::Files& files;
  host::Launcher& launcher;
  host::CpuGate& gate;
  host::Machine& machine;
  transport::Workers& workers;
  state::StateDirectory state;
  bundle::Unpack unpack;  // called on data queues, of several projects at a time
  EngineSettings settings;
  host::ActivityMonitor* activity = nullptr;  // none: nobody but the settings is asked
  ItemObserver* observer = nullptr;           // none: nobody looks
  host::OutsideSource* outside = nullptr;     // none: no outside signal is asked
};

// Gathers the earliest moment at which somebody wants to be called again.
class Alarm {
 public:
  void reset() { at_ = SteadyTime::max(); }
  void at(SteadyTime time) { at_ = time < at_ ? time : at_; }
  [[nodiscard]] SteadyTime earliest() const { return at_; }

 private:
  SteadyTime at_ = SteadyTime::max();
};

}  // namespace gleaner::engine
