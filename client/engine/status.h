// What `gleaner status` and `gleaner why` show: plain values, gathered by Engine::status().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/range_set.h"

namespace gleaner::engine {

struct SlotStatus {
  int slot = 0;
  std::string state;    // idle, running, paused, waiting, ...
  std::string project;  // its name
  std::string problem;
  std::string application;
  std::int64_t unit = 0;
  Range range;  // with the end as trimmed
  std::int64_t finished = 0;
  double rate = 0;  // hint units per second, last minute
  double remaining_seconds = -1;
  int kernel_process = 0;
  std::string reason;  // why not running
};

// What all computers have of a problem that this one computes, when the server last said so.
struct ProblemStatus {
  std::string project;  // its key
  std::int64_t problem = 0;
  std::string name;
  std::int64_t items = 0;     // of its present stage
  std::int64_t accepted = 0;  // of these
  double done = 0;            // of the whole problem, 0 to 1
  std::int64_t hosts = 0;
  bool in_hand = false;  // this computer has units of it still; if not, the rest may be long past
};

struct ProjectStatus {
  std::string key;
  std::string name;
  std::string server;
  std::int64_t host = 0;             // this computer, to it
  double last_contact_seconds = -1;  // ago; negative: none since this run began
  double share = 1;
  double recent_part = 0;  // of what all projects had of this computer of late, [0, 1]
  bool suspended = false;
  bool revoked = false;
  std::string state;  // one sentence
  std::string place;  // what became of its relay, in a sentence; empty: nothing
  std::int64_t units_in_hand = 0;
  std::int64_t outbox = 0;  // results without an answer yet
  std::int64_t items_today = 0;
  std::int64_t items_week = 0;
  std::int64_t items_total = 0;
};

// What this computer contributed on a day.
struct DayStatus {
  std::int64_t day = 0;  // since 1970 (UTC)
  double core_seconds = 0;
  double joules = 0;  // where the owner said what a core draws
};

// Of several projects: the first one's server, project, project_name and host; the sums, and the first
// trouble.
struct EngineStatus {
  std::string server;
  std::string project;
  std::string project_name;
  std::int64_t host = 0;
  std::string host_name;
  std::string mode;    // run, throttle, pause
  std::string reason;  // one sentence
  std::vector<std::string> details;
  double cpu_share = 1;  // by the preferences, of each of `cores`
  int cores = 1;
  double cpu_share_now = 1;  // what the level of this moment leaves; both 0: it pauses
  int cores_now = 1;
  int computer_cores = 0;  // that are there, if a control group or cpuset leaves fewer; else 0
  bool finishing = false;
  bool revoked = false;
  double benchmark_mflops = 0;
  double all_cores_mflops = 0, memory_bytes_per_second = 0;  // 0: not measured
  std::vector<SlotStatus> slots;
  std::vector<ProblemStatus> problems;
  std::vector<ProjectStatus> projects;
  std::vector<DayStatus> days;    // oldest first
  double core_seconds_today = 0;  // by those
  double core_seconds_week = 0;   // today included
  double core_seconds_year = 0;
  std::int64_t items_accepted = 0;  // since this run began
  // By the receipts. Items of different problems are different things: what was given is in `days`.
  std::int64_t items_today = 0;
  std::int64_t items_week = 0;
  std::int64_t items_total = 0;
  std::int64_t commits_accepted = 0;
  std::int64_t commits_duplicate = 0;
  std::int64_t commits_refused = 0;
  std::string last_refusal;  // why, of the last of these
  std::int64_t outbox = 0;   // results without an answer yet
  std::int64_t units_in_hand = 0;
  std::int64_t work_requests = 0;
  double last_contact_seconds = -1;  // ago, with any project; negative: none since this run began
  double uptime_seconds = 0;
  std::string trouble;  // of the connection
};

}  // namespace gleaner::engine
