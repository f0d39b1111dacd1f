#include "client/engine/server_session.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "shared/base/limits.h"
#include "shared/crypto/keys.h"

namespace gleaner::engine {
namespace {

constexpr Duration project_retry = std::chrono::minutes{1};
// A ban may end, and this computer may be taken to another network; asking more often changes neither.
constexpr Duration banned_pause = std::chrono::seconds{limits::retry_after_seconds_max};

template <typename Value>
Status outcome_of(const Result<Value>& result) {
  return result.ok() ? Status() : Status(result.error());
}

}  // namespace

Exchange ServerSession::due(const Outgoing& outgoing, SteadyTime now, Alarm& alarm) const {
  if (busy()) return Exchange::none;
  Outgoing told = outgoing;
  told.project = !trust_.knows_project() || project_wanted_ ||
                 ((outgoing.project || relay_doubted_) && now >= project_at_);
  const Exchange due = pacing_.due(told, now);
  if (due == Exchange::none) alarm.at(pacing_.next(told, now));
  return due;
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

// Who refuses something is there. What is not this relay is as good as silence.
void ServerSession::note_silence(const Status& outcome, SteadyTime now) {
  if (!relay_.valid()) return;
  const bool silent = !outcome.ok() && (outcome.error().kind == ErrorKind::unavailable ||
                                        outcome.error().kind == ErrorKind::untrusted);
  if (silent)
    silence_.unheard(services_.clock.now(), now);
  else
    silence_.heard();
}

void ServerSession::move(state::Move move, const std::string& why, Because because) {
  CHECK_TRUE(!busy());
  busy_since_ = services_.clock.steady();
  spdlog::warn("{}", why);
  auto job = [this, because, move = std::move(move)](transport::JobContext&) -> transport::Completion {
    return [this, because, moved = move()] {
      busy_since_.reset();
      const SteadyTime now = services_.clock.steady();
      if (moved.ok()) {
        events_.emplace_back(Moved{});
        return;
      }
      if (because == Because::relay) {
        spdlog::warn("{}; {} is asked as before", moved.error().message, server_.base_url);
        return silence_.not_taken(now);
      }
      trouble_ = moved.error().message;
      const bool refused =
          moved.error().kind == ErrorKind::forbidden || moved.error().kind == ErrorKind::banned;
      pacing_.failed(refused ? std::optional<Duration>(banned_pause) : std::nullopt, now, services_.random);
    };
  };
  workers_.submit(transport::Queue::control, std::move(job));
}

void ServerSession::after_exchange(const transport::Answer& answer, const Status& outcome, SteadyTime now) {
  note_silence(answer.reply.ok() ? outcome : Status(answer.reply.error()), now);
  if (answer.reply.ok() && outcome.ok()) {
    round_trip_.add(answer.reply->round_trip);
    last_contact_ = now;
    if (!std::exchange(project_fetched_, false)) unknown_host_ = UnknownHost::no;
    if (!trouble_.empty()) spdlog::info("the server answers again");
    trouble_.clear();
    pacing_.succeeded(answer.retry_after, now, services_.random);
    return;
  }
  const Error& error = answer.reply.ok() ? outcome.error() : answer.reply.error();
  if (error.kind == ErrorKind::unauthorized || error.kind == ErrorKind::forbidden) {
    // Not before it has shown once more that it is the project's server: an older copy of it, or a thief's,
    // may not know this host.
    trouble_ = error.message;
    if (unknown_host_ == UnknownHost::confirmed) {
      if (error.kind == ErrorKind::forbidden)
        events_.push_back(HostRevoked{error.message});
      else
        events_.push_back(HostUnknown{error.message});
      return;
    }
    fetch_project_soon();
    if (std::exchange(unknown_host_, UnknownHost::said) == UnknownHost::no) return;  // at once
  }
  // A relay that shows another TLS key may have a new one.
  if (error.kind == ErrorKind::untrusted && relay_.valid()) relay_doubted_ = true;
  const bool banned = error.kind == ErrorKind::banned;
  pacing_.failed(banned ? std::optional<Duration>(banned_pause) : answer.retry_after, now, services_.random);
  const auto pause = std::chrono::ceil<std::chrono::seconds>(pacing_.silent_until() - now).count();
  if (trouble_ != error.message)
    spdlog::warn("{}: {}{}", server_.base_url, error.message,
                 pause > 0 ? fmt::format("; next try in {} s", pause) : "");
  trouble_ = error.message;
}

void ServerSession::fetch_project(SteadyTime now) {
  project_at_ = now + project_retry;
  if (relay_.valid()) return fetch_from_relay();
  exchange(
      transport::get_request(server_, "/v1/project"),
      [this](const transport::Answer& answer, SteadyTime at) { return take_project(answer, nullptr, at); });
}

void ServerSession::fetch_from_relay() {
  CHECK_TRUE(!busy());
  busy_since_ = services_.clock.steady();
  auto job = [this, server = server_](transport::JobContext& context) -> transport::Completion {
    io::HttpClient& client = context.inquiring != nullptr ? *context.inquiring : context.http;
    auto answers = std::make_shared<transport::RelayAnswers>(transport::inquire(client, server.base_url));
    return [this, answers] {
      busy_since_.reset();
      const SteadyTime now = services_.clock.steady();
      after_exchange(answers->project, take_project(answers->project, &answers->relay, now), now);
    };
  };
  workers_.submit(transport::Queue::control, std::move(job));
}

Status ServerSession::take_project(const transport::Answer& answer, const transport::Answer* relay,
                                   SteadyTime at) {
  TRY_ASSIGN(auto document, understand<protocol::SignedStatement>(answer));
  TRY(trust_.accept_project(document, services_.clock.now()));
  std::optional<transport::Relay> certified;
  if (relay != nullptr) {
    TRY_ASSIGN(certified, transport::understand_relay(*relay, trust_.project(), services_.clock.now()));
    if (certified->certificate.relay != relay_) {
      // One that does not know this host may be the same relay, which joined the project anew: joining again
      // shows whether it takes this host's code.
      if (unknown_host_ == UnknownHost::no)
        return Error{ErrorKind::untrusted, "another relay has taken this one's place, \"" +
                                               certified->certificate.name + "\": join with its code"};
      certified.reset();
    }
  }
  if (unknown_host_ == UnknownHost::said) unknown_host_ = UnknownHost::confirmed;
  project_fetched_ = true;
  project_wanted_ = relay_doubted_ = false;
  events_.push_back(ProjectRenewed{std::move(document), std::move(certified)});
  pacing_.heartbeat_soon(at);  // the first word to a server is what this host holds
  return {};
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

protocol::Instance ServerSession::new_instance() {
  std::int64_t id = 0;
  for (const char byte : crypto::random_secret(6)) id = id << 8 | static_cast<unsigned char>(byte);
  return {std::max<std::int64_t>(1, id), 0};
}

void ServerSession::note_instance(std::optional<protocol::InstanceOrder> order) {
  if (order == protocol::InstanceOrder::renew) instance_ = new_instance();
  if (order == protocol::InstanceOrder::part) events_.emplace_back(HostCopied{});
}

void ServerSession::note_work(const protocol::WorkReply& reply, bool urgent, Duration took, SteadyTime now) {
  if (reply.slowest_performance > 0) slowest_performance_ = reply.slowest_performance;
  // Results alone. The heartbeat stays due, since it alone carries what kernels saved.
  if (asked_.empty()) return;
  pacing_.heartbeat_in(reply.interval_seconds, now);
  no_work_reason_ = reply.grants.size() < asked_.size() ? reply.reason : std::string();
  pacing_.work_answered(
      {asked_.size(), reply.grants.size(), urgent, !reply.units.empty(), reply.retry_after_seconds, took},
      now, services_.random);
}

void ServerSession::send(protocol::WorkRequest request) {
  ++work_requests_;
  request.instance = next_instance();
  asked_ = request.slots;
  const bool urgent = std::any_of(asked_.begin(), asked_.end(), [](const auto& slot) { return slot.urgent; });
  std::vector<UnitId> commits;
  for (const protocol::CommitRequest& commit : request.commits) commits.push_back(commit.unit);
  exchange(transport::json_request(server_, "/v1/work", protocol::encode(request)),
           [this, urgent, begun = services_.clock.steady(), commits = std::move(commits)](
               const transport::Answer& answer, SteadyTime at) -> Status {
             auto reply = understand<protocol::WorkReply>(answer);
             if (reply.ok()) note_instance(reply->instance);
             if (reply.ok()) note_work(*reply, urgent, at - begun, at);
             asked_.clear();
             const Status outcome = outcome_of(reply);
             events_.push_back(WorkAnswered{commits, std::move(reply)});
             return outcome;
           });
}

void ServerSession::send(protocol::HeartbeatRequest request, SteadyTime now) {
  request.instance = next_instance();
  pacing_.heartbeat_in(static_cast<double>(trust_.project().document.heartbeat_seconds), now);
  exchange(transport::json_request(server_, "/v1/heartbeat", protocol::encode(request)),
           [this](const transport::Answer& answer, SteadyTime at) -> Status {
             pacing_.heartbeat_soon(at);  // after a failure: as soon as the back-off allows
             TRY_ASSIGN(auto reply, understand<protocol::HeartbeatReply>(answer));
             note_instance(reply.instance);
             pacing_.heartbeat_in(reply.interval_seconds, at);
             events_.push_back(HeartbeatAnswered{std::move(reply)});
             return {};
           });
}

bool ServerSession::asks(int slot, SteadyTime now) const {
  return busy() && now <= answer_due() &&
         std::any_of(asked_.begin(), asked_.end(), [slot](const auto& one) { return one.slot == slot; });
}

void ServerSession::back_off(const Error& why, SteadyTime now) {
  trouble_ = why.message;
  spdlog::warn("a unit is not taken, and goes back to the server: {}", why.message);
  pacing_.failed({}, now, services_.random);
}

void ServerSession::be_silent(Duration time, SteadyTime now) {
  pacing_.failed(time, now, services_.random);
}

bool ServerSession::askable(SteadyTime now, bool urgent) const {
  return !(busy() && now > answer_due()) && pacing_.may_ask(now, urgent);
}

}  // namespace gleaner::engine
