#include "server/service/service_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "server/service/describe.h"
#include "server/service/dispatch.h"
#include "server/service/reports.h"
#include "shared/planning/task_tree.h"

namespace gleaner::service {
namespace {

// Of one choice: geo looks at all pairs, otf solves a linear program.
constexpr std::size_t together_max = 256;
// What is known of a host's link holds for as long as its longest unit (R2): whose link carries anything, it
// carries something within that time.
constexpr double link_lasts = 1200;
// Of a planned order: who has waited within that time, units of hosts and all, has been here.
constexpr Duration counted_for = std::chrono::hours{1};

bool more_may_come(const Upstream& upstream) {
  return upstream.relays.empty() || !problems_that_wait(upstream).empty();
}

bool something_is_free(const Model& model) {
  return std::any_of(model.problems.begin(), model.problems.end(), [](const auto& entry) {
    const Problem& problem = entry.second;
    return problem.row.state == protocol::ProblemState::running && problem.stage != nullptr &&
           !problem.stage->view().ledger().free().empty();
  });
}

bool is_rate(double rate) {
  return std::isfinite(rate) && rate > 0;
}

// Seconds that so many bytes take each of the links. Of which no rate is known, they count as the mean; those
// that were not used for long drift to the best, so that no bad transfer shuts anybody out.
class LinkTimes {
 public:
  explicit LinkTimes(double bytes) : bytes_(bytes) {}
  // `unused`: seconds for which the link has carried nothing.
  void add(double rate, double unused = 0) {
    const bool known = is_rate(rate);
    times_.push_back(known ? bytes_ / rate : -1);
    unused_.push_back(unused);
    if (!known) return;
    sum_ += times_.back();
    least_ = std::min(least_, times_.back());
    ++known_;
  }
  [[nodiscard]] double of(std::size_t link) const {
    if (times_[link] >= 0) return planning::aged(times_[link], least_, unused_[link], link_lasts);
    return known_ > 0 ? sum_ / known_ : 0;
  }

 private:
  double bytes_, sum_ = 0, least_ = std::numeric_limits<double>::infinity();
  int known_ = 0;
  std::vector<double> times_, unused_;
};

class Serving {
 public:
  Serving(Transaction& tx, planning::ServingRule& rule, std::span<const WaitingRequest> waiting,
          SteadyTime now)
      : tx_(tx),
        rule_(rule),
        waiting_(waiting),
        now_(now),
        in_turn_(tx.settings.configuration.service_order == "round-robin"),
        hopeless_(!more_may_come(*tx.model.upstream)),
        outcomes_(waiting.size()),
        granted_(waiting.size()) {
    look_at_links();
    if (!in_turn_ && tx.settings.configuration.service_order != "otf") return;
    plan();
    count_together();
  }

  Status serve() {
    while (true) {
      if (!something_is_free(tx_.model))
        for (std::size_t i = 0; i < waiting_.size(); ++i)
          if (!is_over(i)) view_.children[i].requests = 0;
      const auto choice = rule_.choose(view_);
      if (!choice) return {};
      TRY(serve_slot(*choice));
    }
  }

  // `place`: of the first of these.
  void take_ended(std::size_t place, std::vector<EndedWait>& ended) {
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      if (granted_[i] == 0 && !is_over(i)) continue;
      const WorkOutcome& before = waiting_[i].outcome;
      WorkOutcome outcome = outcomes_[i] ? std::move(*outcomes_[i]) : before;
      if (granted_[i] < waiting_[i].request.slots.size() && outcome.reply.retry_after_seconds <= 0) {
        outcome.reply.retry_after_seconds = before.reply.retry_after_seconds;
        outcome.reply.reason = before.reply.reason;
      }
      ended.push_back({place + i, std::move(outcome)});
    }
  }

