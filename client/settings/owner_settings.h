// The owner's settings for the engine, derived from the preferences; they take effect at the next tick.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/policy/owner.h"
#include "client/policy/traffic.h"

namespace gleaner::settings {

struct ShareSetting {
  std::string project;  // name, beginning of the key, or server
  double share = 1;     // 0: no new work
};

struct OwnerSettings {
  client_policy::OwnerRules owner;
  double cpu_share = 1;                   // of each core, (0, 1]
  double watts_per_core = 0;              // that one draws while it computes; 0: not said
  int cores = 0;                          // that kernels may use; 0: as many as the engine was made for
  int computer_cores = 0;                 // that are there, if fewer may be used for another's reason; else 0
  std::string limit;                      // that reason
  std::vector<int> processors;            // that kernels run on; none: all
  std::int64_t memory_bytes = 0;          // that kernels may use, altogether; 0: as the engine was made
  std::vector<std::string> applications;  // the only ones permitted; none: any
  std::vector<ShareSetting> shares;       // of two for the same project the last; none: 1
  std::vector<std::string> suspended;     // projects, named alike
  std::vector<std::string> exclusive;     // programs beside which nothing is computed
  // A kernel that was paused for so long ends and gives its memory back; what it finished is kept.
  Duration give_back_after = std::chrono::minutes{10};
  std::int64_t download_bytes_per_second = 0;  // 0: any
  std::int64_t upload_bytes_per_second = 0;
  client_policy::TrafficLimits traffic;
  std::string outside_signal;  // a program's path or an address of this computer; empty: none
  Duration outside_interval = std::chrono::minutes{1};
  Duration relay_patience = std::chrono::hours{72};  // with a relay that does not answer
  bool notifications = true;  // the owner wants to be told of troubles in a desktop session
  std::int64_t cache_bytes_max = std::int64_t{2} << 30;
  std::int64_t free_bytes_min = std::int64_t{200} << 20;  // of the disk, left alone
};

}  // namespace gleaner::settings
