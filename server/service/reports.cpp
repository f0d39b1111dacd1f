// What hosts say of the units they hold: heartbeats, failures, good-byes.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "server/service/service.h"
#include "shared/base/limits.h"

namespace gleaner::service {
namespace {
constexpr std::size_t recent_failures_max = 100;
}

void Service::heartbeat(HostId host_id, protocol::HeartbeatRequest request,
                        Done<protocol::HeartbeatReply> done) {
  decide<protocol::HeartbeatReply>(
      [this, host_id,
       request = std::move(request)](Result<protocol::HeartbeatReply>& result) mutable -> Status {
        const auto found = model_.hosts.find(host_id);
        if (found == model_.hosts.end()) {
          result = Error{ErrorKind::unauthorized, "this host is not known: join again"};
          return {};
        }
        TRY(touch_host(found->second));
        protocol::HeartbeatReply reply;
        TRY(take_reports(host_id, request.units, reply.units));
        if (request.saved) keep_saved(found->second, *request.saved);
        reply.interval_seconds = heartbeat_interval(found->second);
        result = std::move(reply);
        return {};
      },
      std::move(done));
}

Status Service::take_reports(HostId host, const std::vector<protocol::UnitReport>& reports,
                             std::vector<protocol::UnitOrder>& orders) {
  for (const auto& report : reports) {
    const auto place = model_.open_units.find(report.unit);
    const auto found =
        place == model_.open_units.end() ? model_.problems.end() : model_.problems.find(place->second);
    if (found == model_.problems.end() || !found->second.stage) {
      orders.push_back(
          {report.unit, protocol::UnitAction::cancel, report.finished, "it is no longer needed"});
      continue;
    }
    Problem& problem = found->second;
    policy::Changes changes;
    protocol::UnitOrder order = problem.stage->report(host, report, now(), changes);
    if (order.action == protocol::UnitAction::go_on && problem.row.state == protocol::ProblemState::paused) {
      order.action = protocol::UnitAction::pause;
      order.reason = "the problem is paused";
    }
    orders.push_back(std::move(order));
    TRY(store_stage(problem, changes));
  }
  return {};
}

void Service::keep_saved(const Host& host, std::vector<protocol::SavedItem>& saved) {
  if (host.row.disagreements > 0) return;  // as wrong as its results were, for all anybody knows
  for (protocol::SavedItem& one : saved) {
    const auto place = model_.open_units.find(one.unit);
    const auto found =
        place == model_.open_units.end() ? model_.problems.end() : model_.problems.find(place->second);
    if (found == model_.problems.end()) continue;
    Problem& problem = found->second;
    if (!problem.stage || !problem.manifest.checkpoint) continue;
    // Before the stage counts on it: whoever goes on with an item needs what was saved.
    if (!problem.saved.has_room(one.item, one.data.size())) {
      if (!std::exchange(problem.saved_full, true))
        spdlog::warn("problem {}: what hosts save of their items takes more than {} MiB: no more is kept",
                     problem.row.id.value, limits::saved_per_problem_bytes_max >> 20);
      continue;
    }
    if (problem.stage->save(host.row.id, one.unit, one.item, one.share, now()))
      problem.saved.put(one.item, std::move(one.data));
  }
}

double Service::heartbeat_interval(const Host& host) const {
  double interval = static_cast<double>(configuration_.heartbeat_seconds);
  std::set<ProblemId> seen;
  for (const UnitId unit : host.units) {
    const auto place = model_.open_units.find(unit);
    if (place == model_.open_units.end() || !seen.insert(place->second).second) continue;
    const Problem& problem = model_.problems.at(place->second);
    if (problem.stage) interval = std::min(interval, problem.stage->view().heartbeat_seconds(now()));
  }
  return std::max(1.0, interval);
}

void Service::failure(HostId host_id, protocol::FailureReport report, StatusDone done) {
  decide<bool>(
      [this, host_id, report = std::move(report)](Result<bool>& result) -> Status {
        result = true;
        const auto host_found = model_.hosts.find(host_id);
        const auto place = model_.open_units.find(report.unit);
        if (host_found == model_.hosts.end() || place == model_.open_units.end()) return {};  // over already
        Host& host = host_found->second;
        Problem& problem = model_.problems[place->second];
        if (!problem.stage || !host.units.contains(report.unit)) return {};
        TRY(touch_host(host));
        storage::FailureRow row{report.unit, host_id,     problem.row.id, problem.row.stage,
                                report.kind, report.item, report.message, now()};
        TRY(store_->add_failure(row));
        problem.recent_failures.push_back(std::move(row));
        if (problem.recent_failures.size() > recent_failures_max)
          problem.recent_failures.erase(problem.recent_failures.begin());
        const std::string text = std::string(protocol::name_of(report.kind)) + ": " + report.message;
        spdlog::warn("unit {} of problem {} failed on host {}: {}", report.unit.value, problem.row.id.value,
                     host_id.value, text);
        host.row.health = policy::after_failure(host.row.health, text, now());
        TRY(store_->update_host(host.row));
        policy::Changes changes;
        problem.stage->give_back(host_id, report.unit, policy::Stage::GiveBack::failed, report.item, text,
                                 now(), changes);
        return store_stage(problem, changes);
      },
      [done = std::move(done)](Result<bool> result) {
        done(result.ok() ? Status{} : Status{result.error()});
      });
}

void Service::leave(HostId host_id, StatusDone done) {
  decide<bool>(
      [this, host_id](Result<bool>& result) -> Status {
        result = true;
        const auto found = model_.hosts.find(host_id);
        if (found == model_.hosts.end()) return {};
        Host& host = found->second;
        for (auto& [id, problem] : model_.problems) {
          if (!problem.stage) continue;
          policy::Changes changes;
          problem.stage->host_left(host_id, "the host left the project", now(), changes);
          TRY(store_stage(problem, changes));
        }
        host.row.state = protocol::HostState::left;
        host.row.state_reason = "left by itself";
        TRY(store_->update_host(host.row));
        update_slowest(model_);
        const std::unique_lock lock(tokens_mutex_);
        tokens_.erase(host.row.token_digest);
        return {};
      },
      [done = std::move(done)](Result<bool> result) {
        done(result.ok() ? Status{} : Status{result.error()});
      });
}

}  // namespace gleaner::service
