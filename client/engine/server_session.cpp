#include "client/engine/server_session.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "shared/base/limits.h"

namespace gleaner::engine {
namespace {

constexpr double round_trip_weight = 0.3;  // of the newest
constexpr double interval_min = 1;         // seconds; a server that says less is wrong
constexpr Duration project_retry = std::chrono::minutes{5};

template <typename Value>
Status outcome_of(const Result<Value>& result) {
  return result.ok() ? Status() : Status(result.error());
}

}  // namespace

Exchange ServerSession::due(const Outgoing& outgoing, SteadyTime now, Alarm& alarm) const {
  if (busy()) return Exchange::none;
  if (now < silent_until_) {
    alarm.at(silent_until_);
    return Exchange::none;
  }
  if (!trust_.knows_project() || (outgoing.project_doubted && now >= project_at_)) return Exchange::project;
  if (outgoing.failure) return Exchange::failure;
  if (outgoing.work && now >= pacing_.idle_at()) return Exchange::work;
  if (outgoing.units && now >= heartbeat_at_) return Exchange::heartbeat;
  if (outgoing.commit) return Exchange::commit;
  if (outgoing.units) alarm.at(heartbeat_at_);
  for (const SteadyTime at : {pacing_.idle_at(), pacing_.busy_at()})
    if (at > now) alarm.at(at);
  return Exchange::none;
}

void ServerSession::exchange(io::HttpRequest request, Handler handler) {
  CHECK_TRUE(!busy());
  busy_since_ = services_.clock.steady();
  auto job = [this, server = server_, request = std::move(request),
              handler = std::move(handler)](transport::JobContext& context) mutable -> transport::Completion {
    auto answer =
        std::make_shared<transport::Answer>(transport::call(context.http, server, std::move(request)));
    return [this, answer, handler = std::move(handler)] {
      busy_since_.reset();
      const SteadyTime now = services_.clock.steady();
      after_exchange(*answer, handler(*answer, now), now);
    };
  };
  workers_.submit(transport::Queue::control, std::move(job));
}

void ServerSession::after_exchange(const transport::Answer& answer, const Status& outcome, SteadyTime now) {
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
    events_.push_back(HostRevoked{error.message});
    return;
  }
  silent_until_ = now + backoff_.failed(services_.random, answer.retry_after);
  if (trouble_ != error.message) spdlog::warn("{}: {}", server_.base_url, error.message);
  trouble_ = error.message;
}

void ServerSession::set_interval(double seconds, SteadyTime now) {
  heartbeat_at_ = now + from_seconds(std::clamp(seconds, interval_min,
                                                static_cast<double>(limits::retry_after_seconds_max)));
}

void ServerSession::fetch_project(SteadyTime now) {
  project_at_ = now + project_retry;
  exchange(transport::get_request(server_, "/v1/project"),
           [this](const transport::Answer& answer, SteadyTime at) -> Status {
             TRY_ASSIGN(auto document, understand<protocol::SignedStatement>(answer));
             TRY(trust_.accept_project(document, services_.clock.now()));
             events_.push_back(ProjectRenewed{std::move(document)});
             heartbeat_at_ = at;  // the first word to a server is what this host holds
             return {};
           });
}

void ServerSession::send(protocol::FailureReport report) {
  io::HttpRequest request = transport::json_request(server_, "/v1/failure", protocol::encode(report));
  exchange(std::move(request),
           [this, report = std::move(report)](const transport::Answer& answer, SteadyTime) -> Status {
             const Status outcome = outcome_of(answer.reply);
             events_.push_back(FailureAnswered{report, outcome});
             return outcome;
           });
}

void ServerSession::note_work(const protocol::WorkReply& reply, bool urgent, SteadyTime now) {
  set_interval(reply.interval_seconds, now);
  if (reply.slowest_performance > 0) slowest_performance_ = reply.slowest_performance;
  no_work_reason_ = reply.grants.size() < asked_.size() ? reply.reason : std::string();
  pacing_.answered(
      {asked_.size(), reply.grants.size(), urgent, !reply.units.empty(), reply.retry_after_seconds}, now,
      services_.random);
}

void ServerSession::send(const protocol::WorkRequest& request) {
  ++work_requests_;
  asked_ = request.slots;
  const bool urgent = std::any_of(asked_.begin(), asked_.end(), [](const auto& slot) { return slot.urgent; });
  std::vector<UnitId> commits;
  for (const protocol::CommitRequest& commit : request.commits) commits.push_back(commit.unit);
  exchange(
      transport::json_request(server_, "/v1/work", protocol::encode(request)),
      [this, urgent, commits = std::move(commits)](const transport::Answer& answer, SteadyTime at) -> Status {
        auto reply = understand<protocol::WorkReply>(answer);
        if (reply.ok()) note_work(*reply, urgent, at);
        asked_.clear();
        const Status outcome = outcome_of(reply);
        events_.push_back(WorkAnswered{commits, std::move(reply)});
        return outcome;
      });
}

void ServerSession::send(const protocol::HeartbeatRequest& request, SteadyTime now) {
  set_interval(static_cast<double>(trust_.project().document.heartbeat_seconds), now);
  exchange(transport::json_request(server_, "/v1/heartbeat", protocol::encode(request)),
           [this](const transport::Answer& answer, SteadyTime at) -> Status {
             heartbeat_at_ = at;  // after a failure: as soon as the back-off allows
             TRY_ASSIGN(auto reply, understand<protocol::HeartbeatReply>(answer));
             set_interval(reply.interval_seconds, at);
             events_.push_back(HeartbeatAnswered{std::move(reply)});
             return {};
           });
}

void ServerSession::send(const protocol::CommitRequest& request) {
  exchange(transport::json_request(server_, "/v1/commit", protocol::encode(request)),
           [this, unit = request.unit](const transport::Answer& answer, SteadyTime) -> Status {
             auto acknowledgement = understand<protocol::SignedStatement>(answer);
             const Status outcome = outcome_of(acknowledgement);
             events_.push_back(CommitAnswered{unit, std::move(acknowledgement)});
             return outcome;
           });
}

bool ServerSession::asks(int slot, SteadyTime now) const {
  return busy() && now <= answer_due() &&
         std::any_of(asked_.begin(), asked_.end(), [slot](const auto& one) { return one.slot == slot; });
}

bool ServerSession::askable(SteadyTime now, bool urgent) const {
  if (busy() && now > answer_due()) return false;
  return now >= silent_until_ && pacing_.may_ask(now, urgent);
}

void ServerSession::forget_waits(SteadyTime now) {
  silent_until_ = now;
  heartbeat_at_ = now;
  pacing_.forget(now);
  backoff_.succeeded();
}

}  // namespace gleaner::engine
