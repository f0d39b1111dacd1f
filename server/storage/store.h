// Everything the server must not forget, behind one interface. There is no SQL outside this module and no
// decision inside it: the service says what to write, the store makes it durable.
//
// Use: begin(); any writes and reads; commit(). What commit() has returned success for survives a power cut:
// in SQLite's file, or in PostgreSQL (open_store.h). Many use cases share one transaction (group commit);
// after a failed write the whole transaction is rolled back by the caller. Reads see the transaction's own
// writes. One thread at a time.
//
// A database may tell only later, at the latest by commit(), that a row refers to what is not there or that
// its key is taken; then nothing of the transaction is kept. What is added by add_host(), add_application()
// and add_problem() is told at once by every engine, and leaves the transaction as it was.
//
// Errors: io (disk full or failing: nothing of the transaction is kept), conflict (a unique name is taken),
// not_found, invalid (the store is damaged or of a newer schema: the message says what to do), unavailable
// (of a database: this server leads no longer, or nobody knows whether a commit was made;
// StoreOptions::lost).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/policy/host_health.h"
#include "server/policy/stage/stage.h"
#include "server/policy/trust/reputation.h"
#include "server/storage/generation_note.h"
#include "server/storage/relay_rows.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/range_set.h"
#include "shared/base/result.h"
#include "shared/io/files.h"
#include "shared/protocol/access_messages.h"
#include "shared/protocol/admin_messages.h"

