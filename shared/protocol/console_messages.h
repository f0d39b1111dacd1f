// What the console is told beyond the admin API, and how a person logs in to it: /v1/console, and the
// operations under /v1/admin that exist for people who look. Shapes and rules as in messages.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/protocol/access_messages.h"
#include "shared/protocol/admin_messages.h"

namespace gleaner::protocol {

// Answer to POST /v1/console/links: who shows the secret first is logged in as whose token asked for it.
struct ConsoleLink {
  std::string secret;
  Timestamp expires_at;
};

// POST /v1/console/session: a link or a token.
struct OpenSession {
  std::string link = {};
  std::string token = {};
  bool instead = false;  // also where another administrator is logged in, which is asked about first
};

// Answer to it, and to GET /v1/console/session. The session itself is in a cookie that scripts do not see.
struct SessionInfo {
  std::string name;  // of the admin token
  Role role = Role::view;
  std::string guard;  // to be sent as X-Gleaner-Guard with everything that changes something
  std::string project;
  // Who is logged in, and stays so: nobody else is without `instead`. There is no guard, and a link stays
  // good.
  std::string instead_of = {};
};

// The whole project at a moment, as a point of its curves: GET /v1/admin/history.
struct OverviewSample {
  Timestamp at;
  std::int64_t hosts_active = 0;
  std::int64_t cores_busy = 0;  // with a unit, of hosts that are heard of
  double items_per_second = 0;  // accepted, since the sample before
  double core_hours = 0;        // of busy cores, since the server started
};

// What was contributed on a day (UTC): GET /v1/admin/days.
struct DayInfo {
  static constexpr int shown_max = 366;  // the newest
  Timestamp at;                          // its beginning
  double core_hours = 0;                 // of busy cores
  double kilowatt_hours = 0;             // of those whose owners said what they draw
  std::int64_t items = 0;                // accepted
};

// The same of a problem: GET /v1/admin/problems/ID/history.
struct ProblemSample {
  Timestamp at;
  int stage = 0;
  double done = 0;                                     // share of the stage's cost, 0 to 1
  double rate = 0;                                     // hint units per second
  double eta_seconds = -1;                             // until the whole problem is done; negative: unknown
  double eta_low_seconds = -1, eta_high_seconds = -1;  // about two times of three it lies between these
};

// One event of GET /v1/admin/events.
struct LiveView {
  ServerStatus status;
  std::vector<ProblemInfo> problems;  // open ones first, then the newest
  std::int64_t problems_total = 0;
  std::vector<ErrorGroup> errors;  // the newest first
  OverviewSample sample;
};

// Which items of the present stage are where, in cells of equal size: GET /v1/admin/problems/ID/map.
struct ItemMap {
  ProblemId id;
  int stage = 0;
  std::string stage_name;
  std::int64_t items = 0;
  std::int64_t items_per_cell = 1;
  // A number for each cell, in percent of its items; what is missing to 100 is free.
  std::vector<int> accepted;
  std::vector<int> held;
  std::vector<int> set_aside;
  std::vector<HostId> holders;  // who holds most of the cell; 0: nobody
};

// GET /v1/admin/host-pages?after=ID&text=TEXT&state=STATE&tag=TAG&relay=ID&order=ORDER.
struct HostPage {
  std::vector<HostInfo> hosts;
  HostId next;  // ask after it for more; 0: there are no more
  std::int64_t total = 0;
  Timestamp now;
  double cost_accepted = 0;  // of all hosts, ever: a host's share is its part of it
};

// GET /v1/admin/settings.
struct SettingInfo {
  std::string name;
  std::string value;
};

}  // namespace gleaner::protocol
