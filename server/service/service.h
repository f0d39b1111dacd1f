// The server's use cases: what the HTTP layer decodes into and encodes out of. Every call returns at once;
// `done` is called exactly once, on a thread of the pool, when the answer would survive a power cut. Errors
// are values with the ErrorKinds that shared/base/result.h explains.
//
// Threads: the writer thread owns the model and the store (writer.h); the pool checks results, talks to
// managers and signs. One use case a file: enrol, work, commit, reports, uploads, applications, problems,
// preview, hosts, status, lifecycle.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "server/policy/verdict.h"
#include "server/service/managers.h"
#include "server/service/model.h"
#include "server/service/pool.h"
#include "server/service/project_directory.h"
#include "server/service/writer.h"
#include "server/storage/blob_store.h"
#include "server/storage/store.h"
#include "shared/base/clock.h"
#include "shared/protocol/admin_messages.h"
#include "shared/protocol/messages.h"

namespace gleaner::service {

template <typename T>
using Done = std::function<void(Result<T>)>;
using StatusDone = std::function<void(Status)>;

struct Dependencies {
  io::Files& files;
  io::ProcessRunner& processes;
  Clock& clock;
};

// What may be named as a strategy of a problem or as its rule for stragglers.
[[nodiscard]] std::vector<protocol::StrategyInfo> strategies();

class Service {
 public:
  // Opens the store, reads everything, starts the threads and resumes what was under way.
  [[nodiscard]] static Result<std::unique_ptr<Service>> open(const ProjectDirectory& directory,
                                                             const Configuration& configuration,
                                                             ProjectSecrets secrets,
                                                             Dependencies dependencies);
  ~Service();  // stop()
  // Finishes what was taken: nothing acknowledged later, nothing received is dropped silently.
  void stop();
  void set_listening_port(int port) { port_ = port; }

  // Who is it? Thread-safe, from memory.
  [[nodiscard]] Result<HostId> authenticate_host(const std::string& token) const;
  [[nodiscard]] bool authenticate_admin(const std::string& token) const;

  // For clients
  [[nodiscard]] protocol::SignedStatement project();
  void enrol(protocol::EnrolRequest request, Done<protocol::EnrolReply> done);
  void work(HostId host, protocol::WorkRequest request, Done<protocol::WorkReply> done);
  void heartbeat(HostId host, protocol::HeartbeatRequest request, Done<protocol::HeartbeatReply> done);
  void commit(HostId host, protocol::CommitRequest request, Done<protocol::SignedStatement> done);
  void failure(HostId host, protocol::FailureReport report, StatusDone done);
  void leave(HostId host, StatusDone done);

  // Blobs. `bytes` of an upload are raw or, if `compressed`, one zlib stream.
  struct UploadChunk {
    std::string digest;
    std::int64_t offset = 0;
    std::int64_t length = 0;  // of the whole blob
    Bytes bytes;
    bool compressed = false;
    std::int64_t bytes_max = 0;  // what this caller may upload
  };
  void upload(UploadChunk chunk, Done<protocol::UploadState> done);
  [[nodiscard]] Result<protocol::UploadState> upload_state(const std::string& digest) const;
  [[nodiscard]] storage::BlobStore& blobs() { return blobs_; }

  // For administrators
  void status(Done<protocol::ServerStatus> done);
  void add_application(protocol::AddApplication request, Done<protocol::ApplicationInfo> done);
  void applications(Done<std::vector<protocol::ApplicationInfo>> done);
  void add_problem(protocol::AddProblem request, Done<protocol::ProblemInfo> done);
  void problems(Done<std::vector<protocol::ProblemInfo>> done);
  void problem(ProblemId id, Done<protocol::ProblemInfo> done);
  enum class ProblemAction { pause, resume, cancel };
  void change_problem(ProblemId id, ProblemAction action, Done<protocol::ProblemInfo> done);
  void delete_problem(ProblemId id, StatusDone done);
  void change_strategy(ProblemId id, protocol::ChangeStrategy request, Done<protocol::ProblemInfo> done);
  // What the items in hand look like; its files are among the blobs for a day. conflict: there is nothing to
  // see, and why.
  void preview(ProblemId id, Done<protocol::Preview> done);
  void decisions(ProblemId id, int count, Done<std::vector<protocol::DecisionInfo>> done);
  void hosts(Done<std::vector<protocol::HostInfo>> done);
  void host(HostId id, Done<protocol::HostInfo> done);
  void revoke_host(HostId id, Done<protocol::HostInfo> done);

 private:
  Service(const ProjectDirectory& directory, const Configuration& configuration, ProjectSecrets secrets,
          Dependencies dependencies, std::unique_ptr<storage::Store> store);
  Status start();