namespace gleaner::storage {

struct HostRow {
  HostId id;  // 0 when adding
  std::string name;
  Bytes public_key;  // 32 bytes, unique together with machine
  std::string machine;
  Bytes token_digest;  // SHA-256 of the bearer token; unique
  std::string platform;
  int cores = 1;
  std::int64_t memory_bytes = 0;
  std::string client_version;
  double mflops = 0;
  Timestamp benchmark_at;
  protocol::HostSpeeds speeds;
  protocol::HostState state = protocol::HostState::active;
  std::string state_reason;
  policy::HostHealth health;
  Timestamp enrolled_at;
  Timestamp last_contact;  // written at most once a minute
  std::int64_t items_accepted = 0;
  double cost_accepted = 0;
  std::int64_t disagreements = 0;
  bool own = false;              // one of the project's own (policy/trust)
  std::string code = "default";  // that it joined with
  std::vector<std::string> tags;
  std::string network;  // from which: an IPv4 address or an IPv6 /64; empty: not known
  std::string on_hold;  // why it gets no new unit until an administrator releases it; empty: it does
  HostId relay;         // under which it is, with a token of nobody's; 0: it speaks to the project itself
  Timestamp proved_at;  // of the nonce with which it joined last, by the server's clock; 0: not known
  Timestamp
      failed_at;  // when it said last, through a relay, that a kernel failed, by its own clock; 0: not yet
  std::int64_t children = 0;  // how many hosts may be under it; 0: it is no relay
  std::string tls_key;        // of a relay: the digest of its TLS key; empty: it is none
};

// What hosts join with. Of its secret only the digest is kept.
struct CodeRow {
  std::string name;            // unique
  Bytes secret_digest;         // SHA-256
  std::int64_t hosts_max = 0;  // 0: any number
  bool own = false;            // its hosts are the project's own; else strangers
  std::vector<std::string> tags;
  Timestamp made_at;
  Timestamp expires_at;       // 0: never
  Timestamp withdrawn_at;     // 0: it is not
  std::int64_t children = 0;  // 0: it admits hosts; else a relay, and so many hosts under that
  std::string made_by = {};   // the admin token whose holder was told its secret; empty: `init`, or unknown
};

// With what an administrator shows who it is; only the digest is kept.
struct TokenRow {
  std::string name;  // unique
  Bytes digest;      // SHA-256
  protocol::Role role = protocol::Role::view;
  Timestamp made_at;
  Timestamp expires_at;      // 0: never
  Timestamp withdrawn_at;    // 0: it is not
  std::string made_by = {};  // the admin token that made it; empty: `init`, or unknown
};

// What a host's results with an application proved to be worth.
struct StandingRow {
  HostId host;
  ApplicationId application;
  policy::Standing standing;
};

struct ApplicationRow {
  ApplicationId id;
  std::string name;
  std::string version;  // unique with name
  std::string archive;  // blob digest
  std::int64_t archive_bytes = 0;
  std::string title;
  std::vector<std::string> platforms;
  protocol::SignedStatement statement;
  protocol::SignedStatement signer;
  Timestamp added_at;
};

struct ProblemRow {
  ProblemId id;
  std::string name;  // unique
  ApplicationId application;
  std::string parameters;  // JSON
  std::vector<protocol::Input> inputs;
  protocol::ProblemState state = protocol::ProblemState::planning;
  protocol::ProblemState resume_to = protocol::ProblemState::running;  // where `resume` leads from `paused`
  std::string message;
  std::string strategy;
  policy::Straggler straggler = policy::Straggler::split;
  double weight = 1;
  int priority = 0;
  double service = 0;  // fair sharing
  std::int64_t commit_seconds = 60;
  int stage = 0;  // the present one
  Timestamp created_at;
  Timestamp started_at;
  Timestamp finished_at;
  std::string validation = "checks";  // policy/trust/validation.h
};

struct StageRow {
  ProblemId problem;
  int stage = 0;
  std::string name;
  std::int64_t items = 0;
  std::vector<protocol::Input> inputs;  // of this stage, besides the problem's own
  std::vector<double> costs;            // hints; empty: all 1
  std::vector<Range> set_aside;
  bool enough = false;
  Timestamp started_at;
  Timestamp finished_at;
  // Totals that outlive the units
  std::int64_t units = 0, splits = 0, recovered = 0, copies = 0, disputes = 0;
  double cost_wasted = 0;
  double cost_ahead =
      0;  // of the stages after it, in its hint units, as its manager said; 0: it said nothing
  double done_before = 0;  // of the whole problem, when it began (policy/outlook)
};

// Where a segment's bytes are: a small one's in the store itself, durable with the row by the same sync; a
// large one's in the blob of its digest; what a relay has passed on, with its parent.
enum class SegmentPlace : int { blob = 1, store = 2, parent = 3 };

struct SegmentRow {
  SegmentId id;
  ProblemId problem;
  int stage = 0;
  UnitId unit;
  HostId host;
  Range range;
  std::string digest;  // SHA-256 of its bytes
  std::int64_t bytes = 0;
  Timestamp received_at;
  double compute_seconds = 0;
  SegmentPlace place = SegmentPlace::blob;
  // When it was delivered, as its acknowledgement says; negative: the acknowledgement has a row of its own.
  std::int64_t items_accepted = 0;
};

// Items whose accepted result is in `segment`. The ranges of a stage never overlap.
struct AcceptedRow {
  Range range;
  SegmentId segment;
};

// The same with all that is known of the segment.
struct AcceptedSegment {
  Range range;
  SegmentRow segment;
};

struct VerdictRow {
  ProblemId problem;
  int stage = 0;
  Range range;
  SegmentId first, second;
  bool agree = true;
  HostId wrong_host;  // 0: none or not decided
  std::string note;
  Timestamp at;
};

// What was contributed on a day, UTC.
struct DayRow {
  static constexpr std::int64_t kept_max = 3'660;
  std::int64_t day = 0;  // since 1970
  double core_seconds = 0;
  double joules = 0;
  std::int64_t items = 0;
};

struct FailureRow {
  UnitId unit;
  HostId host;
  ProblemId problem;
  int stage = 0;
  protocol::FailureKind kind = protocol::FailureKind::kernel_error;
  std::int64_t item = 0;
  std::string message;
  Timestamp at;
  std::string application = {};  // name@version that failed; empty: of a store before schema 21
};

// What an acknowledgement said, so that the same commit sent twice is answered twice alike: a segment's, also
// when it is there no more.
struct AcknowledgementRow {
  UnitId unit;
  HostId host;
  Range range;
  std::string digest;
  std::int64_t items_accepted = 0;
  Timestamp at;
};

struct DecisionRow {
  ProblemId problem;
  int stage = 0;
  policy::Decision decision;
};

class Store {
 public:
  virtual ~Store() = default;

  // Waits for the check that opening began, if any; invalid: the store is damaged. Nothing is committed
  // before.
  [[nodiscard]] virtual Status checked() = 0;
  [[nodiscard]] virtual Status begin() = 0;
  [[nodiscard]] virtual Status commit() = 0;
  virtual void rollback() = 0;
  // What is durable by now, but for the time: see generation_note.h. From any thread.
  [[nodiscard]] virtual GenerationNote generation() const = 0;

  // What its rows take of a disk. From any thread.
  [[nodiscard]] virtual Result<std::int64_t> disk_bytes() = 0;

  // Small named values (project id, created at ...).
  [[nodiscard]] virtual Result<std::optional<std::string>> get_value(const std::string& name) = 0;
  [[nodiscard]] virtual Status set_value(const std::string& name, const std::string& value) = 0;

  // The next ids, monotonic over the store's whole life. Reserved in blocks: unused ones are never given
  // again.
  [[nodiscard]] virtual Result<UnitId> next_unit() = 0;
  // No number below this is given from now on.
  [[nodiscard]] virtual Status start_units(UnitId first) = 0;

