// The Store on SQLite. Rows in, rows out: sqlite_store_*.cpp hold the texts of the statements, grouped as the
// rows are. Private to this module; made by open_sqlite_store(). One thread at a time, but for what store.h
// says may be called from any.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "server/storage/directory_lock.h"
#include "server/storage/sqlite.h"
#include "server/storage/store.h"

namespace gleaner::storage {

class SqliteStore final : public Store {
 public:
  // `reader`: another connection to the same file.
  SqliteStore(std::unique_ptr<DirectoryLock> lock, std::unique_ptr<Database> database,
              std::unique_ptr<Database> reader);
  [[nodiscard]] Status load_sequences();

  Status begin() override;
  Status commit() override;
  void rollback() override;
  GenerationNote generation() const override;
  // It goes on after a loss: from the note's generation, and with ids that were certainly not given before.
  [[nodiscard]] Status go_on_from(const GenerationNote& note);

  Result<std::optional<std::string>> get_value(const std::string& name) override;
  Status set_value(const std::string& name, const std::string& value) override;
  Result<UnitId> next_unit() override;

  Result<HostId> add_host(const HostRow& row) override;
  Status update_host(const HostRow& row) override;
  Status visit_hosts(const std::function<void(HostRow&&)>& visit) override;

  Status put_code(const CodeRow& row) override;
  Result<std::vector<CodeRow>> codes() override;

  Status put_token(const TokenRow& row) override;
  Result<std::vector<TokenRow>> tokens() override;

  Status add_act(const protocol::Act& act) override;
  Result<std::vector<protocol::Act>> acts(std::int64_t after, int count_max) override;
  Status drop_acts(std::int64_t last) override;
  Status add_refusals(const protocol::RefusalCount& more) override;
  Result<std::vector<protocol::RefusalCount>> refusals() override;

  Status put_ban(const protocol::Ban& ban) override;
  Status drop_ban(protocol::BanKind kind, const std::string& subject) override;
  Result<std::vector<protocol::Ban>> bans() override;
  Status add_to_day(const DayRow& more) override;
  Result<std::vector<DayRow>> days(int count_max) override;

  Status put_standing(HostId host, ApplicationId application, const policy::Standing& standing) override;
  Result<std::vector<StandingRow>> standings() override;
  Result<ApplicationId> add_application(const ApplicationRow& row) override;
  Result<std::vector<ApplicationRow>> applications() override;

  Result<ProblemId> next_problem() override;
  Result<ProblemId> add_problem(const ProblemRow& row) override;
  Status update_problem(const ProblemRow& row) override;
  Result<std::vector<ProblemRow>> problems() override;
  Status delete_problem(ProblemId id) override;

  Status put_stage(const StageRow& row) override;
  Result<std::optional<StageRow>> stage(ProblemId problem, int stage) override;

  Status put_unit(ProblemId problem, int stage, const policy::Unit& unit) override;
  Result<std::vector<policy::Unit>> open_units(ProblemId problem, int stage) override;
  Result<std::optional<UnitPlace>> unit(UnitId id) override;
  Result<std::vector<UnitPlace>> host_units(HostId host, int count_max) override;

  Status put_host_record(ProblemId problem, int stage, const policy::HostRecord& record) override;
  Result<std::vector<policy::HostRecord>> host_records(ProblemId problem, int stage) override;

  Result<SegmentId> add_segment(const SegmentRow& row, std::string_view bytes) override;
  Result<Bytes> segment_bytes(SegmentId id) override;
  Result<std::vector<SegmentRow>> kept_segments(SegmentId after, int count_max) override;
  Status accept(ProblemId problem, int stage, Range range, SegmentId segment) override;
  Status unaccept(ProblemId problem, int stage, Range range) override;
  Status drop_segment(SegmentId segment) override;
  Result<std::vector<AcceptedRow>> accepted(ProblemId problem, int stage) override;
  Result<std::vector<AcceptedSegment>> accepted_segments(ProblemId problem, int stage) override;
  Result<std::vector<SegmentRow>> segments_over(ProblemId problem, int stage, Range range) override;
  Result<std::int64_t> delivered_items(ProblemId problem, int stage) override;

  Status add_verdict(const VerdictRow& row) override;
  Result<std::vector<VerdictRow>> verdicts(ProblemId problem) override;
  Status add_failure(const FailureRow& row) override;
  Result<std::vector<FailureRow>> failures(ProblemId problem) override;

  Status add_acknowledgement(const AcknowledgementRow& row) override;
  Result<std::optional<AcknowledgementRow>> acknowledgement(UnitId unit, HostId host, Range range,
                                                            const std::string& digest) override;

  Status add_decision(const DecisionRow& row) override;
  Result<std::vector<DecisionRow>> decisions(ProblemId problem, int count_max) override;

  Status put_results(ProblemId problem, const std::vector<protocol::ResultFile>& files) override;
  Result<std::vector<protocol::ResultFile>> results(ProblemId problem) override;

  Result<std::vector<std::string>> referenced_blobs() override;

 private:
  // Ids given out without a write each: `reserved` is in the file (once the transaction is committed), so
  // that ids below it are never given again, not even after a crash.
  struct Sequence {
    const char* name;
    std::int64_t next = 1;
    std::int64_t reserved = 1;  // with the open transaction
    std::int64_t durable = 1;   // without
  };
  Result<std::int64_t> take_id(Sequence& sequence);
  Status reserve(Sequence& sequence);
  Status write_sequence(const char* name, std::int64_t next);
  [[nodiscard]] bool changed() const;  // has the open transaction written anything?

  Status put_costs(const StageRow& row);
  Status take_costs(StageRow& row);
  // Cuts `range` out of what is accepted.
  Status clear_accepted(ProblemId problem, int stage, Range range);
  Result<std::int64_t> next_decision(ProblemId problem);
  Status write_host_record(ProblemId problem, int stage, const policy::HostRecord& record);
  Status write_host_records();  // that are in memory

  std::unique_ptr<DirectoryLock> lock_;  // outlives the connection
  std::unique_ptr<Database> database_;
  std::mutex reading_;                // guards what follows
  std::unique_ptr<Database> reader_;  // for segments' bytes, beside the writer
  Sequence unit_ids_{"unit"};
  Sequence segment_ids_{"segment"};
  std::int64_t changes_before_ = 0;  // of the open transaction
  std::atomic<std::int64_t> generation_{0}, durable_units_{1}, durable_segments_{1};
  // Of the open transaction, the last of each: a host's changes several times in a request. Written before
  // the commit, and before the table is read.
  std::map<std::tuple<ProblemId, int, HostId>, policy::HostRecord> records_;
  // Added by the open transaction, the last: what is accepted is nearly always of it.
  struct {
    SegmentId id;
    ProblemId problem;
    int stage = 0;
  } newest_segment_;
  std::map<ProblemId, std::int64_t> decision_numbers_;  // the next; forgotten at a rollback
};

}  // namespace gleaner::storage
