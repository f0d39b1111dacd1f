// Which of the hosts that wait at a relay gets what has come. [server/policy/relay/RELAYS.md, "Service
// order"]
#include "server/relay/leases/service_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "server/policy/relay/service_order.h"
#include "server/relay/leases/upstream_model.h"
#include "server/service/core/dispatch_terms.h"
#include "server/service/work/dispatch.h"
#include "server/service/work/reports.h"
#include "server/service/work/waiting_requests.h"

namespace gleaner::service {
namespace {

bool more_may_come(const Upstream& upstream) {
  return upstream.relays.empty() || !upstream.awaited().empty();
}

bool something_is_free(const Model& model) {
  return std::any_of(model.problems.begin(), model.problems.end(), [](const auto& entry) {
    const Problem& problem = entry.second;
    return problem.row.state == protocol::ProblemState::running && problem.stage != nullptr &&
           !problem.stage->view().ledger().free().empty();
  });
}

class Serving {
 public:
  Serving(Transaction& tx, planning::ServingRule& rule, std::span<const WaitingRequest> waiting,
          SteadyTime now)
      : tx_(tx),
        waiting_(waiting),
        now_(now),
        hopeless_(!more_may_come(upstream_of(tx.model))),
        outcomes_(waiting.size()),
        order_(rule, traffic(), children(), tx.now) {
    if (!order_.trouble().empty())
      tx_.effects.warn("no plan for the waiting hosts, all count as equal: " + order_.trouble());
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      upstream_of(tx_.model).from_here[waiting_[i].host] = order_.here(i);
  }

  Status serve() {
    while (const auto choice = order_.next(something_is_free(tx_.model))) TRY(serve_slot(*choice));
    return {};
  }

  // `place`: of the first of these.
  void take_ended(std::size_t place, std::vector<EndedWait>& ended) {
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      if (order_.given(i) == 0 && !is_over(i)) continue;
      const WorkOutcome& before = waiting_[i].outcome;
      WorkOutcome outcome = outcomes_[i] ? std::move(*outcomes_[i]) : before;
      if (order_.given(i) < waiting_[i].request.slots.size() && outcome.reply.retry_after_seconds <= 0) {
        outcome.reply.retry_after_seconds = before.reply.retry_after_seconds;
        outcome.reply.reason = before.reply.reason;
      }
      ended.push_back({place + i, std::move(outcome)});
    }
  }

 private:
  // Null: it is none to be served any more. REQUIRES: it got nothing here; its units came by another request.
  [[nodiscard]] Host* host(std::size_t place) const {
    const auto found = tx_.model.hosts.find(waiting_[place].host);
    const bool waits = found != tx_.model.hosts.end() &&
                       found->second.row.state == protocol::HostState::active && found->second.units.empty();
    return waits ? &found->second : nullptr;
  }
  [[nodiscard]] bool is_over(std::size_t place) const {
    return hopeless_ || waiting_[place].until <= now_ || host(place) == nullptr;
  }

  [[nodiscard]] policy::RelayTraffic traffic() const {
    const Upstream& upstream = upstream_of(tx_.model);
    return {{upstream.link.download_bytes_per_second, upstream.link.upload_bytes_per_second},
            upstream.item_down_bytes,
            upstream.item_up_bytes,
            upstream.item_seconds};
  }
  [[nodiscard]] std::vector<policy::WaitingChild> children() const {
    std::vector<policy::WaitingChild> all;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      policy::WaitingChild child;
      child.number = waiting_[i].number;
      child.over = is_over(i);
      child.here = upstream_of(tx_.model)
                       .from_here.try_emplace(waiting_[i].host, FromHere{0, {}, tx_.now})
                       .first->second;
      if (const Host* its = host(i)) {
        child.slots = static_cast<int>(waiting_[i].request.slots.size());
        child.link = {its->row.speeds.download_bytes_per_second, its->row.speeds.upload_bytes_per_second};
        child.performance = performance_of(tx_.model, *its);
      }
      all.push_back(child);
    }
    return all;
  }

  Status serve_slot(const planning::ServingChoice& choice) {
    const WaitingRequest& its = waiting_[choice.child];
    auto& outcome = outcomes_[choice.child];
    if (!outcome) outcome = its.outcome;
    protocol::WorkRequest request = its.request;
    request.slots = {its.request.slots[order_.given(choice.child)]};
    const std::size_t before = outcome->relay_grants.size();
    Host& served = tx_.model.hosts.at(its.host);
    TRY(hand_out(tx_, served, request, *outcome));
    if (outcome->relay_grants.size() == before) {
      order_.nothing_for(choice.child);
      return {};
    }
    if (const auto others = order_.left() - 1; others > 0)
      tx_.effects.add(effect::LogLine{effect::LogLine::Level::debug,
                                      fmt::format("host {} is served before {} more that wait: {}",
                                                  its.host.value, others, choice.text())});
    order_.served(choice.child);
    outcome->reply.interval_seconds = heartbeat_interval(tx_, served);
    outcome->reply.stages = stages_for(tx_, served);
    if (auto progress = progress_for(tx_, served); !progress.empty())
      outcome->reply.progress = std::move(progress);
    return {};
  }

  Transaction& tx_;
  const std::span<const WaitingRequest> waiting_;
  const SteadyTime now_;
  const bool hopeless_;
  std::vector<std::optional<WorkOutcome>> outcomes_;  // of who was chosen
  policy::ServiceOrder order_;
};

}  // namespace

Duration Upstream::wait_of(const Transaction& tx, const Host& host, const protocol::WorkRequest& request,
                           const WorkOutcome& outcome) const {
  if (!host.units.empty() || !outcome.relay_grants.empty() || !more_may_come(*this)) return {};
  const bool idle = std::any_of(request.slots.begin(), request.slots.end(),
                                [](const protocol::SlotRequest& slot) { return slot.urgent; });
  if (!idle || !held_back(tx.model, host, tx.now).empty()) return {};
  return host.row.children > 0 ? longest_wait_of_relay : longest_wait;
}

Status Upstream::serve_waiting(Transaction& tx, planning::ServingRule& rule,
                               const std::vector<WaitingRequest>& waiting, SteadyTime now,
                               std::vector<EndedWait>& ended) {
  constexpr std::size_t most = policy::ServiceOrder::most;
  for (std::size_t begin = 0; begin < waiting.size(); begin += most) {
    const auto some = std::span(waiting).subspan(begin, std::min(most, waiting.size() - begin));
    Serving serving(tx, rule, some, now);
    TRY(serving.serve());
    serving.take_ended(begin, ended);
  }
  if (ended.size() < waiting.size()) note_missed();
  return {};
}

}  // namespace gleaner::service