  // Under its own number, if it has one: a relay is told it by its project.
  [[nodiscard]] virtual Result<HostId> add_host(const HostRow& row) = 0;
  // All but what it is known by (public key, machine, token), which renew_host() replaces, too.
  [[nodiscard]] virtual Status update_host(const HostRow& row) = 0;
  [[nodiscard]] virtual Status renew_host(const HostRow& row) = 0;
  // Tells all, in order. `visit` must not use the store.
  [[nodiscard]] virtual Status visit_hosts(const std::function<void(HostRow&&)>& visit) = 0;
  [[nodiscard]] Result<std::vector<HostRow>> hosts() {
    std::vector<HostRow> all;
    TRY(visit_hosts([&all](HostRow&& row) { all.push_back(std::move(row)); }));
    return all;
  }

  [[nodiscard]] virtual Status put_code(const CodeRow& row) = 0;  // adds or replaces
  [[nodiscard]] virtual Result<std::vector<CodeRow>> codes() = 0;

  [[nodiscard]] virtual Status put_token(const TokenRow& row) = 0;  // adds or replaces
  [[nodiscard]] virtual Result<std::vector<TokenRow>> tokens() = 0;

  // The audit log. Acts are added one after the other and leave only from the start.
  [[nodiscard]] virtual Status add_act(const protocol::Act& act) = 0;
  [[nodiscard]] virtual Result<std::vector<protocol::Act>> acts(std::int64_t after,
                                                                int count_max) = 0;  // in order
  [[nodiscard]] virtual Status drop_acts(std::int64_t last) = 0;                     // it and all before
  [[nodiscard]] virtual Status add_refusals(const protocol::RefusalCount& more) = 0;
  [[nodiscard]] virtual Result<std::vector<protocol::RefusalCount>> refusals() = 0;  // the latest first

  [[nodiscard]] virtual Status put_ban(const protocol::Ban& ban) = 0;  // adds or replaces
  [[nodiscard]] virtual Status drop_ban(protocol::BanKind kind, const std::string& subject) = 0;
  [[nodiscard]] virtual Result<std::vector<protocol::Ban>> bans() = 0;

  // More of that day. Days long ago are dropped (DayRow::kept_max).
  [[nodiscard]] virtual Status add_to_day(const DayRow& more) = 0;
  [[nodiscard]] virtual Result<std::vector<DayRow>> days(int count_max) = 0;  // the newest, oldest first

  [[nodiscard]] virtual Status put_standing(HostId host, ApplicationId application,
                                            const policy::Standing& standing) = 0;
  [[nodiscard]] virtual Result<std::vector<StandingRow>> standings() = 0;

  [[nodiscard]] virtual Result<ApplicationId> add_application(const ApplicationRow& row) = 0;
  [[nodiscard]] virtual Result<std::vector<ApplicationRow>> applications() = 0;

  // The number of a problem that is added without one.
  [[nodiscard]] virtual Result<ProblemId> next_problem() = 0;
  // With the row's number, if it has one (nobody else may have it).
  [[nodiscard]] virtual Result<ProblemId> add_problem(const ProblemRow& row) = 0;
  [[nodiscard]] virtual Status update_problem(const ProblemRow& row) = 0;
  [[nodiscard]] virtual Result<std::vector<ProblemRow>> problems() = 0;
  // Everything of the problem but its blobs.
  [[nodiscard]] virtual Status delete_problem(ProblemId id) = 0;

  [[nodiscard]] virtual Status put_stage(const StageRow& row) = 0;  // adds or replaces
  [[nodiscard]] virtual Result<std::optional<StageRow>> stage(ProblemId problem, int stage) = 0;

  [[nodiscard]] virtual Status put_unit(ProblemId problem, int stage, const policy::Unit& unit) = 0;
  [[nodiscard]] virtual Result<std::vector<policy::Unit>> open_units(ProblemId problem, int stage) = 0;
  struct UnitPlace {
    ProblemId problem;
    int stage = 0;
    policy::Unit unit;
  };
  [[nodiscard]] virtual Result<std::optional<UnitPlace>> unit(UnitId id) = 0;  // open or closed
  // The host's last units, open and closed, the newest first.
  [[nodiscard]] virtual Result<std::vector<UnitPlace>> host_units(HostId host, int count_max) = 0;

  [[nodiscard]] virtual Status put_host_record(ProblemId problem, int stage,
                                               const policy::HostRecord& record) = 0;
  [[nodiscard]] virtual Result<std::vector<policy::HostRecord>> host_records(ProblemId problem,
                                                                             int stage) = 0;

