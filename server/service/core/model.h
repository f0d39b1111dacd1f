// What the server knows, in memory: rebuilt from the store at start and after a failed transaction, changed
// only on the writer thread, together with the store.
#pragma once

#include <boost/container/flat_set.hpp>
#include <boost/container/small_vector.hpp>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server/policy/instances.h"
#include "server/policy/outlook/outlook.h"
#include "server/policy/project/project.h"
#include "server/service/core/contribution.h"
#include "server/service/core/decision_log.h"
#include "server/service/core/host_day.h"
#include "server/service/core/host_index.h"
#include "server/service/core/live_outputs.h"
#include "server/service/core/manager_setup.h"
#include "server/service/core/origin.h"
#include "server/service/core/saved_items.h"
#include "server/service/core/settings.h"
#include "server/storage/store.h"
#include "shared/base/id_table.h"
#include "shared/base/result.h"
#include "shared/bundle/manifest.h"
#include "shared/crypto/revocations.h"
#include "shared/protocol/console_messages.h"

namespace gleaner::service {

struct Application {
  storage::ApplicationRow row;
  bundle::Manifest manifest;
  std::string signer_name;
  Timestamp signer_expires;
};

// The code that `init` made.
inline constexpr const char* default_code = "default";

// Of a problem, in memory: some screens of what `problem show` tells.
inline constexpr std::size_t recent_failures_max = 100;

// A protocol::GrantContext as text.
struct SharedContext {
  ApplicationId application;
  Bytes text;
  std::string digest;
};

struct Problem {
  storage::ProblemRow row;
  storage::StageRow stage_row;
  policy::RecordedStage* stage = nullptr;  // the dispatcher's; null while planning and when over
  bundle::Manifest manifest;               // of its application
  std::string application_name;            // name@version
  std::string parameters_digest;
  // What its grants have in common, as told to hosts that keep it: made when it is first wanted, and anew for
  // another version of the application.
  std::shared_ptr<const SharedContext> context;
  std::vector<storage::FailureRow> recent_failures;  // newest last, at most recent_failures_max
  std::int64_t disagreements = 0;                    // disputes so far
  std::int64_t accepted_at_end = 0;  // items of the last stage, of a problem that was cancelled or failed
  SavedItems saved;                  // of its stage, compressed
  bool saved_full = false;           // said in the log already
  double kept_service = 0;           // row.service as stored
  policy::Pace pace;                 // of that stage, since it or the server began
  double wasted_before = 0;          // by the stages before it, in parts of the whole problem
  RangeSet unreviewed;               // of that stage: comparing it failed and is to be tried again
  Timestamp job_at{};                // its next job is not begun before (waiting.h)
  int jobs_in_vain = 0;              // in a row, as far as that makes the wait longer
};

// Some units, mostly one or two.
using UnitSet =
    boost::container::flat_set<UnitId, std::less<UnitId>, boost::container::small_vector<UnitId, 2>>;

struct Host {
  storage::HostRow row;
  Timestamp stored_contact{};                    // last_contact as written
  UnitSet units;                                 // open ones
  int cores_offered = 0;                         // of its last request for work since the start; 0: none yet
  std::int64_t memory_offered = 0;               // likewise
  std::optional<protocol::ItemBytes> item = {};  // a relay, as it said last
  policy::Instances instances = {};              // that spoke lately
  double cpu_share = 1;                          // of each core that its owner lends, as it said last
  std::optional<protocol::Readings> readings = {};  // as it reported last
  HostDay day = {};                                 // of its reports of the processors in use
  // Of its last request for work since the start.
  std::vector<std::string> capabilities = {}, platforms = {};

