#include "client/engine/deliveries.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "client/policy/delivery.h"
#include "shared/base/limits.h"
#include "shared/io/compression.h"
#include "shared/protocol/codec.h"
#include "shared/transport/upload.h"

namespace gleaner::engine {

using client_policy::UnitEvent;
using client_policy::UnitState;

namespace {
constexpr Duration save_retry = std::chrono::seconds{10};
constexpr std::size_t probe_bytes = std::size_t{1} << 16;
constexpr std::int64_t raw_small_max = 1 << 20;  // larger segments are not tried to be made small
// A relay has a result until its own parent has it, and the answer may be lost on its way down: it is sent
// again, ever later. A day without a network is no reason to send all of it again and again, and a relay
// whose disk is gone is mended within a few hours.
constexpr Duration first_patience = std::chrono::minutes{15}, longest_patience = std::chrono::hours{6};
constexpr Duration closing_patience = std::chrono::seconds{10};  // longer than a client that stops waits
constexpr double direct_bytes_per_second_min = 256 << 10;        // a part of 8 MiB in half a minute
// Of a request: what goes with it must not keep a heartbeat waiting for long.
constexpr double piggyback_seconds = 10;
constexpr std::int64_t piggyback_least = 64 << 10;
constexpr std::int64_t piggyback_unknown = 128 << 10;  // while nothing is known of the line
constexpr std::size_t refused_max = 64;                // reports; more of them tell nothing new

// The server did not look at it.
bool may_pass(ErrorKind kind) {
  return kind == ErrorKind::unavailable || kind == ErrorKind::banned;
}
}  // namespace

void Deliveries::report_disk_trouble(const Error& error) {
  if (!disk_trouble_) spdlog::error("results cannot be written: {}", error.message);
  disk_trouble_ = error.message;
  save_at_ = services_.clock.steady() + save_retry;
}

// Whether the disk takes something again: only a try tells.
Status Deliveries::probe_disk() {
  const io::Path probe = services_.state.root / "probe";
  const Status written = services_.files.write(probe, Bytes(probe_bytes, ' '), io::Mode::normal);
  TRY(services_.files.remove(probe));
  return written;
}

// A disk that does not take what was computed: kernels are stopped by the engine (disk_trouble), what is in
// memory stays there, and every few seconds it is tried again.
void Deliveries::save(SteadyTime now, Alarm& alarm) {
  if (disk_trouble_ && now < save_at_) return alarm.at(save_at_);
  std::optional<std::string> trouble;
  if (disk_trouble_)
    if (const Status probed = probe_disk(); !probed.ok()) trouble = probed.error().message;
  for (auto& [id, unit] : units_)
    // After trouble, a cut may be written but not durable.
    if (const Status saved = disk_trouble_ ? unit->held->sync() : unit->held->save(); !saved.ok())
      trouble = saved.error().message;
  if (trouble && !disk_trouble_) spdlog::error("results cannot be written: {}", *trouble);
  if (!trouble && disk_trouble_) {
    spdlog::info("results can be written again");
    alarm.at(now);  // what stood against computing is gone: decide anew at once
  }
  disk_trouble_ = std::move(trouble);
  if (!disk_trouble_) return;
  save_at_ = now + save_retry;
  alarm.at(save_at_);
}

void Deliveries::resume(Unit& unit, Holder holder) const {
  if (holder == Holder::another) unit.delivery.to_recall = unit.held->held().size();
}

void Deliveries::recall(Unit& unit, SteadyTime now, Closing closing, Alarm& alarm) const {
  Delivery& delivery = unit.delivery;
  if (unit.held->held().empty()) {
    delivery.to_recall = 0;
    return delivery.recall_at.reset();
  }
  if (!delivery.recall_at) {
    delivery.patience = first_patience;
    delivery.recall_at = now + delivery.patience;
  }
  // The answer may have gone to the other one that uses this identity.
  if (closing == Closing::yes) {
    delivery.patience = closing_patience;
    delivery.recall_at = std::min(*delivery.recall_at, now + closing_patience);
  }
  if (now >= *delivery.recall_at) {
    delivery.to_recall = unit.held->held().size();
    delivery.patience = std::min<Duration>(longest_patience, 2 * delivery.patience);
    delivery.recall_at = now + delivery.patience;
  }
  alarm.at(*delivery.recall_at);
  if (delivery.to_recall == 0 || unit.held->pending()) return;
  --delivery.to_recall;
  unit.held->recall();
  delivery.uploaded = false;
  delivery.small.reset();
  delivery.at = now;
}

void Deliveries::prepare_cut(Unit& unit, SteadyTime now, Closing closing) {
  HeldUnit& held = *unit.held;
  const bool over = held.stopped() || held.complete();
  if (!held.pending()) {
    const client_policy::DeliveryView view{over, unit.state == UnitState::paused, unit.run_time,
                                           std::chrono::seconds{unit.grant().commit_seconds}};
    if (held.uncut() == 0 || !(client_policy::cut_due(view) || closing == Closing::yes)) return;
    const Status cut = held.cut(to_seconds(unit.cpu_time));
    if (held.pending()) unit.run_time = unit.cpu_time = Duration{0};
    unit.delivery.uploaded = false;
    unit.delivery.small.reset();
    unit.delivery.at = over ? std::max(piggyback_until_, now) : now;
    if (!cut.ok()) return report_disk_trouble(cut.error());
  }
  if (unit.delivery.small || unit.delivery.uploaded || unit.delivery.in_flight || now < unit.delivery.at)
    return;
  auto segment = held.segment();
  if (!segment.ok() && segment.error().kind == ErrorKind::untrusted) {
    spdlog::error("{}", segment.error().message);
    held.abandon();
    return unit.fail(protocol::FailureKind::kernel_error, segment.error().message);
  }
  if (!segment.ok()) {
    unit.delivery.at = now + unit.delivery.backoff.failed(services_.random);
    return report_disk_trouble(segment.error());
  }
  if (static_cast<std::int64_t>(segment->size()) <= raw_small_max) {
    Bytes packed = io::compress(*segment);
    if (static_cast<std::int64_t>(packed.size()) <= limits::inline_segment_bytes_max) {
      unit.delivery.small = std::move(packed);
      return;
    }
  }
  if (may_upload_) start_upload(unit, std::move(segment).value());
}

void Deliveries::start_upload(Unit& unit, Bytes segment) {
  unit.delivery.in_flight = true;
  const bool direct = unit.grant().direct.value_or(false) && trust_.knows_project();
  auto job = [this, id = unit.id(), digest = unit.held->pending()->digest, server = server_, direct,
              host = unit.grant().host, work_key = direct ? trust_.project().work_key : Bytes(),
              bytes = std::make_shared<const Bytes>(std::move(segment))](
                 transport::JobContext& context) -> transport::Completion {
    // A part that breaks off is lost there: a slow line brings all to the server, which keeps what came.
    const bool slow =
        pieces_.bytes_per_second() > 0 && pieces_.bytes_per_second() < direct_bytes_per_second_min;
    transport::JobContext limited = context;
    limited.allowance = &allowance_;
    if (direct && !slow) objects_.put({limited, server, work_key, host}, digest, *bytes);
    Status outcome = transport::upload(limited, server, digest, *bytes, pieces_, &sending_);
    const bool held_back = !outcome.ok() && may_pass(outcome.error().kind) && limited.left() == 0;
    return [this, id, digest, held_back, outcome = std::move(outcome)] {
      const auto found = units_.find(id);
      if (found == units_.end()) return;
      Unit& unit_now = *found->second;
      const auto& pending = unit_now.held->pending();
      if (!pending || pending->digest != digest) return;
      if (!outcome.ok() && !held_back) return answered({id}, outcome, services_.clock.steady());
      unit_now.delivery.in_flight = false;
      unit_now.delivery.uploaded = !held_back;  // else it is resumed when it may be
    };
  };
  workers_.submit(transport::Queue::data, std::move(job));
}

void Deliveries::tick(SteadyTime now, Closing closing, Alarm& alarm) {
  save(now, alarm);
  for (auto entry = units_.begin(); entry != units_.end();) {
    Unit& unit = *entry->second;
    if (unit.held->complete() && !unit.held->stopped() && unit.state == UnitState::committing)
      unit.held->stop();
    recall(unit, now, closing, alarm);
    if (!disk_trouble_) prepare_cut(unit, now, closing);
    if (unit.held->pending() && unit.delivery.at > now) alarm.at(unit.delivery.at);
    if (unit.state == UnitState::committing && unit.held->drained() && !unit.delivery.failure &&
        !unit.delivery.in_flight) {
      unit.step(UnitEvent::close);
      if (const Status removed = unit.held->remove(); !removed.ok()) report_disk_trouble(removed.error());
      entry = units_.erase(entry);
    } else {
      ++entry;
    }
  }
}

bool Deliveries::ready(const Unit& unit, SteadyTime now) const {
  return unit.held->pending() && !unit.delivery.in_flight &&
         (unit.delivery.small || unit.delivery.uploaded) && now >= unit.delivery.at;
}

protocol::CommitRequest Deliveries::request(Unit& unit) {
  const Cut& cut = *unit.held->pending();
  protocol::CommitRequest commit;
  commit.unit = unit.id();
  commit.range = cut.range;
  commit.digest = cut.digest;
  commit.bytes = cut.bytes;
  commit.data = unit.delivery.small;
  commit.compute_seconds = cut.compute_seconds;
  commit.last = cut.last;
  // A project that was restored from a backup knows it by its grant alone.
  const bool former = std::count(signer_->former.begin(), signer_->former.end(), unit.grant().host) > 0;
  if (to_ == To::project && !unit.held->granted().lease && (former || unit.delivery.with_grant))
    commit.given = protocol::GivenUnit{unit.held->granted().statement, {}};
  if (of_former_relay(unit))
    commit.given = protocol::GivenUnit{unit.held->granted().statement, *unit.held->granted().lease};
  if (to_ == To::relay || of_former_relay(unit)) {
    const protocol::Delivery delivery{signer_->project,   signer_->host, commit.unit,   unit.grant().problem,
                                      unit.grant().stage, commit.range,  commit.digest, commit.bytes};
    commit.delivery =
        crypto::sign_statement(protocol::StatementType::delivery, protocol::encode(delivery), signer_->key);
  }
  unit.delivery.in_flight = true;
  return commit;
}

// By itself: its statements make it large.
bool Deliveries::of_former_relay(const Unit& unit) const {
  return to_ == To::project && unit.held->granted().lease.has_value();
}

std::int64_t Deliveries::piggyback_bytes_max() const {
  if (line_ <= 0) return piggyback_unknown;
  // base64 makes a third more of it.
  return static_cast<std::int64_t>(std::clamp(line_ * piggyback_seconds, static_cast<double>(piggyback_least),
                                              static_cast<double>(limits::json_message_bytes_max / 2)));
}

std::vector<protocol::CommitRequest> Deliveries::take_piggybacked(SteadyTime now) {
  std::vector<protocol::CommitRequest> commits;
  if (disk_trouble_) return commits;  // a cut that is not on disk must not be sent
  std::int64_t bytes = 0;
  const std::int64_t most = piggyback_bytes_max();
  for (auto& [id, unit] : units_) {
    // Those that wait for just this request are ready before their time.
    const bool waits = unit->delivery.at <= piggyback_until_ && unit->delivery.backoff.failures() == 0;
    if (unit->delivery.alone || of_former_relay(*unit) ||
        !ready(*unit, waits ? std::max(now, piggyback_until_) : now))
      continue;
    bytes += unit->delivery.small ? static_cast<std::int64_t>(unit->delivery.small->size()) : 0;
    if (bytes > most && !commits.empty()) break;
    commits.push_back(request(*unit));
    if (commits.size() >= static_cast<std::size_t>(limits::segments_per_request_max)) break;
  }
  return commits;
}

bool Deliveries::commit_due(SteadyTime now) const {
  return !disk_trouble_ && std::any_of(units_.begin(), units_.end(),
                                       [this, now](const auto& entry) { return ready(*entry.second, now); });
}

protocol::CommitRequest Deliveries::take_one(SteadyTime now) {
  const auto first = std::find_if(units_.begin(), units_.end(),
                                  [this, now](const auto& entry) { return ready(*entry.second, now); });
  CHECK_TRUE(first != units_.end() && !disk_trouble_);
  return request(*first->second);
}

void Deliveries::refuse(protocol::FailureReport report) {
  if (refused_.size() < refused_max) refused_.push_back(std::move(report));
}

bool Deliveries::failure_ready(const Unit& unit, SteadyTime now) {
  return unit.delivery.failure && unit.held->delivered() && !unit.delivery.in_flight &&
         now >= unit.delivery.at;
}

bool Deliveries::failure_due(SteadyTime now) const {
  return !refused_.empty() || std::any_of(units_.begin(), units_.end(), [now](const auto& entry) {
    return failure_ready(*entry.second, now);
  });
}

protocol::FailureReport Deliveries::next_failure(SteadyTime now) {
  if (!refused_.empty()) {
    protocol::FailureReport report = std::move(refused_.front());
    refused_.erase(refused_.begin());
    return report;
  }
  const auto first = std::find_if(units_.begin(), units_.end(),
                                  [now](const auto& entry) { return failure_ready(*entry.second, now); });
  CHECK_TRUE(first != units_.end());
  Unit& unit = *first->second;
  unit.delivery.in_flight = true;
  // Once: when it is sent again it is the same, and counts once.
  if (to_ == To::relay && !unit.delivery.failure->statement)
    unit.delivery.failure->statement = signed_failure(unit);
  return *unit.delivery.failure;
}

protocol::SignedStatement Deliveries::signed_failure(const Unit& unit) const {
  const protocol::FailureReport& report = *unit.delivery.failure;
  const protocol::Failure failure{signer_->project,     signer_->host,      report.unit,
                                  unit.grant().problem, unit.grant().stage, report.kind,
                                  report.item,          report.message,     services_.clock.now()};
  return crypto::sign_statement(protocol::StatementType::failure, protocol::encode(failure), signer_->key);
}

void Deliveries::end_delivery(Unit& unit, SteadyTime now) {
  unit.delivery.small.reset();
  unit.delivery.uploaded = unit.delivery.alone = false;
  unit.delivery.backoff.succeeded();
  unit.delivery.at = now;
}

void Deliveries::held(const protocol::HeldResult& result, SteadyTime now) {
  const auto found = units_.find(result.unit);
  if (to_ != To::relay || found == units_.end()) return;
  Unit& unit = *found->second;
  const auto& pending = unit.held->pending();
  // Also one that was held before and came again, or that has been acknowledged meanwhile.
  if (!pending || pending->range != result.range || pending->digest != result.digest) return;
  unit.held->hold();
  end_delivery(unit, now);
}

void Deliveries::acknowledged(const protocol::SignedStatement& statement, SteadyTime now) {
  const auto checked = trust_.check_acknowledgement(statement);
  if (!checked.ok()) {
    spdlog::error("rejected an acknowledgement, and kept the result: {}", checked.error().message);
    doubts_project_ = true;
    return;
  }
  const auto found = units_.find(checked->unit);
  if (found == units_.end()) return;
  Unit& unit = *found->second;
  const auto meant = [&checked](const Cut& cut) {
    return cut.range == checked->range && cut.digest == checked->digest;
  };
  const bool pending = unit.held->pending() && meant(*unit.held->pending());
  if (!pending && std::none_of(unit.held->held().begin(), unit.held->held().end(), meant)) {
    // A relay tells each answer several times, since a reply may be lost.
    if (!unit.held->acknowledged(checked->range))
      spdlog::warn("unit {}: ignored an acknowledgement for another result", unit.id().value);
    return;
  }
  if (pending && checked->status == protocol::CommitStatus::refused && to_ == To::project &&
      !unit.held->granted().lease && !unit.delivery.with_grant) {
    unit.delivery.with_grant = true;
    return;  // answered() has it sent again
  }
  // After a power cut between the two the server acknowledges again: better a receipt twice than none.
  if (const Status kept = receipts_.add(statement, *checked, unit.grant()); !kept.ok())
    spdlog::warn("a receipt is not kept: {}", kept.error().message);
  unit.held->acknowledge(checked->range.end);
  if (pending) end_delivery(unit, now);
  totals_.items_accepted += checked->items_accepted;
  switch (checked->status) {
    case protocol::CommitStatus::accepted:
      ++totals_.commits_accepted;
      return;
    case protocol::CommitStatus::duplicate:
      ++totals_.commits_duplicate;
      return;
    case protocol::CommitStatus::refused:
      break;
  }
  ++totals_.commits_refused;
  totals_.last_refusal = checked->reason;
  spdlog::warn("unit {}: the server refused items {}-{}: {}", unit.id().value, checked->range.begin,
               checked->range.end - 1, checked->reason);
  // What follows would not fit to what was refused.
  unit.held->abandon();
  unit.order_reason = checked->reason;
}

void Deliveries::answered(const std::vector<UnitId>& units, const Status& outcome, SteadyTime now) {
  for (const UnitId id : units) {
    const auto found = units_.find(id);
    if (found == units_.end()) continue;
    Unit& unit = *found->second;
    unit.delivery.in_flight = false;
    if (outcome.ok()) {
      // Its acknowledgement was not among the answers, or was not believed: ask again, not at once.
      if (unit.held->pending()) unit.delivery.at = now + unit.delivery.backoff.failed(services_.random);
      continue;
    }
    if (units.size() > 1 && !may_pass(outcome.error().kind)) unit.delivery.alone = true;
    if (!may_pass(outcome.error().kind)) {
      unit.delivery.uploaded = false;  // perhaps the server lost it
      spdlog::warn("unit {}: the server does not take the result, it is kept: {}", id.value,
                   outcome.error().message);
    }
    unit.delivery.at = now + unit.delivery.backoff.failed(services_.random);
  }
}

void Deliveries::failure_reported(const protocol::FailureReport& report, const Status& outcome,
                                  SteadyTime now) {
  const bool again = !outcome.ok() && may_pass(outcome.error().kind);
  const auto found = units_.find(report.unit);
  if (found == units_.end()) {
    if (again) refuse(report);
    return;
  }
  Unit& unit = *found->second;
  unit.delivery.in_flight = false;
  if (again)
    unit.delivery.at = now + unit.delivery.backoff.failed(services_.random);
  else
    unit.delivery.failure.reset();  // told, or the server does not want to know
}

bool Deliveries::under_way() const {
  return std::any_of(units_.begin(), units_.end(), [](const auto& entry) {
    const Unit& unit = *entry.second;
    return unit.delivery.in_flight ||
           (unit.held->pending() && (unit.delivery.small || unit.delivery.uploaded)) ||
           unit.held->uncut() > 0;
  });
}

std::size_t Deliveries::waiting() const {
  return static_cast<std::size_t>(std::count_if(units_.begin(), units_.end(), [](const auto& entry) {
    return entry.second->held->pending().has_value() || !entry.second->held->held().empty();
  }));
}

}  // namespace gleaner::engine