  // `bytes`: what is kept of it here (SegmentPlace::store); empty if its blob has them.
  [[nodiscard]] virtual Result<SegmentId> add_segment(const SegmentRow& row, std::string_view bytes) = 0;
  // The bytes of a segment that are kept here, as of the last commit; not_found. Nobody has compared them
  // with their digest. From any thread.
  [[nodiscard]] virtual Result<Bytes> segment_bytes(SegmentId id) = 0;
  // The first `count_max` segments after `after` whose bytes are kept here, by their ids, as of the last
  // commit. From any thread.
  [[nodiscard]] virtual Result<std::vector<SegmentRow>> kept_segments(SegmentId after, int count_max) = 0;
  // Marks the items of `range` as accepted from `segment`; replaces what was accepted for them before.
  [[nodiscard]] virtual Status accept(ProblemId problem, int stage, Range range, SegmentId segment) = 0;
  // The same without looking. REQUIRES: nothing is accepted for them.
  [[nodiscard]] virtual Status accept_free(ProblemId problem, int stage, Range range, SegmentId segment) = 0;
  [[nodiscard]] virtual Status unaccept(ProblemId problem, int stage, Range range) = 0;
  // Nothing of it is accepted, and it is not to be compared any more.
  [[nodiscard]] virtual Status drop_segment(SegmentId segment) = 0;
  [[nodiscard]] virtual Result<std::vector<AcceptedRow>> accepted(ProblemId problem,
                                                                  int stage) = 0;  // in order
  // invalid: an accepted segment is not there.
  [[nodiscard]] virtual Result<std::vector<AcceptedSegment>> accepted_segments(ProblemId problem,
                                                                               int stage) = 0;  // in order
  // All segments of the stage that overlap `range`, oldest first.
  [[nodiscard]] virtual Result<std::vector<SegmentRow>> segments_over(ProblemId problem, int stage,
                                                                      Range range) = 0;

  // Items in all segments of the stage together: more than are accepted where hosts overlap.
  [[nodiscard]] virtual Result<std::int64_t> delivered_items(ProblemId problem, int stage) = 0;

  [[nodiscard]] virtual Status add_verdict(const VerdictRow& row) = 0;
  [[nodiscard]] virtual Result<std::vector<VerdictRow>> verdicts(ProblemId problem) = 0;
  [[nodiscard]] virtual Status add_failure(const FailureRow& row) = 0;
  [[nodiscard]] virtual Result<std::vector<FailureRow>> failures(
      ProblemId problem) = 0;  // newest 1,000 first

  [[nodiscard]] virtual Result<std::optional<AcknowledgementRow>> acknowledgement(
      UnitId unit, HostId host, Range range, const std::string& digest) = 0;

  // ---- A relay's (relay_rows.h)
  [[nodiscard]] virtual Status put_lease(const LeaseRow& row) = 0;  // adds or replaces
  [[nodiscard]] virtual Result<std::vector<LeaseRow>> leases() = 0;
  [[nodiscard]] virtual Status put_delivery(const DeliveryRow& row) = 0;  // adds or replaces
  // Those that the project has not answered, or has after that; in the order of their segments.
  [[nodiscard]] virtual Result<std::vector<DeliveryRow>> deliveries(Timestamp answered_after) = 0;
  [[nodiscard]] virtual Result<std::optional<DeliveryRow>> delivery(UnitId unit, HostId host, Range range,
                                                                    const std::string& digest) = 0;
  // Its bytes are with the parent, and not here any more.
  [[nodiscard]] virtual Status pass_segment(SegmentId segment) = 0;

  [[nodiscard]] virtual Status add_decision(const DecisionRow& row) = 0;
  [[nodiscard]] virtual Result<std::vector<DecisionRow>> decisions(ProblemId problem,
                                                                   int count_max) = 0;  // newest first

  [[nodiscard]] virtual Status put_results(ProblemId problem,
                                           const std::vector<protocol::ResultFile>& files) = 0;
  [[nodiscard]] virtual Result<std::vector<protocol::ResultFile>> results(ProblemId problem) = 0;

  // Digests of blobs that some row still refers to (archives, inputs, segments, results): all others may be
  // deleted.
  [[nodiscard]] virtual Result<std::vector<std::string>> referenced_blobs() = 0;
};

// Opens or creates DIRECTORY/store.sqlite; migrates older schemas forward. A damaged or newer file is refused
// with a message that says what to do. `quick_check` reads the whole file once, `beside` does it while it is
// read already (Store::checked(); before, if it is to be migrated). A store that is behind its
// note (generation_note.h) is refused, too, unless what it lost is accepted: then it goes on from what it
// has.
enum class OpenCheck { none, quick_check, beside };
enum class Loss { refused, accepted };
[[nodiscard]] Result<std::unique_ptr<Store>> open_sqlite_store(const io::Path& directory, OpenCheck check,
                                                               Loss loss = Loss::refused);

}  // namespace gleaner::storage
