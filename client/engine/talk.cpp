#include "client/engine/talk.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "shared/base/limits.h"

namespace gleaner::engine {
namespace {

constexpr double round_trip_weight = 0.3;  // of the newest
constexpr double interval_min = 1;         // seconds; a server that says less is wrong
constexpr Duration idle_retry = std::chrono::milliseconds{250};
constexpr Duration project_retry = std::chrono::minutes{5};
constexpr double resting_seconds_min = 4;  // a server with work for others says less
constexpr std::size_t failures_max = 64;

std::vector<UnitId> ids_of(const std::vector<protocol::CommitRequest>& commits) {
  std::vector<UnitId> ids;
  for (const protocol::CommitRequest& commit : commits) ids.push_back(commit.unit);
  return ids;
}

Status outcome_of(const Answer& answer) {
  if (answer.reply.ok()) return {};
  return answer.reply.error();
}

}  // namespace

void Talk::exchange(io::HttpRequest request, Handler handler) {
  busy_ = true;
  busy_since_ = services_.clock.steady();
  auto job = [this, server = server_, request = std::move(request),
              handler = std::move(handler)](JobContext& context) mutable -> Completion {
    auto answer = std::make_shared<Answer>(call(context.http, server, std::move(request)));
    return [this, answer, handler = std::move(handler)] {
      busy_ = false;
      const SteadyTime now = services_.clock.steady();
      after_exchange(*answer, handler(*answer, now), now);
    };
  };
  workers_.submit(Lane::control, std::move(job));
}

void Talk::after_exchange(const Answer& answer, const Status& outcome, SteadyTime now) {
  if (answer.reply.ok() && outcome.ok()) {
    const Duration trip = answer.reply->round_trip;
    round_trip_ =
        round_trip_ == Duration{0}
            ? trip
            : from_seconds(to_seconds(round_trip_) + round_trip_weight * to_seconds(trip - round_trip_));
    last_contact_ = now;
    if (!trouble_.empty()) spdlog::info("the server answers again");
    trouble_.clear();
    backoff_.succeeded();
    if (answer.retry_after)
      silent_until_ = now + client_policy::spread(services_.random, *answer.retry_after);
    return;
  }
  const Error& error = answer.reply.ok() ? outcome.error() : answer.reply.error();
  if (error.kind == ErrorKind::unauthorized || error.kind == ErrorKind::forbidden) {
    trouble_ = error.message;
    return owner_.revoked(error.message);
  }
  silent_until_ = now + backoff_.failed(services_.random, answer.retry_after);
  if (trouble_ != error.message) spdlog::warn("{}: {}", server_.base_url, error.message);
  trouble_ = error.message;
}

bool Talk::fetch_project(SteadyTime now) {
  const bool doubted = deliveries_.doubts_project() && now >= project_at_;
  if (trust_.knows_project() && !doubted) return false;
  project_at_ = now + project_retry;
  exchange(get_request(server_, "/v1/project"), [this](const Answer& answer, SteadyTime at) -> Status {
    TRY_ASSIGN(const auto statement, understand<protocol::SignedStatement>(answer));
    TRY(trust_.accept_project(statement, services_.clock.now()));
    deliveries_.project_renewed();
    owner_.project_known(statement);
    set_interval(static_cast<double>(trust_.project().document.heartbeat_seconds), at);
    heartbeat_at_ = at;  // the first word to a server is what this host holds
    return {};
  });
  return true;
}

void Talk::report_failure(protocol::FailureReport report) {
  if (failures_.size() < failures_max) failures_.push_back(std::move(report));
}

bool Talk::send_failure(SteadyTime now) {
  std::optional<protocol::FailureReport> report;
  const bool loose = !failures_.empty();
  if (loose) {
    report = failures_.front();
    failures_.erase(failures_.begin());
  } else {
    report = deliveries_.next_failure(now);
  }
  if (!report) return false;
  exchange(json_request(server_, "/v1/failure", protocol::encode(*report)),
           [this, report = *report, loose](const Answer& answer, SteadyTime at) -> Status {
             const Status outcome = outcome_of(answer);
             if (!loose)
               deliveries_.failure_reported(report.unit, outcome, at);
             else if (!outcome.ok() && outcome.error().kind == ErrorKind::unavailable)
               report_failure(report);
             return outcome;
           });
  return true;
}

void Talk::set_interval(double seconds, SteadyTime now) {
  const double bounded =
      std::clamp(seconds, interval_min, static_cast<double>(limits::retry_after_seconds_max));
  last_heartbeat_ = now;
  heartbeat_at_ = now + from_seconds(bounded);
}

// A project without work is asked more seldom with each time, down to once a minute: this computer is at
// rest. Where there is work that others hold, the server says when to come back, and that is soon.
double Talk::patience(const protocol::WorkReply& reply, std::size_t asked) {
  constexpr double growth = 1.15;
  constexpr double seconds_max = 60;
  const bool nothing = asked > 0 && reply.grants.empty() && reply.units.empty() &&
                       reply.retry_after_seconds >= resting_seconds_min;
  empty_replies_ = nothing ? empty_replies_ + 1 : 0;
  if (!nothing || reply.retry_after_seconds >= seconds_max) return 1;
  return std::min(std::pow(growth, empty_replies_ - 1), seconds_max / reply.retry_after_seconds);
}

void Talk::take_work(const protocol::WorkReply& reply, std::size_t asked, bool urgent, SteadyTime now) {
  set_interval(reply.interval_seconds, now);
  if (reply.slowest_performance > 0) slowest_performance_ = reply.slowest_performance;
  no_work_reason_ = reply.reason;
  if (reply.grants.size() < asked) {
    const double seconds = std::clamp(reply.retry_after_seconds * patience(reply, asked), 0.0,
                                      static_cast<double>(limits::retry_after_seconds_max));
    // A server that gives nothing and names no time is asked as seldom as one that fails.
    refused_ = reply.grants.empty() && (urgent || refused_);
    prefetch_at_ = now + (seconds > 0 ? client_policy::spread(services_.random, from_seconds(seconds))
                                      : std::max<Duration>(std::chrono::seconds{1},
                                                           work_backoff_.failed(services_.random)));
    // What busy slots were refused, one that falls idle may be given: late results were still on their way,
    // or only idle slots get the rest.
    work_at_ = urgent ? prefetch_at_ : std::min(prefetch_at_, now + idle_retry);
  } else {
    refused_ = false;
    no_work_reason_.clear();
    work_backoff_.succeeded();
  }
  for (const auto& statement : reply.acknowledgements) deliveries_.acknowledged(statement, now);
  owner_.take_orders(reply.units, now);
  owner_.take_grants(reply, now);
}

bool Talk::send_work(SteadyTime now) {
  if (now < work_at_) return false;
  protocol::WorkRequest request;
  request.slots = owner_.wanted(now);
  if (now < prefetch_at_) std::erase_if(request.slots, [](const auto& slot) { return !slot.urgent; });
  if (request.slots.empty()) return false;
  const bool urgent =
      std::any_of(request.slots.begin(), request.slots.end(), [](const auto& slot) { return slot.urgent; });
  request.commits = deliveries_.take_for_ride(now);
  request.units = owner_.reports(now);
  owner_.describe(request, now);
  ++work_requests_;
  asked_ = request.slots;
  auto handler = [this, ids = ids_of(request.commits), asked = request.slots.size(), urgent](
                     const Answer& answer, SteadyTime at) -> Status {
    asked_.clear();
    const auto reply = understand<protocol::WorkReply>(answer);
    if (reply.ok()) take_work(*reply, asked, urgent, at);
    const Status outcome = reply.ok() ? Status() : Status(reply.error());
    deliveries_.answered(ids, outcome, at);
    return outcome;
  };
  exchange(json_request(server_, "/v1/work", protocol::encode(request)), std::move(handler));
  return true;
}

bool Talk::send_heartbeat(SteadyTime now) {
  if (now < heartbeat_at_) return false;
  protocol::HeartbeatRequest request;
  request.units = owner_.reports(now);
  if (request.units.empty()) {
    heartbeat_at_ = SteadyTime::max();  // nothing to tell; take_grants() sets it again
    return false;
  }
  if (auto saved = owner_.take_saved(); !saved.empty()) request.saved = std::move(saved);
  set_interval(static_cast<double>(trust_.project().document.heartbeat_seconds), now);
  exchange(json_request(server_, "/v1/heartbeat", protocol::encode(request)),
           [this](const Answer& answer, SteadyTime at) -> Status {
             heartbeat_at_ = at;  // after a failure: as soon as the back-off allows
             TRY_ASSIGN(const auto reply, understand<protocol::HeartbeatReply>(answer));
             set_interval(reply.interval_seconds, at);
             owner_.take_orders(reply.units, at);
             return {};
           });
  return true;
}

bool Talk::send_commit(SteadyTime now) {
  const auto commit = deliveries_.take_one(now);
  if (!commit) return false;
  exchange(json_request(server_, "/v1/commit", protocol::encode(*commit)),
           [this, unit = commit->unit](const Answer& answer, SteadyTime at) -> Status {
             const auto statement = understand<protocol::SignedStatement>(answer);
             if (statement.ok()) deliveries_.acknowledged(*statement, at);
             const Status outcome = statement.ok() ? Status() : Status(statement.error());
             deliveries_.answered({unit}, outcome, at);
             return outcome;
           });
  return true;
}

bool Talk::asks(int slot, SteadyTime now) const {
  return now <= answer_due() &&
         std::any_of(asked_.begin(), asked_.end(), [slot](const auto& one) { return one.slot == slot; });
}

bool Talk::askable(SteadyTime now, bool urgent) const {
  if (busy_ && now > answer_due()) return false;
  return now >= silent_until_ && now >= work_at_ && (urgent || now >= prefetch_at_);
}

void Talk::forget_waits(SteadyTime now) {
  silent_until_ = now;
  work_at_ = now;
  prefetch_at_ = now;
  heartbeat_at_ = now;
  empty_replies_ = 0;
  backoff_.succeeded();
}

void Talk::tick(SteadyTime now, Alarm& alarm) {
  if (busy_) return;
  if (now < silent_until_) return alarm.at(silent_until_);
  if (fetch_project(now) || send_failure(now) || send_work(now) || send_heartbeat(now) || send_commit(now))
    return;
  if (heartbeat_at_ != SteadyTime::max()) alarm.at(heartbeat_at_);
  for (const SteadyTime at : {work_at_, prefetch_at_})
    if (at > now) alarm.at(at);
}

}  // namespace gleaner::engine
