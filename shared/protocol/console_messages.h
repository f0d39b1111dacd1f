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
  bool instead = false;
};

// Answer to it, and to GET /v1/console/session. The session itself is in a cookie that scripts do not see.
struct SessionInfo {
  std::string name;
  Role role = Role::view;
  std::string guard;
  std::string project;
  std::string instead_of = {};
};

// The whole project at a moment, as a point of its curves: GET /v1/admin/history.
struct OverviewSample {
  Timestamp at;
  std::int64_t hosts_active = 0;
  std::int64_t cores_busy = 0;
  double items_per_second = 0;
  double core_hours = 0;
};

// What was contributed on a day (UTC): GET /v1/admin/days.
struct DayInfo {
  static constexpr int shown_max = 366;  // the newest
  Timestamp at;
  double core_hours = 0;
  double kilowatt_hours = 0;
  std::int64_t items = 0;
};

// The same of a problem: GET /v1/admin/problems/ID/history.
struct ProblemSample {
  Timestamp at;
  int stage = 0;
  double done = 0;
  double rate = 0;
  double eta_seconds = -1;
  double eta_low_seconds = -1, eta_high_seconds = -1;
};

// One event of GET /v1/admin/events.
struct LiveView {
  ServerStatus status;
  std::vector<ProblemInfo> problems;
  std::int64_t problems_total = 0;
  std::vector<ErrorGroup> errors;
  OverviewSample sample;
};

// Which items of the present stage are where, in cells of equal size: GET /v1/admin/problems/ID/map.
struct ItemMap {
  ProblemId id;
  int stage = 0;
  std::string stage_name;
  std::int64_t items = 0;
  std::int64_t items_per_cell = 1;
  std::vector<int> accepted;
  std::vector<int> held;
  std::vector<int> set_aside;
  std::vector<HostId> holders;
};

// GET /v1/admin/host-pages?after=ID&text=TEXT&state=STATE&tag=TAG&relay=ID&needs=NEED&order=ORDER.
struct HostPage {
  std::vector<HostInfo> hosts;
  HostId next;
  std::int64_t total = 0;
  Timestamp now;
  double cost_accepted = 0;
};

// Values in the order of the columns; long ones are cut.
struct TableRow {
  std::vector<std::string> values;
};

// GET /v1/admin/tables/DIGEST?from=N&count=N&order=COLUMN&failed=true: rows of a result that is a table.
struct TablePage {
  std::vector<std::string> columns;
  std::int64_t rows = 0;    // of the table
  std::int64_t failed = 0;  // of these; the status of a failed row is not "ok"
  std::int64_t chosen = 0;  // that were asked for, on all pages
  std::int64_t first = 0;   // of these, on this page
  std::vector<TableRow> page;
};

// A node's results that another node needs; none: it only has to be finished.
struct FlowLink {
  std::string node;
  std::vector<std::string> results = {};
};

// A node of a flow (tools/admin/flow_file.h). `problem`: the newest that was added for it; 0: none yet. The
// state is then the problem's, else "waiting", "blocked" (a node that it needs cannot finish) or "refused".
struct FlowStep {
  std::string name;
  std::string application;
  std::vector<FlowLink> after = {};
  ProblemId problem = {};
  std::string state = {};
  double done = 0;
  std::string message = {};
};

// Problems of which some need others' results. POST /v1/admin/flows: its plan, so that people can see it; the
// server adds no problem for it. GET /v1/admin/flows/NAME: the plan, and how far it is.
struct FlowInfo {
  static constexpr int nodes_max = 1000;  // more than anybody draws
  static constexpr int name_length_max = 30;
  std::string name;
  std::vector<FlowStep> nodes;  // each after those that it needs
};

// Hosts that cannot compute a problem, for the same reason.
struct UnsuitedHosts {
  static constexpr int examples_max = 5;
  std::string kind;   // "platform", "need", "memory", "cores", "on hold", "failures", "silent"
  std::string value;  // what is lacked, or the platform they have
  std::string text;   // for people
  std::int64_t hosts = 0;
  std::vector<HostId> examples = {};
  std::vector<std::string> names = {};  // of these
};

// GET /v1/admin/problems/ID/hosts: how many of the project's hosts can compute a problem, and why others not.
struct ProblemHosts {
  static constexpr int unsuited_max = 32;  // reasons: some screens
  std::vector<std::string> needs;          // "python>=3.9"
  std::vector<std::string> platforms;
  std::int64_t memory_bytes = 0;
  int cores = 1;
  std::int64_t hosts = 0;  // that are online
  std::int64_t suited = 0;
  std::vector<UnsuitedHosts> unsuited;
};

// GET /v1/admin/settings.
struct SettingInfo {
  std::string name;
  std::string value;
  std::string meaning = {};
  std::string default_value = {};
};

}  // namespace gleaner::protocol