 private:
  // Null: it is none to be served any more.
  [[nodiscard]] Host* host(std::size_t place) const {
    const auto found = tx_.model.hosts.find(waiting_[place].host);
    if (found == tx_.model.hosts.end() || found->second.row.state != protocol::HostState::active)
      return nullptr;
    if (granted_[place] == 0 && !found->second.units.empty()) return nullptr;  // another request brought them
    return &found->second;
  }
  [[nodiscard]] FromHere& from_here(std::size_t place) const {
    return tx_.model.upstream->from_here.try_emplace(waiting_[place].host, FromHere{0, {}, tx_.now})
        .first->second;
  }
  [[nodiscard]] bool is_over(std::size_t place) const {
    return hopeless_ || waiting_[place].until <= now_ || host(place) == nullptr;
  }

  void look_at_links() {
    const Upstream& upstream = *tx_.model.upstream;
    // Before anything has moved: as if as much went each way.
    const bool none = !(upstream.item_down_bytes > 0) && !(upstream.item_up_bytes > 0);
    const double down_bytes = none ? 1 : upstream.item_down_bytes,
                 up_bytes = none ? 1 : upstream.item_up_bytes;
    if (is_rate(upstream.link.download_bytes_per_second))
      view_.task_down = down_bytes / upstream.link.download_bytes_per_second;
    if (is_rate(upstream.link.upload_bytes_per_second))
      view_.result_up = up_bytes / upstream.link.upload_bytes_per_second;
    LinkTimes down(down_bytes), up(up_bytes);
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const Host* const its = host(i);
      const protocol::HostSpeeds speeds = its != nullptr ? its->row.speeds : protocol::HostSpeeds{};
      const double unused = std::max(0.0, to_seconds(tx_.now - from_here(i).link_used_at));
      down.add(speeds.download_bytes_per_second, unused);
      up.add(speeds.upload_bytes_per_second, unused);
    }
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      planning::ChildView child;
      child.requests = host(i) != nullptr ? static_cast<int>(waiting_[i].request.slots.size()) : 0;
      child.oldest_request = waiting_[i].number;
      child.task_down = down.of(i);
      child.result_up = up.of(i);
      child.tasks_given = from_here(i).units;
      view_.children.push_back(child);
    }
  }

  // What the linear program gives each of them. Whose benchmark is not known counts as the mean.
  void plan() {
    LinkTimes compute(1);
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      compute.add(host(i) != nullptr ? performance_of(tx_.model, *host(i)) : 0);
    constexpr double never = 1e12;
    planning::TaskTree tree{{{never, 0, 0, 0}}};
    double sum = 0;
    for (std::size_t i = 0; i < waiting_.size(); ++i) sum += compute.of(i);
    // As long as an item took a host of them in the mean.
    const double scale = tx_.model.upstream->item_seconds > 0 && sum > 0
                             ? tx_.model.upstream->item_seconds * static_cast<double>(waiting_.size()) / sum
                             : 1;
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      tree.nodes.push_back(
          {sum > 0 ? compute.of(i) * scale : 1, view_.children[i].task_down, view_.children[i].result_up, 0});
    auto best = planning::best_throughput(tree);
    if (!best.ok())
      tx_.effects.warn("nothing is planned for who waits, all count as equal: " + best.error().message);
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      view_.children[i].planned_rate = best.ok() ? best->passed[i + 1] : 1;
    std::vector<std::int64_t> bunches(waiting_.size() + 1, 1);
    // Rates are of items, turns of units: how many is a matter of the rates' proportions, ten for the
    // fastest.
    const double fastest = best.ok() ? *std::max_element(best->own.begin(), best->own.end()) : 0;
    if (fastest > 0) {
      for (double& rate : best->own) rate /= fastest;
      bunches = planning::round_robin_period(tree, *best).bunch;
    }
    // Whose part of a period rounds to nothing has a turn all the same.
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      view_.children[i].bunch = is_planned(i) ? std::max<std::int64_t>(1, bunches[i + 1]) : 0;
  }
  [[nodiscard]] bool is_planned(std::size_t place) const { return view_.children[place].planned_rate > 1e-9; }
  // By the plan it is served when this is lowest. Turns are whole, shares of a plan are not.
  [[nodiscard]] double turn_of(const planning::ChildView& child) const {
    return in_turn_ ? static_cast<double>(child.tasks_given / child.bunch)
                    : static_cast<double>(child.tasks_given) / child.planned_rate;
  }

  // Who was not here has no claim on what others had meanwhile: it begins where the one of them stands who is
  // next.
  void count_together() {
    double next = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      if (is_planned(i) && was_here(i)) next = std::min(next, turn_of(view_.children[i]));
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      if (!is_planned(i)) continue;
      planning::ChildView& child = view_.children[i];
      FromHere& here = from_here(i);
      const double share = in_turn_ ? static_cast<double>(child.bunch) : child.planned_rate;
      if (!was_here(i) && std::isfinite(next))
        here.units = std::max<std::int64_t>(here.units, std::llround(next * share));
      child.tasks_given = here.units;
      here.counted_at = tx_.now;
    }
  }
  [[nodiscard]] bool was_here(std::size_t place) const {
    return tx_.now - from_here(place).counted_at <= counted_for;
  }

  Status serve_slot(const planning::ServingChoice& choice) {
    planning::ChildView& child = view_.children[choice.child];
    const WaitingRequest& its = waiting_[choice.child];
    auto& outcome = outcomes_[choice.child];
    if (!outcome) outcome = its.outcome;
    protocol::WorkRequest request = its.request;
    request.slots = {its.request.slots[its.request.slots.size() - static_cast<std::size_t>(child.requests)]};
    const std::size_t before = outcome->relay_grants.size();
    Host& served = *host(choice.child);
    TRY(hand_out(tx_, served, request, *outcome));
    if (outcome->relay_grants.size() == before) {
      child.requests = 0;  // nothing here is for it
      return {};
    }
    const auto others = std::count_if(view_.children.begin(), view_.children.end(),
                                      [](const planning::ChildView& each) { return each.requests > 0; }) -
                        1;
    if (others > 0)
      tx_.effects.add(effect::LogLine{effect::LogLine::Level::debug,
                                      fmt::format("host {} is served before {} more that wait: {}",
                                                  its.host.value, others, choice.text())});
    rule_.served(view_, choice.child);
    --child.requests;
    ++child.tasks_given;
    ++granted_[choice.child];
    outcome->reply.interval_seconds = heartbeat_interval(tx_, served);
    outcome->reply.stages = stages_for(tx_, served);
    if (auto progress = progress_for(tx_, served); !progress.empty())
      outcome->reply.progress = std::move(progress);
    return {};
  }

  Transaction& tx_;
  planning::ServingRule& rule_;
  const std::span<const WaitingRequest> waiting_;
  const SteadyTime now_;
  const bool in_turn_;
  const bool hopeless_;
  planning::RelayView view_;
  std::vector<std::optional<WorkOutcome>> outcomes_;  // of who was chosen
  std::vector<std::size_t> granted_;                  // slots
};

}  // namespace

Duration wait_of(const Transaction& tx, const Host& host, const protocol::WorkRequest& request,
                 const WorkOutcome& outcome) {
  const auto& upstream = tx.model.upstream;
  if (!upstream || !host.units.empty() || !outcome.relay_grants.empty() || !more_may_come(*upstream))
    return {};
  const bool idle = std::any_of(request.slots.begin(), request.slots.end(),
                                [](const protocol::SlotRequest& slot) { return slot.urgent; });
  if (!idle || !held_back(tx.model, host, tx.now).empty()) return {};
  return host.row.children > 0 ? longest_wait_of_relay : longest_wait;
}

Status serve_waiting(Transaction& tx, planning::ServingRule& rule, const std::vector<WaitingRequest>& waiting,
                     SteadyTime now, std::vector<EndedWait>& ended) {
  for (std::size_t begin = 0; begin < waiting.size(); begin += together_max) {
    const auto some = std::span(waiting).subspan(begin, std::min(together_max, waiting.size() - begin));
    Serving serving(tx, rule, some, now);
    TRY(serving.serve());
    serving.take_ended(begin, ended);
  }
  if (ended.size() < waiting.size()) note_missed(*tx.model.upstream);
  return {};
}

}  // namespace gleaner::service