  // Runs `decide` on the writer thread in a transaction, then `done` on the pool with what it left in the
  // value.
  template <typename T>
  void decide(std::function<Status(Result<T>&)> operation, Done<T> done);
  // On the writer thread, nobody waits; failures are logged by the writer.
  void decide_later(std::function<Status()> operation);
  void on_pool(std::function<void()> job);
  [[nodiscard]] Timestamp now() const { return dependencies_.clock.now(); }

  // commit.cpp: a commit whose bytes were checked and stored.
  struct PreparedCommit {
    protocol::CommitRequest request;
    std::optional<protocol::Acknowledgement> answer;  // given before: this is a repeat
    std::string refusal;                              // not empty: refuse it, and why
    bool blame = false;                               // the refusal is the host's fault
    ProblemId problem;
    int stage = 0;
    bool enough = false;  // the manager needs no further items
  };
  // What the pool needs to know of a unit, copied from the model.
  struct CommitPlace {
    PreparedCommit prepared;
    std::int64_t item_bytes_max = 0;
    ManagerSetup manager;
  };
  [[nodiscard]] Result<CommitPlace> find_place(HostId host, protocol::CommitRequest request);
  void prepare_commits(HostId host, std::vector<protocol::CommitRequest> requests,
                       std::function<void(Result<std::vector<PreparedCommit>>)> then);
  [[nodiscard]] Result<PreparedCommit> check_commit(CommitPlace place);
  [[nodiscard]] Result<Bytes> segment_bytes(const protocol::CommitRequest& request) const;
  Status apply_commit(HostId host, const PreparedCommit& prepared,
                      protocol::Acknowledgement& acknowledgement);
  Status record_commit(Host& host, Problem& problem, const PreparedCommit& prepared,
                       const policy::CommitOutcome& outcome, protocol::Acknowledgement& acknowledgement);
  [[nodiscard]] protocol::SignedStatement sign(const protocol::Acknowledgement& acknowledgement) const;

  // review.cpp: items that several hosts delivered are compared; a third host decides.
  struct ReviewJob {
    ProblemId problem;
    int stage = 0;
    Range range;
    bundle::Comparison comparison = bundle::Comparison::exact;
    ManagerSetup manager;
    std::int64_t item_bytes_max = 0;
    std::vector<storage::SegmentRow> segments;  // all that overlap the range, oldest first
    // Whose opinion an item in a segment is, if not that of its host: who began it stands for it.
    std::map<std::pair<SegmentId, std::int64_t>, HostId> begun_by;
  };
  struct ReviewFinding {
    Range range;  // consecutive items with the same verdict
    policy::Verdict verdict;
    std::vector<policy::Opinion> opinions;
  };
  Status start_review(Problem& problem, const std::vector<Range>& ranges);
  Status note_begun_items(ReviewJob& job);
  Status resume_reviews(Problem& problem);
  [[nodiscard]] Result<std::vector<ReviewFinding>> compare(const ReviewJob& job);
  Status settle_review(const ReviewJob& job, const Result<std::vector<ReviewFinding>>& findings);
  Status settle_finding(Problem& problem, const ReviewFinding& finding);

  // work.cpp, reports.cpp
  struct WorkOutcome {
    protocol::WorkReply reply;
    std::vector<protocol::Acknowledgement> acknowledgements;
    std::vector<protocol::Grant> grants;
  };
  Status decide_work(HostId host, const protocol::WorkRequest& request,
                     const std::vector<PreparedCommit>& commits, Result<WorkOutcome>& outcome);
  Status touch_host(Host& host);
  Status take_reports(HostId host, const std::vector<protocol::UnitReport>& reports,
                      std::vector<protocol::UnitOrder>& orders);
  void keep_saved(const Host& host, std::vector<protocol::SavedItem>& saved);
  [[nodiscard]] double heartbeat_interval(const Host& host) const;
  Status give_back_unknown(Host& host, const protocol::WorkRequest& request);
  Status hand_out(Host& host, const protocol::WorkRequest& request, WorkOutcome& outcome);
  // True if the slot got a unit.
  Status hand_out_slot(Host& host, const protocol::WorkRequest& request, const protocol::SlotRequest& slot,
                       const std::vector<ProblemId>& order, WorkOutcome& outcome);
  // Who waits for work, and what it draws by its owner's word, for stages that begin.
  // `waited`: seconds since the host last got nothing; 0: it had work.
  static void note_waiting(Host& host, const protocol::WorkRequest& request, const WorkOutcome& outcome,
                           double waited);
  [[nodiscard]] std::vector<policy::IdleHost> waiting_hosts() const;
  // Of what this host has units of, after all that was decided.
  [[nodiscard]] std::vector<protocol::ProblemProgress> progress_for(const Host& host) const;
  [[nodiscard]] bool can_compute(const Problem& problem, const protocol::WorkRequest& request) const;
  [[nodiscard]] std::vector<ProblemId> problems_for(const Host& host,
                                                    const protocol::WorkRequest& request) const;
  [[nodiscard]] protocol::Grant make_grant(const Problem& problem, const policy::Unit& unit) const;
  Status store_stage(Problem& problem, const policy::Changes& changes);  // and what follows from them

