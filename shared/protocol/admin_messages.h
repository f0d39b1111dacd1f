// The admin API's messages, version 1: what gleaner-admin (and any other tool with the admin token) sees.
// Shapes and rules as in messages.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shared/protocol/messages.h"

namespace gleaner::protocol {

// A parameter that an application's problems may have, as its manifest declares it (apps/CONTRACT.md).
struct ParameterInfo {
  std::string name;
  std::string type;
  std::string meaning;
  std::string default_value;
  bool required = false;
  std::optional<double> low, high;
  std::int64_t length = 0;
  std::vector<std::string> choices;
};

// A file that an application's problems may or must have.
struct InputInfo {
  std::string name;
  std::string meaning;
  bool required = false;
};

struct ApplicationInfo {
  std::string name;
  std::string version;
  std::string title;
  std::string archive;
  std::int64_t archive_bytes = 0;
  std::vector<std::string> platforms;
  std::string signer;
  Timestamp added_at;
  std::vector<ParameterInfo> parameters = {};
  std::vector<InputInfo> inputs = {};
  Timestamp signer_expires = {};
  std::vector<std::string> needs = {};
};

// POST /v1/admin/applications; the archive was uploaded before.
struct AddApplication {
  SignedStatement application;
  SignedStatement signer;
};

struct AddProblem {
  std::string application;
  std::string name;
  std::string parameters;
  std::vector<Input> inputs;
  std::string strategy;
  std::string straggler;
  double weight = 1;
  int priority = 0;
  std::int64_t commit_seconds = 0;
  std::string validation = {};
};

// Answer to POST /v1/admin/estimates, of an AddProblem: what it would cost and when it would be done. Nothing
// of it stays. Negative seconds: not known.
struct ProblemEstimate {
  std::string application;
  std::int64_t items = 0;
  double cost = 0;
  std::int64_t hosts = 0;
  std::int64_t cores = 0;
  double share = 1;
  std::int64_t tried = 0;
  bool same_parameters = false;
  double core_seconds = -1, core_low_seconds = -1, core_high_seconds = -1;
  double eta_seconds = -1, eta_low_seconds = -1, eta_high_seconds = -1;
  std::string waits;
};

enum class ProblemState : int {
  planning = 1,  // the manager says what the stage is
  running = 2,
  paused = 3,
  combining = 4,
  finished = 5,
  cancelled = 6,
  failed = 7,   // `message` says why
  stopped = 8,  // a paused one that waits for its administrator, `message` says why; stored as paused
};
[[nodiscard]] const char* name_of(ProblemState state);

struct ResultFile {
  std::string name;
  std::string digest;
  std::int64_t bytes = 0;
  std::string media_type;
};

// Answer to POST /v1/admin/problems/ID/preview: what the manager makes of the items in hand.
struct Preview {
  ProblemId id;
  int stage = 0;
  std::string stage_name;
  std::int64_t items = 0;
  std::int64_t accepted = 0;
  std::vector<ResultFile> files;
};

struct HostShare {
  HostId host;
  std::string name;
  std::int64_t requests = 0;
  std::int64_t units = 0;
  std::int64_t items = 0;
  double cost = 0;
  double wasted_cost = 0;
  double rate = 0;
  double busy_seconds = 0;
  std::int64_t splits = 0;
  std::int64_t duplicates = 0;
  double last_contact_seconds = 0;
};

struct SetAside {
  UnitId unit;
  Range range;
  std::string message;
};

// How often a host failed so.
struct FailingHost {
  HostId host;
  std::string name;
  std::int64_t times = 0;
};

// Failures with the same last words, of one problem: GET /v1/admin/errors has those of all.
struct ErrorGroup {
  ProblemId problem;
  std::string problem_name;
  std::string application;
  std::string kind;
  std::string words;
  std::string message;  // all of it
  std::int64_t times = 0;
  std::int64_t hosts = 0;
  Timestamp first_at;
  Timestamp last_at;
  std::vector<FailingHost> by = {};
};

// The last output of a kernel that computes a problem: GET /v1/admin/problems/ID/output.
struct KernelOutput {
  HostId host;
  std::string host_name;
  UnitId unit;
  std::string text;
  Timestamp at;
};

struct ProblemInfo {
  ProblemId id;
  std::string name;
  std::string application;
  ProblemState state = ProblemState::planning;
  std::string message;
  std::string strategy;
  std::string straggler;
  double weight = 1;
  int priority = 0;
  std::string validation;
  int stage = 0;
  std::string stage_name;
  std::int64_t items = 0;
  std::int64_t accepted = 0;
  std::int64_t free = 0;
  std::int64_t handed_out = 0;
  double cost = 0;
  double cost_accepted = 0;
  double rate = 0;
  double eta_seconds = -1;
  double eta_low_seconds = -1, eta_high_seconds = -1;
  std::string waits;
  std::string needs = {};
  double done = -1;
  std::int64_t units = 0;
  std::int64_t open_units = 0;
  std::int64_t splits = 0;
  std::int64_t recovered = 0;
  std::int64_t duplicates = 0;
  double wasted_cost = 0;
  double wasted = -1;
  std::int64_t disagreements = 0;
  int hosts = 0;
  Timestamp created_at;
  Timestamp started_at;
  Timestamp finished_at;
  double elapsed_seconds = 0;
  std::vector<HostShare> shares;
  std::int64_t shares_total = 0;
  std::vector<ResultFile> results;
  std::vector<SetAside> set_aside;
  std::vector<ErrorGroup> errors;
  std::string flow = {};
  std::string parameters = {};
  std::vector<Input> inputs = {};
};

// A code with which hosts join: GET /v1/admin/codes, GET /v1/admin/codes/NAME.
struct CodeInfo {
  std::string name;
  std::string state;
  std::int64_t hosts = 0;
  std::int64_t hosts_max = 0;
  std::optional<bool> own = {};
  std::vector<std::string> tags;
  Timestamp made_at;
  Timestamp expires_at;    // 0: never
  Timestamp withdrawn_at;  // 0: it is not
  std::optional<std::int64_t> children = {};
  std::string made_by = {};
};

// POST /v1/admin/codes.
struct AddCode {
  std::string name;
  std::int64_t hosts_max = 0;
  std::int64_t lifetime_seconds = 0;
  std::optional<bool> own = {};
  std::vector<std::string> tags = {};
};

// Answer to it, and to POST /v1/admin/codes/NAME/rotate. The server keeps no secret: it is told this once.
struct MadeCode {
  CodeInfo code;
  std::string join_code;
};

// POST /v1/admin/codes/NAME/withdraw: nobody joins with it any more.
struct WithdrawCode {
  bool with_hosts = false;
};

// POST /v1/admin/hosts/ID/revoke.
struct RevokeHost {
  bool may_return = false;
};

// POST /v1/admin/hosts/ID/hold: it gets no new unit until POST /v1/admin/hosts/ID/release. What it has goes
// on.
struct HoldHost {
  std::string reason;
};

// POST /v1/admin/hosts/ID/tags: it has these from now on.
struct TagHost {
  std::vector<std::string> tags;
};

enum class HostState : int { active = 1, revoked = 2, left = 3 };
[[nodiscard]] const char* name_of(HostState state);

struct HostInfo {
  HostId id;
  std::string name;
  HostState state = HostState::active;
  std::string platform;
  int cores = 1;
  std::int64_t memory_bytes = 0;
  std::string client_version;
  double mflops = 0;
  std::optional<HostSpeeds> speeds;
  std::int64_t items_accepted = 0;
  double cost_accepted = 0;
  std::int64_t failures = 0;
  std::int64_t disagreements = 0;
  Timestamp enrolled_at;
  Timestamp last_contact;
  int open_units = 0;
  std::string state_reason;
  std::string code = {};
  std::vector<std::string> tags = {};
  std::string on_hold = {};
  double trust = -1;
  std::optional<HostId> relay = {};
  std::optional<ItemBytes> item = {};
  std::optional<double> cores_lent = {};
  std::optional<std::int64_t> memory_lent = {};
  std::optional<Readings> readings = {};
  std::vector<std::string> capabilities = {};
  std::vector<int> cpu_day = {};
};

// A unit that a host has or had, of any problem: GET /v1/admin/hosts/ID/units, the newest first.
struct UnitInfo {
  UnitId id;
  ProblemId problem;
  std::string problem_name;
  int stage = 0;
  int slot = 0;
  std::string kind;
  std::string state;
  Range range;
  std::int64_t delivered = 0;
  double running_seconds = 0;
  Timestamp issued;
  Timestamp closed;
  std::string reason;
};

struct ServerStatus {
  std::string project;
  std::string name;
  std::string server_version;
  std::string join_code;
  Timestamp started_at;
  Timestamp now;
  std::int64_t hosts = 0;
  std::int64_t hosts_active = 0;
  std::int64_t problems_open = 0;
  std::int64_t open_units = 0;
  Timestamp work_certificate_expires;
  std::vector<std::string> warnings;
  std::optional<std::string> stored = std::nullopt;
  std::int64_t hosts_on_hold = 0;
};

// POST /v1/admin/problems/ID/strategy: other rules for a running problem. Empty or absent: as it is.
struct ChangeStrategy {
  std::string strategy = {};
  std::string straggler = {};
  std::optional<double> weight = {};
  std::optional<int> priority = {};
};

// POST /v1/admin/problems/ID/application: a mended version of the problem's application computes the rest.
// Its manifest must name the present version in `compatible_with`.
struct ChangeApplication {
  std::string application;
};

// POST /v1/admin/problems/ID/append: inputs that are uploaded already. `table.csv` continues the problem's.
struct AppendInputs {
  std::vector<Input> inputs;
};

// What may be named as a strategy or as a rule for stragglers: GET /v1/admin/strategies.
struct StrategyInfo {
  std::string name;
  std::string kind;
  std::string summary;
  std::string source;
  std::vector<std::string> options;
};

// One decision with its reason, newest first: GET /v1/admin/problems/ID/decisions.
struct DecisionInfo {
  Timestamp at;
  HostId host;
  UnitId unit;
  std::string kind;
  Range range;
  std::string reason;
};

}  // namespace gleaner::protocol
