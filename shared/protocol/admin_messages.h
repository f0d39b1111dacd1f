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
  std::string type;  // integer | number | boolean | text | choice | json: any value
  std::string meaning;
  std::string default_value;  // JSON text; empty: none, or the application decides
  bool required = false;
  std::optional<double> low, high;
  std::int64_t length = 0;  // of a text, bytes at most; 0: no bound
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
  std::string archive;  // digest
  std::int64_t archive_bytes = 0;
  std::vector<std::string> platforms;
  std::string signer;  // name in the signer's certificate
  Timestamp added_at;
  // Of one application only, not in lists. Empty: it declares none, and takes what its manager takes.
  std::vector<ParameterInfo> parameters = {};
  std::vector<InputInfo> inputs = {};
  Timestamp signer_expires = {};  // of the signer's certificate
};

// POST /v1/admin/applications; the archive was uploaded before.
struct AddApplication {
  SignedStatement application;  // ApplicationStatement
  SignedStatement signer;       // KeyCertificate, by the root key
};

struct AddProblem {
  std::string application;  // name, or name@version; the newest version without one
  std::string name;
  std::string parameters;     // JSON text
  std::vector<Input> inputs;  // uploaded before
  std::string strategy;       // NAME[,key=value...]; empty: as the server's settings say
  // split | duplicate-once | none | deadline | late | spark | wqr | rdlb; empty: as the server's settings say
  std::string straggler;
  double weight = 1;
  int priority = 0;
  std::int64_t commit_seconds = 0;  // 0: the project's
  // none | checks | spot:P | quorum:N | adaptive; empty: as the application's own checks ask for
  std::string validation = {};
};

// Answer to POST /v1/admin/estimates, of an AddProblem: what it would cost and when it would be done. Nothing
// of it stays. Negative seconds: not known.
struct ProblemEstimate {
  std::string application;       // name@version
  std::int64_t items = 0;        // of the first stage
  double cost = 0;               // hint units, of all stages as far as the application says
  std::int64_t hosts = 0;        // online
  std::int64_t cores = 0;        // of these
  double share = 1;              // of the cores' time that it would have now; 0: others go first
  std::int64_t tried = 0;        // earlier problems of the application that tell how long a hint unit takes
  bool same_parameters = false;  // these had the same parameters and inputs
  double core_seconds = -1, core_low_seconds = -1, core_high_seconds = -1;  // of work
  double eta_seconds = -1, eta_low_seconds = -1, eta_high_seconds = -1;     // from its start
  std::string waits;  // why no end can be told; empty: one is
};

enum class ProblemState : int {
  planning = 1,  // the manager says what the stage is
  running = 2,
  paused = 3,
  combining = 4,
  finished = 5,
  cancelled = 6,
  failed = 7,  // `message` says why
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
  std::int64_t items = 0;     // of this stage
  std::int64_t accepted = 0;  // that it was made from
  std::vector<ResultFile> files;
};

struct HostShare {
  HostId host;
  std::string name;
  std::int64_t requests = 0;  // grants asked for and given
  std::int64_t units = 0;
  std::int64_t items = 0;           // accepted
  double cost = 0;                  // accepted hint units
  double wasted_cost = 0;           // computed and committed, but not needed
  double rate = 0;                  // hint units per second, all slots of the host together, as measured
  double busy_seconds = 0;          // slot-seconds between a unit's grant and its end
  std::int64_t splits = 0;          // its units that were cut
  std::int64_t duplicates = 0;      // copies given to it
  double last_contact_seconds = 0;  // ago
};

struct SetAside {
  UnitId unit;
  Range range;
  std::string message;
};

// Failures with the same last words, of one problem: GET /v1/admin/errors has those of all.
struct ErrorGroup {
  ProblemId problem;
  std::string problem_name;
  std::string application;
  std::string kind;
  std::string words;    // the last line of what was said: the sentence that says what was wrong
  std::string message;  // all of it
  std::int64_t times = 0;
  std::int64_t hosts = 0;
  Timestamp first_at;
  Timestamp last_at;
};

struct ProblemInfo {
  ProblemId id;
  std::string name;
  std::string application;  // name@version
  ProblemState state = ProblemState::planning;
  std::string message;
  std::string strategy;
  std::string straggler;
  double weight = 1;
  int priority = 0;
  std::string validation;
  int stage = 0;
  std::string stage_name;
  std::int64_t items = 0;  // of this stage
  std::int64_t accepted = 0;
  std::int64_t free = 0;
  std::int64_t handed_out = 0;
  double cost = 0;  // hint units
  double cost_accepted = 0;
  double rate = 0;                                     // hint units per second over the last minute
  double eta_seconds = -1;                             // until the whole problem is done; negative: unknown
  double eta_low_seconds = -1, eta_high_seconds = -1;  // about two times of three it lies between these
  std::string waits;                                   // what it waits for; empty: it goes on
  double done = -1;        // of the whole problem, 0 to 1, by cost; negative: the server does not tell
  std::int64_t units = 0;  // handed out so far
  std::int64_t open_units = 0;
  std::int64_t splits = 0;
  std::int64_t recovered = 0;   // ranges taken back from stalled holders
  std::int64_t duplicates = 0;  // copies given out
  double wasted_cost = 0;  // of this stage: what failed, was cancelled, refused, found wrong, or not needed
  double wasted = -1;      // that part of all computing of all stages, 0 to 1; negative: not told
  std::int64_t disagreements = 0;
  int hosts = 0;  // with an open unit
  Timestamp created_at;
  Timestamp started_at;  // first unit handed out
  Timestamp finished_at;
  double elapsed_seconds = 0;  // first unit to finish (or now)
  std::vector<HostShare>
      shares;  // of its stage; only in GET of one problem, and of many hosts those that did most
  std::int64_t shares_total = 0;  // how many hosts there are; 0: as many as shares
  std::vector<ResultFile> results;
  std::vector<SetAside> set_aside;  // ranges that failed on several hosts; then failures, which have a unit
  std::vector<ErrorGroup> errors;   // only in GET of one problem; the newest first
};

