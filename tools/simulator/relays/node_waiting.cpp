// Those that found nothing at a relay and wait with it for what comes from above: hosts, or relays. Who of
// them is next the live relay's policy::ServiceOrder says.
#include <algorithm>
#include <utility>

#include "tools/simulator/relays/node.h"

namespace gleaner::simulator {
namespace {

constexpr double serves_every = 1;

double rate_of(double byte_seconds) {
  return byte_seconds > 0 ? 1 / byte_seconds : 0;
}

}  // namespace

// Of at most ServiceOrder::most, the oldest.
class RelayNode::Serving {
 public:
  explicit Serving(RelayNode& node)
      : node_(node),
        children_(oldest(node)),
        order_(*node.serving_, traffic(), waiting(), node.stamp()),
        rests_(children_.size()) {
    CHECK_TRUE(order_.trouble().empty());  // a live relay logs it and goes on
    for (std::size_t i = 0; i < children_.size(); ++i) node_.from_here_[children_[i]] = order_.here(i);
  }

  void serve() {
    while (const auto choice = order_.next(!node_.stage_.view().ledger().free().empty())) {
      const std::size_t i = choice->child;
      const bool got = node_.place_.relays > 0 ? serve_relay(i) : serve_host(i);
      got ? order_.served(i) : order_.nothing_for(i);
    }
  }

  // Answers those whose wait is over.
  void end() {
    for (std::size_t i = 0; i < children_.size(); ++i) {
      const bool got = order_.given(i) > 0;
      if (!got && !is_over(i)) continue;
      auto found = node_.waiting_.extract(children_[i]);
      Waiting& waiting = found.mapped();
      if (node_.place_.relays > 0) {
        node_.answer(waiting.letter, std::move(waiting.reply), waiting.bytes);
        continue;
      }
      Child& child = node_.children_.at(children_[i]);
      const double answer_after = node_.world_.request_delay / 2;
      child.asks_at = child.busy_until = node_.now_ + answer_after;
      child.heartbeat_at = node_.now_ + answer_after + node_.stage_.view().heartbeat_seconds(node_.stamp());
      const bool lacks = order_.given(i) < child.slots;
      node_.rest(child, lacks ? std::max(waiting.wait, rests_[i]) : 0, got, answer_after);
      node_.agenda_.set(children_[i], node_.host_next(children_[i]));
    }
  }

 private:
  static std::vector<std::size_t> oldest(const RelayNode& node) {
    std::vector<std::pair<std::uint64_t, std::size_t>> all;
    for (const auto& [child, waiting] : node.waiting_) all.emplace_back(waiting.number, child);
    std::sort(all.begin(), all.end());
    all.resize(std::min(all.size(), policy::ServiceOrder::most));
    std::vector<std::size_t> children;
    for (const auto& [number, child] : all) children.push_back(child);
    return children;
  }

  [[nodiscard]] policy::RelayTraffic traffic() const {
    const RelayWorld& world = node_.world_;
    return {{rate_of(world.down_byte_seconds), rate_of(world.up_byte_seconds)},
            world.problem.bytes_in,
            world.problem.bytes_out,
            world.problem.item_seconds};
  }
  [[nodiscard]] std::vector<policy::WaitingChild> waiting() const {
    std::vector<policy::WaitingChild> all;
    for (std::size_t i = 0; i < children_.size(); ++i) {
      const Waiting& its = node_.waiting_.at(children_[i]);
      policy::WaitingChild child{1, its.number, is_over(i), {}, 0, node_.from_here_[children_[i]]};
      // It has just said how fast it is.
      if (child.here.link_used_at == Timestamp{}) child.here.link_used_at = node_.stamp();
      if (node_.place_.relays > 0) {
        child.performance = its.letter.message.ask->performance;
      } else {
        const WorldHost& host = node_.world_.hosts[node_.place_.first_host + children_[i]];
        child.slots = host.slots;
        child.link = {rate_of(host.down_byte_seconds), rate_of(host.up_byte_seconds)};
        child.performance = host.slots * static_cast<double>(host.performance);
      }
      all.push_back(child);
    }
    return all;
  }

  [[nodiscard]] bool is_over(std::size_t i) const {
    return hopeless_ || node_.waiting_.at(children_[i]).until <= node_.now_;
  }

  bool serve_relay(std::size_t i) {
    Waiting& waiting = node_.waiting_.at(children_[i]);
    auto served = node_.serve_stage(waiting.letter);
    if (!served.reply.grant) return false;
    waiting.reply.grant = served.reply.grant;
    waiting.reply.retry_after = 0;
    return true;
  }

  bool serve_host(std::size_t i) {
    Child& child = node_.children_.at(children_[i]);
    return node_.give_unit(host_of(children_[i]), child, order_.given(i), node_.world_.request_delay / 2,
                           rests_[i]);
  }

  RelayNode& node_;
  const bool hopeless_ = !node_.relay_->more_may_come();
  const std::vector<std::size_t> children_;
  policy::ServiceOrder order_;  // of `children_`, in their order
  std::vector<double> rests_;   // what those are told that lack units
};

void RelayNode::keep_waiting(std::size_t child, Waiting waiting) {
  waiting.number = ++waited_;
  if (waiting_.empty()) serves_at_ = now_ + serves_every;
  waiting_.insert_or_assign(child, std::move(waiting));
}

void RelayNode::note_given(std::size_t child) {
  if (!relay_) return;
  ++from_here_[child].units;
  from_here_[child].link_used_at = stamp();
}

void RelayNode::serve_waiting() {
  serves_at_ = now_ + serves_every;
  if (in(off_)) return waiting_.clear();
  // Who is off has hung up.
  if (place_.relays == 0)
    std::erase_if(waiting_, [this](const auto& entry) { return !children_.on(children_.at(entry.first)); });
  for (std::size_t left = waiting_.size(); left > 0; left -= std::min(left, policy::ServiceOrder::most)) {
    Serving serving(*this);
    serving.serve();
    serving.end();
    if (stage_.view().ledger().free().empty() && relay_->more_may_come()) break;
  }
  if (!waiting_.empty()) relay_->missed();
  check();
}

}  // namespace gleaner::simulator
