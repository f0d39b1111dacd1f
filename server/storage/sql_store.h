// The Store on a database of any engine (connection.h). Rows in, rows out: stored_*.h say what they are
// made of; sql_store_*.cpp hold the texts of all other statements, grouped as the rows are. Private to this
// module; made by open_store(). One thread at a time, but for what store.h says may be called from any.
#pragma once

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "server/storage/connection.h"
#include "server/storage/store.h"
#include "server/storage/stored_problems.h"
#include "server/storage/stored_project.h"

namespace gleaner::storage {

class SqlStore final : public Store {
 public:
  // `reader`: another connection to the same database. `lock`: what keeps other servers away, for as long as
  // the connections last.
  SqlStore(std::shared_ptr<void> lock, std::unique_ptr<Connection> connection,
           std::unique_ptr<Connection> reader);
  [[nodiscard]] Status load_sequences();

  // To be told by checked().
  void expect_check(std::future<Status> check) { check_ = std::move(check); }
  Status checked() override;
  Status begin() override;
  Status commit() override;
  void rollback() override;
  GenerationNote generation() const override;
  // It goes on after a loss: from the note's generation, and with ids that were certainly not given before.
  [[nodiscard]] Status go_on_from(const GenerationNote& note);

  Result<std::int64_t> disk_bytes() override;

  Result<std::optional<std::string>> get_value(const std::string& name) override;
  Status set_value(const std::string& name, const std::string& value) override;
  Result<UnitId> next_unit() override;
  Status start_units(UnitId first) override;

  Result<HostId> add_host(const HostRow& row) override;
  Status update_host(const HostRow& row) override;
  Status renew_host(const HostRow& row) override;
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
  Status accept_free(ProblemId problem, int stage, Range range, SegmentId segment) override;
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

  Result<std::optional<AcknowledgementRow>> acknowledgement(UnitId unit, HostId host, Range range,
                                                            const std::string& digest) override;

  Status put_lease(const LeaseRow& row) override;
  Result<std::vector<LeaseRow>> leases() override;
  Status put_delivery(const DeliveryRow& row) override;
  Result<std::vector<DeliveryRow>> deliveries(Timestamp answered_after) override;
  Result<std::optional<DeliveryRow>> delivery(UnitId unit, HostId host, Range range,
                                              const std::string& digest) override;
  Status pass_segment(SegmentId segment) override;

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

  template <typename Row>
  [[nodiscard]] static std::string select_from(const char* rest) {
    return select_text(table_of<Row>()) + " " + rest;
  }
  template <typename Row, typename Value>
  Status put(const Value& value) {
    Query query = connection_->put(table_of<Row>());
    add_row<Row>(query, value);
    return query.run();
  }
  template <typename Row, typename... Parameters>
  Result<std::vector<Row>> rows(const std::string& sql, const Parameters&... parameters) {
    Query query = connection_->query(sql);
    (query.add(parameters), ...);
    return all_rows(query, take_row<Row>);
  }

  // Adds a row under `id`, or, if that is 0, under one that the store gives.
  template <typename Id, typename Row>
  Result<Id> add_numbered(Row row, Id id) {
    static const std::string sql = insert_text(table_of<Row>());
    if (!id.valid()) {
      TRY_ASSIGN(id.value, connection_->next_number(table_of<Row>()));
    }
    row.id = id;
    {
      Query query = connection_->query(sql);
      add_row<Row>(query, row);
      TRY(query.apply());
    }
    TRY(connection_->note_number(table_of<Row>(), id.value));
    return id;
  }

  // Rows that are numbered 1, 2, 3 ... in their problem, and of which the newest `kept` stay.
  struct NumberedTexts {
    std::string last, prune;
  };
  template <typename Row>
  [[nodiscard]] static NumberedTexts numbered_texts() {
    const std::string& name = table_of<Row>().name;
    return {"SELECT coalesce(max(number), 0) FROM " + name + " WHERE problem = ?",
            "DELETE FROM " + name + " WHERE problem = ? AND number <= ?"};
  }
  template <typename Row>
  Status add_to_problem(const Row& row, const NumberedTexts& texts, std::int64_t kept) {
    TRY_ASSIGN(std::int64_t* const next, next_in_problem(table_of<Row>(), row.problem, texts));
    const std::int64_t number = (*next)++;
    TRY(put<Row>(Numbered<const Row&>{number, row}));
    if (number % additions_between_prunings != 0 || number <= kept) return {};
    return connection_->query(texts.prune).add(row.problem).add(number - kept).run();
  }
  template <typename Row, typename... Parameters>
  Result<std::vector<Row>> numbered_rows(const std::string& sql, const Parameters&... parameters) {
    Query query = connection_->query(sql);
    (query.add(parameters), ...);
    return all_rows(query, [](Query& each) { return std::move(take_row<Row>(each).row); });
  }
  // Where the next number of a problem is kept, until a rollback.
  Result<std::int64_t*> next_in_problem(const Table& table, ProblemId problem, const NumberedTexts& texts);

  Status put_costs(const StageRow& row);
  Status take_costs(StageRow& row);
  Status write_host_records();  // that are in memory

  std::shared_ptr<void> lock_;  // outlives the connections
  std::unique_ptr<Connection> connection_;
  std::future<Status> check_;
  Status check_status_;
  std::mutex reading_;                  // guards what follows
  std::unique_ptr<Connection> reader_;  // for segments' bytes, beside the writer
  Sequence unit_ids_{"unit"};
  Sequence segment_ids_{"segment"};
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
  static constexpr std::int64_t additions_between_prunings = 1'000;
  std::map<std::pair<const Table*, ProblemId>, std::int64_t> numbers_;  // the next; forgotten at a rollback
};

}  // namespace gleaner::storage