// A code with which hosts join: GET /v1/admin/codes, GET /v1/admin/codes/NAME.
struct CodeInfo {
  std::string name;
  std::string state;              // valid | full | expired | withdrawn
  std::int64_t hosts = 0;         // that joined with it
  std::int64_t hosts_max = 0;     // that may; 0: any number
  std::optional<bool> own = {};   // its hosts are the project's own; absent: strangers
  std::vector<std::string> tags;  // of its hosts
  Timestamp made_at;
  Timestamp expires_at;                       // 0: never
  Timestamp withdrawn_at;                     // 0: it is not
  std::optional<std::int64_t> children = {};  // it admits a relay: how many hosts may be under that
};

// POST /v1/admin/codes.
struct AddCode {
  std::string name;                   // letters, digits, ".", "_" and "-"
  std::int64_t hosts_max = 0;         // 0: any number
  std::int64_t lifetime_seconds = 0;  // 0: for ever
  std::optional<bool> own = {};       // its hosts are the project's own; absent: strangers
  std::vector<std::string> tags = {};
};

// Answer to it, and to POST /v1/admin/codes/NAME/rotate. The server keeps no secret: it is told this once.
struct MadeCode {
  CodeInfo code;
  std::string join_code;
};

// POST /v1/admin/codes/NAME/withdraw: nobody joins with it any more.
struct WithdrawCode {
  bool with_hosts = false;  // those that did are put out, too; they may return with another code
};

// POST /v1/admin/hosts/ID/revoke.
struct RevokeHost {
  bool may_return = false;  // its key may join again
};

// POST /v1/admin/hosts/ID/hold: it gets no new unit until POST /v1/admin/hosts/ID/release. What it has goes
// on.
struct HoldHost {
  std::string reason;  // its owner is told; empty: none
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
  std::optional<HostSpeeds> speeds;  // absent: none known
  std::int64_t items_accepted = 0;
  double cost_accepted = 0;
  std::int64_t failures = 0;
  std::int64_t disagreements = 0;
  Timestamp enrolled_at;
  Timestamp last_contact;
  int open_units = 0;
  std::string state_reason;  // last reason it gave for not computing, or why it is backed off
  std::string code = {};     // that it joined with; empty: of a server of before
  std::vector<std::string> tags = {};
  std::string on_hold = {};  // why it gets no new unit until it is released; empty: it does
  double trust = -1;         // that a result of it is right, where it is believed least; negative: not told
  std::optional<HostId> relay = {};    // under which it is; absent: it speaks to the project itself
  std::optional<ItemBytes> item = {};  // of a relay, as it said last; absent: it has not since the start
};

// A unit that a host has or had, of any problem: GET /v1/admin/hosts/ID/units, the newest first.
struct UnitInfo {
  UnitId id;
  ProblemId problem;
  std::string problem_name;
  int stage = 0;
  int slot = 0;
  std::string kind;            // fresh, recover, split, copy, check
  std::string state;           // open, done, cancelled, failed, expired
  Range range;                 // as it is now: it may have been cut
  std::int64_t delivered = 0;  // of its items, from the first on
  double running_seconds = 0;  // that its kernel ran, as the host reported
  Timestamp issued;
  Timestamp closed;    // 0: it is open
  std::string reason;  // why it was handed out with this size
};

struct ServerStatus {
  std::string project;
  std::string name;
  std::string server_version;
  std::string join_code;  // of the code "default"; empty: it was rotated or withdrawn
  Timestamp started_at;
  Timestamp now;
  std::int64_t hosts = 0;
  std::int64_t hosts_active = 0;  // heard of in the last 5 minutes
  std::int64_t problems_open = 0;
  std::int64_t open_units = 0;
  Timestamp work_certificate_expires;
  std::vector<std::string> warnings;                 // what an administrator should do something about
  std::optional<std::string> stored = std::nullopt;  // how far stored files are read again, in a sentence
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
  std::string application;  // name@version
};

// What may be named as a strategy or as a rule for stragglers: GET /v1/admin/strategies.
struct StrategyInfo {
  std::string name;
  std::string kind;  // sizing | mapping | straggler
  std::string summary;
  std::string source;
  std::vector<std::string> options;
};

// One decision with its reason, newest first: GET /v1/admin/problems/ID/decisions.
struct DecisionInfo {
  Timestamp at;
  HostId host;
  UnitId unit;
  std::string kind;  // fresh, recover, split, copy, flood, check, trim, cancel, expire, set-aside, ...
  Range range;
  std::string reason;
};

}  // namespace gleaner::protocol
