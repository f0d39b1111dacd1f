// A real store whose n-th call fails, once: a disk that is full for a moment; or whose next commit is there
// and yet an error. Set and read from the test's thread while the writer uses it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/storage/store.h"

namespace gleaner::storage::testing {

class FailingStore final : public Store {
 public:
  explicit FailingStore(std::unique_ptr<Store> inner) : inner_(std::move(inner)) {}

  // The n-th call from now on fails, the first being 1, and then `count` - 1 more.
  void fail_at(int n, int count = 1) {
    failed_ = false;
    failures_ = count;
    left_ = n;
  }
  void heal() {
    left_ = 0;
    lies_ = false;
  }
  // The next commit is made, and said to have failed: a sync that failed late.
  void lie_at_commit() {
    failed_ = false;
    lies_ = true;
  }
  // Has a call failed since fail_at()?
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::int64_t commits() const { return commits_; }

  Status checked() override { return inner_->checked(); }
  Status begin() override {
    TRY(next("begin"));
    return inner_->begin();
  }
  Status commit() override {
    TRY(next("commit"));
    TRY(inner_->commit());
    if (!lies_.exchange(false)) return {};
    failed_ = true;
    return Error{ErrorKind::io, "commit: the sync failed"};
  }
  void rollback() override { inner_->rollback(); }
  GenerationNote generation() const override { return inner_->generation(); }
  Result<std::int64_t> disk_bytes() override { return inner_->disk_bytes(); }
  Result<std::optional<std::string>> get_value(const std::string& name) override {
    TRY(next("get_value"));
    return inner_->get_value(name);
  }
  Status set_value(const std::string& name, const std::string& value) override {
    TRY(next("set_value"));
    return inner_->set_value(name, value);
  }
  Result<UnitId> next_unit() override {
    TRY(next("next_unit"));
    return inner_->next_unit();
  }
  Status start_units(UnitId first) override {
    TRY(next("start_units"));
    return inner_->start_units(first);
  }
  Result<HostId> add_host(const HostRow& row) override {
    TRY(next("add_host"));
    return inner_->add_host(row);
  }
  Status update_host(const HostRow& row) override {
    TRY(next("update_host"));
    return inner_->update_host(row);
  }
  Status renew_host(const HostRow& row) override {
    TRY(next("renew_host"));
    return inner_->renew_host(row);
  }
  Status visit_hosts(const std::function<void(HostRow&&)>& visit) override {
    TRY(next("visit_hosts"));
    return inner_->visit_hosts(visit);
  }
  Status put_code(const CodeRow& row) override {
    TRY(next("put_code"));
    return inner_->put_code(row);
  }
  Result<std::vector<CodeRow>> codes() override {
    TRY(next("codes"));
    return inner_->codes();
  }
  Status put_token(const TokenRow& row) override {
    TRY(next("put_token"));
    return inner_->put_token(row);
  }
  Result<std::vector<TokenRow>> tokens() override {
    TRY(next("tokens"));
    return inner_->tokens();
  }
  Status add_act(const protocol::Act& act) override {
    TRY(next("add_act"));
    return inner_->add_act(act);
  }
  Status add_to_day(const DayRow& more) override {
    TRY(next("add_to_day"));
    return inner_->add_to_day(more);
  }
  Result<std::vector<DayRow>> days(int count_max) override {
    TRY(next("days"));
    return inner_->days(count_max);
  }
  Result<std::vector<protocol::Act>> acts(std::int64_t after, int count_max) override {
    TRY(next("acts"));
    return inner_->acts(after, count_max);
  }
  Status drop_acts(std::int64_t last) override {
    TRY(next("drop_acts"));
    return inner_->drop_acts(last);
  }
  Status add_refusals(const protocol::RefusalCount& more) override {
    TRY(next("add_refusals"));
    return inner_->add_refusals(more);
  }
  Result<std::vector<protocol::RefusalCount>> refusals() override {
    TRY(next("refusals"));
    return inner_->refusals();
  }
  Status put_ban(const protocol::Ban& ban) override {
    TRY(next("put_ban"));
    return inner_->put_ban(ban);
  }
  Status drop_ban(protocol::BanKind kind, const std::string& subject) override {
    TRY(next("drop_ban"));
    return inner_->drop_ban(kind, subject);
  }
  Result<std::vector<protocol::Ban>> bans() override {
    TRY(next("bans"));
    return inner_->bans();
  }
  Status put_standing(HostId host, ApplicationId application, const policy::Standing& standing) override {
    TRY(next("put_standing"));
    return inner_->put_standing(host, application, standing);
  }
  Result<std::vector<storage::StandingRow>> standings() override {
    TRY(next("standings"));
    return inner_->standings();
  }
  Result<ApplicationId> add_application(const ApplicationRow& row) override {
    TRY(next("add_application"));
    return inner_->add_application(row);
  }
  Result<std::vector<ApplicationRow>> applications() override {
    TRY(next("applications"));
    return inner_->applications();
  }
  Result<ProblemId> next_problem() override {
    TRY(next("next_problem"));
    return inner_->next_problem();
  }
  Result<ProblemId> add_problem(const ProblemRow& row) override {
    TRY(next("add_problem"));
    return inner_->add_problem(row);
  }
  Status update_problem(const ProblemRow& row) override {
    TRY(next("update_problem"));
    return inner_->update_problem(row);
  }
  Result<std::vector<ProblemRow>> problems() override {
    TRY(next("problems"));
    return inner_->problems();
  }
  Status delete_problem(ProblemId id) override {
    TRY(next("delete_problem"));
    return inner_->delete_problem(id);
  }
  Status put_stage(const StageRow& row) override {
    TRY(next("put_stage"));
    return inner_->put_stage(row);
  }
  Result<std::optional<StageRow>> stage(ProblemId problem, int stage) override {
    TRY(next("stage"));
    return inner_->stage(problem, stage);
  }
  Status put_unit(ProblemId problem, int stage, const policy::Unit& unit) override {
    TRY(next("put_unit"));
    return inner_->put_unit(problem, stage, unit);
  }
  Result<std::vector<policy::Unit>> open_units(ProblemId problem, int stage) override {
    TRY(next("open_units"));
    return inner_->open_units(problem, stage);
  }
  Result<std::vector<UnitPlace>> host_units(HostId host, int count_max) override {
    TRY(next("host_units"));
    return inner_->host_units(host, count_max);
  }
  Result<std::optional<UnitPlace>> unit(UnitId id) override {
    TRY(next("unit"));
    return inner_->unit(id);
  }
  Status put_host_record(ProblemId problem, int stage, const policy::HostRecord& record) override {
    TRY(next("put_host_record"));
    return inner_->put_host_record(problem, stage, record);
  }
  Result<std::vector<policy::HostRecord>> host_records(ProblemId problem, int stage) override {
    TRY(next("host_records"));
    return inner_->host_records(problem, stage);
  }
  Result<SegmentId> add_segment(const SegmentRow& row, std::string_view bytes) override {
    TRY(next("add_segment"));
    return inner_->add_segment(row, bytes);
  }
  // Not on the writer's thread, which the failures are counted on.
  Result<Bytes> segment_bytes(SegmentId id) override { return inner_->segment_bytes(id); }
  Result<std::vector<SegmentRow>> kept_segments(SegmentId after, int count_max) override {
    return inner_->kept_segments(after, count_max);
  }
  Status accept(ProblemId problem, int stage, Range range, SegmentId segment) override {
    TRY(next("accept"));
    return inner_->accept(problem, stage, range, segment);
  }
  Status accept_free(ProblemId problem, int stage, Range range, SegmentId segment) override {
    TRY(next("accept_free"));
    return inner_->accept_free(problem, stage, range, segment);
  }
  Status drop_segment(SegmentId segment) override {
    TRY(next("drop_segment"));
    return inner_->drop_segment(segment);
  }
  Status unaccept(ProblemId problem, int stage, Range range) override {
    TRY(next("unaccept"));
    return inner_->unaccept(problem, stage, range);
  }
  Result<std::vector<AcceptedRow>> accepted(ProblemId problem, int stage) override {
    TRY(next("accepted"));
    return inner_->accepted(problem, stage);
  }
  Result<std::vector<AcceptedSegment>> accepted_segments(ProblemId problem, int stage) override {
    TRY(next("accepted_segments"));
    return inner_->accepted_segments(problem, stage);
  }
  Result<std::vector<SegmentRow>> segments_over(ProblemId problem, int stage, Range range) override {
    TRY(next("segments_over"));
    return inner_->segments_over(problem, stage, range);
  }
  Result<std::int64_t> delivered_items(ProblemId problem, int stage) override {
    TRY(next("delivered_items"));
    return inner_->delivered_items(problem, stage);
  }
  Status add_verdict(const VerdictRow& row) override {
    TRY(next("add_verdict"));
    return inner_->add_verdict(row);
  }
  Result<std::vector<VerdictRow>> verdicts(ProblemId problem) override {
    TRY(next("verdicts"));
    return inner_->verdicts(problem);
  }
  Status add_failure(const FailureRow& row) override {
    TRY(next("add_failure"));
    return inner_->add_failure(row);
  }
  Result<std::vector<FailureRow>> failures(ProblemId problem) override {
    TRY(next("failures"));
    return inner_->failures(problem);
  }
  Result<std::optional<AcknowledgementRow>> acknowledgement(UnitId unit, HostId host, Range range,
                                                            const std::string& digest) override {
    TRY(next("acknowledgement"));
    return inner_->acknowledgement(unit, host, range, digest);
  }
  Status put_lease(const LeaseRow& row) override {
    TRY(next("put_lease"));
    return inner_->put_lease(row);
  }
  Result<std::vector<LeaseRow>> leases() override {
    TRY(next("leases"));
    return inner_->leases();
  }
  Status put_delivery(const DeliveryRow& row) override {
    TRY(next("put_delivery"));
    return inner_->put_delivery(row);
  }
  Result<std::vector<DeliveryRow>> deliveries(Timestamp answered_after) override {
    TRY(next("deliveries"));
    return inner_->deliveries(answered_after);
  }
  Result<std::optional<DeliveryRow>> delivery(UnitId unit, HostId host, Range range,
                                              const std::string& digest) override {
    TRY(next("delivery"));
    return inner_->delivery(unit, host, range, digest);
  }
  Status pass_segment(SegmentId segment) override {
    TRY(next("pass_segment"));
    return inner_->pass_segment(segment);
  }
  Status add_decision(const DecisionRow& row) override {
    TRY(next("add_decision"));
    return inner_->add_decision(row);
  }
  Result<std::vector<DecisionRow>> decisions(ProblemId problem, int count_max) override {
    TRY(next("decisions"));
    return inner_->decisions(problem, count_max);
  }
  Status put_results(ProblemId problem, const std::vector<protocol::ResultFile>& files) override {
    TRY(next("put_results"));
    return inner_->put_results(problem, files);
  }
  Result<std::vector<protocol::ResultFile>> results(ProblemId problem) override {
    TRY(next("results"));
    return inner_->results(problem);
  }
  Result<std::vector<std::string>> referenced_blobs() override {
    TRY(next("referenced_blobs"));
    return inner_->referenced_blobs();
  }

 private:
  Status next(const char* call) {
    if (left_ > 0 && --left_ == 0) {
      failed_ = true;
      if (--failures_ > 0) left_ = 1;
      return Error{ErrorKind::io, std::string(call) + ": no space left on device"};
    }
    if (std::string_view(call) == "commit") ++commits_;
    return {};
  }

  std::unique_ptr<Store> inner_;
  std::atomic<int> left_{0};  // calls until the failure; 0: none
  std::atomic<int> failures_{1};
  std::atomic<bool> failed_{false}, lies_{false};
  std::atomic<std::int64_t> commits_{0};
};

}  // namespace gleaner::storage::testing