  // lifecycle.cpp
  void tick();
  Status tick_problems();
  // On the writer thread: the model anew from the store, which counts open units as heard of now.
  Status reload();
  // Whether the calendar was set, or this computer slept, since the last call (the first says no).
  [[nodiscard]] bool calendar_moved();
  Status keep_accounts();
  Status advance(ProblemId id);  // starts the next planning or combining job, if one is due
  struct PlannedStage {
    bool end = false;
    storage::StageRow row;
  };
  void start_planning(Problem& problem, int stage, Done<protocol::ProblemInfo> done);
  [[nodiscard]] Result<PlannedStage> plan(const ManagerSetup& setup, int stage);
  Status begin_stage(Problem& problem, PlannedStage planned);
  Status start_combining(Problem& problem);
  [[nodiscard]] Result<std::vector<contract::Piece>> accepted_pieces(const Problem& problem) const;
  void combine(const ManagerSetup& setup, int stage, const std::vector<contract::Piece>& pieces);
  Status finish_problem(Problem& problem, protocol::ProblemState state, const std::string& message);
  [[nodiscard]] ManagerSetup manager_setup(const Problem& problem) const;
  void keep_totals(Problem& problem);
  void rebuild_tokens();
  void collect_garbage();

  // preview.cpp
  struct PreviewJob {
    ManagerSetup manager;
    std::vector<contract::Piece> pieces;
    protocol::Preview preview;  // without its files
  };
  [[nodiscard]] Result<PreviewJob> begin_preview(ProblemId id);
  [[nodiscard]] Result<protocol::Preview> make_preview(PreviewJob job);

  // mapping.cpp: problems whose strategy maps tasks to hosts.
  struct Planned {
    Range range;  // empty: nothing now
    ProblemId problem;
    std::string reason;
    double wait =
        0;  // seconds until it makes sense to ask again; 0: nothing is free, the endgame's rules say
  };
  [[nodiscard]] bool is_mapped(const Problem& problem) const;
  [[nodiscard]] Planned next_planned(const Host& host, const protocol::SlotRequest& slot,
                                     const protocol::WorkRequest& request, const std::string& strategy);
  [[nodiscard]] Range planned_range(MappingGroup& group, policy::PlanSlot slot, ProblemId& problem_id);
  [[nodiscard]] double task_cost(MappingGroup& group, const Problem& problem, std::size_t slots);
  [[nodiscard]] std::vector<policy::PlanWorker> plan_workers(const MappingGroup& group) const;
  void start_plan(const std::string& strategy, MappingGroup& group, const std::string& why);
  void note_begun(const Problem& problem, const policy::Unit& unit, const Host& host);
  void note_ended(const policy::Unit& unit);
  void tick_mapping();

  // describe.cpp
  [[nodiscard]] Result<protocol::ProblemInfo> describe_fully(const Problem& problem);
  [[nodiscard]] protocol::ProblemInfo describe(const Problem& problem) const;
  [[nodiscard]] protocol::HostInfo describe(const Host& host) const;
  [[nodiscard]] protocol::ApplicationInfo describe(const Application& application) const;

  ProjectDirectory directory_;
  Configuration configuration_;
  ProjectSecrets secrets_;
  Dependencies dependencies_;
  std::unique_ptr<storage::Store> store_;
  storage::BlobStore blobs_;
  Managers managers_;
  Model model_;                              // writer thread only, once started
  std::set<ProblemId> previews_;             // being made; writer thread only
  std::optional<Duration> calendar_offset_;  // calendar minus steady clock; writer thread only

  mutable std::shared_mutex tokens_mutex_;
  std::unordered_map<std::string, HostId> tokens_;  // digest of the token -> host, active ones

  std::mutex project_mutex_;
  std::mutex install_mutex_;
  std::optional<protocol::SignedStatement> project_statement_;
  std::atomic<int> port_{0};
  Timestamp started_at_;
  int ticks_ = 0;  // ticker thread only
  std::atomic<bool> tick_pending_{false};
  std::atomic<bool> stopped_{false};
  Pool pool_;
  Writer writer_;
  std::mutex ticker_mutex_;
  std::condition_variable ticker_wake_;
  std::thread ticker_;
};

template <typename T>
void Service::decide(std::function<Status(Result<T>&)> operation, Done<T> done) {
  auto value = std::make_shared<Result<T>>(Error{ErrorKind::internal, "no answer"});
  writer_.submit([operation = std::move(operation), value] { return operation(*value); },
                 [this, value, done = std::move(done)](Status status) {
                   if (!status.ok()) *value = status.error();
                   on_pool([value, done] { done(std::move(*value)); });
                 });
}

}  // namespace gleaner::service