  // That its owner lets it use, as far as is known.
  [[nodiscard]] int usable_cores() const {
    return cores_offered > 0 && cores_offered < row.cores ? cores_offered : row.cores;
  }
  // 0: not known.
  [[nodiscard]] std::int64_t usable_memory() const {
    return memory_offered > 0 ? memory_offered : row.memory_bytes;
  }
  // The cores as whole ones: two at 20 % are 0.4.
  [[nodiscard]] double lent_cores() const { return usable_cores() * cpu_share; }
};

// What the pool is doing. It has the transactions' semantics like everything here: a job that a failed
// transaction would have started is forgotten with it, one that it would have ended is still under way.
struct Underway {
  std::set<ProblemId> jobs;          // planning or combining
  std::map<ProblemId, int> reviews;  // comparisons of overlapping results
  std::set<ProblemId> previews;
  std::map<ProblemId, std::string> drafts;  // problems that are planned before they are stored: their names
};

// A host under this relay said it, signed. `report` names no unit of the parent's yet.
struct FailureBelow {
  ProblemId problem;
  int stage = 0;
  protocol::FailureReport report;
};
inline constexpr std::size_t failures_below_max = 256;  // more of them tell nothing new

// What gleaner-admin told of a flow (flows.h).
struct Flow {
  protocol::FlowInfo plan;
  std::set<std::string> nodes;
  std::int64_t number = 0;  // of this plan, in the order in which plans came
};

struct Model {
  IdTable<HostId, Host> hosts;
  std::map<std::string, storage::CodeRow> codes;                            // what hosts join with, by name
  std::map<std::string, storage::TokenRow> admin_tokens;                    // by name
  std::map<std::pair<protocol::BanKind, std::string>, protocol::Ban> bans;  // by kind and subject
  std::map<ApplicationId, Application> applications;
  std::map<ProblemId, Problem> problems;
  std::map<std::string, Flow> flows;  // by name
  // Of the problems' present stages; may lag on closing. Changed by open_unit() and close_unit().
  std::unordered_map<UnitId, ProblemId> open_units;
  std::map<ProblemId, int> hosts_at_work;  // that hold open units of a problem
  std::shared_ptr<DecisionLog> log;        // of all that the project decides; null: disabled
  // Who gets what, which results are believed, what failures are held against; owns the stages. After a
  // restart it knows what worked, and learns anew what fails.
  std::unique_ptr<policy::Project> project;
  std::vector<UnitId> spare_units;          // reserved, not handed out yet; ascending
  HostIndex index;                          // of `hosts`
  std::int64_t items_accepted = 0;          // of all hosts, ever
  std::int64_t failures = 0;                // that hosts reported, since the model was read
  std::deque<FailureBelow> failures_below;  // of a relay: to be passed up, the oldest first
  Contacts contacts;                        // of the active ones
  Contribution contribution;
  LiveOutputs outputs;                      // that somebody looks at
  std::string audit_key;                    // secret: which items are audited
  std::optional<Duration> calendar_offset;  // from the steady clock, at the last tick; absent: none since
  crypto::Revocations revocations;
  // Whom an administrator put out while they were under relays, by the relay directly under this server that
  // is still to say that they have left (put_out.h).
  std::map<HostId, std::set<HostId>> put_out;
  bool acts_head_known = false;            // no act was added since the ticker looked it up
  std::map<HostId, std::string> troubles;  // of relays that cannot work, as they say themselves
  // Whose identity two programs used since the start, and who of them joined as a host of its own.
  std::map<HostId, std::vector<HostId>> copied;
  Underway underway;
  std::unique_ptr<Origin> origin;
};

// The note of a verdict that opens a dispute; those that end one say otherwise.
inline constexpr const char* dispute_note = "they differ: another host is asked";
// Finished, cancelled or failed: nothing more happens to it.
[[nodiscard]] bool over(protocol::ProblemState state);
[[nodiscard]] policy::EndgameRules endgame_rules(const Configuration& configuration);
// The row's rules for the pure stage.
[[nodiscard]] policy::StageSetup stage_setup(const Problem& problem, const Settings& settings);
// The stage anew from what read_stage() found (read_ahead.h), as after a restart: accepted items stay
// accepted, open units open.
void restore_stage(policy::RestoreEvent stored, const Settings& settings, Timestamp now, Problem& problem,
                   Model& model);
// Relays that are known get leases of the stage. At a start, once the hosts are read.
void admit_relays(const Model& model, policy::RecordedStage& stage, Timestamp now);
// The project knows of the host, or that it changed. REQUIRES: the codes are read.
void tell_project(Model& model, const storage::HostRow& row);
// NAME, its newest version, or NAME@VERSION; null: it is not here.
[[nodiscard]] const Application* find_application(const Model& model, const std::string& text);
[[nodiscard]] Error no_application(const std::string& text);

// A host holds it from now on, or no more: the unit's, the host's and the problem's part of that.
void open_unit(Model& model, UnitId unit, HostId host, ProblemId problem);
void close_unit(Model& model, UnitId unit, HostId host);
[[nodiscard]] ManagerSetup manager_setup(const Model& model, const Problem& problem);
// Stores what a stage changed, in the writer's transaction.
[[nodiscard]] Status store_changes(storage::Store& store, Model& model, Problem& problem,
                                   const policy::Changes& changes);

}  // namespace gleaner::service
