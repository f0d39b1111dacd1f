// Those that found nothing at a relay and wait with it for what comes from above: hosts, or relays. As
// server/service/service_order.cpp does it.
#include <algorithm>
#include <utility>

#include "tools/simulator/relays/node.h"

namespace gleaner::simulator {
namespace {

constexpr std::size_t together_max = 256;
constexpr double serves_every = 1;

}  // namespace

// Of at most `together_max`, the oldest.
class RelayNode::Serving {
 public:
  explicit Serving(RelayNode& node) : node_(node), free_only_(node.relay_->more_may_come()) {
    std::vector<std::pair<std::uint64_t, std::size_t>> oldest;
    for (const auto& [child, waiting] : node.waiting_) oldest.emplace_back(waiting.number, child);
    std::sort(oldest.begin(), oldest.end());
    oldest.resize(std::min(oldest.size(), together_max));
    for (const auto& [number, child] : oldest) add(child, number);
    fill_in_unknown();
  }

  void serve() {
    while (true) {
      if (node_.stage_.ledger().free().empty())
        for (std::size_t i = 0; i < children_.size(); ++i)
          if (!is_over(i)) view_.children[i].requests = 0;
      const auto choice = node_.serving_->choose(view_);
      if (!choice) return;
      serve_slot(choice->child);
    }
  }

  // Answers those whose wait is over.
  void end() {
    for (std::size_t i = 0; i < children_.size(); ++i) {
      if (!got_[i] && !is_over(i)) continue;
      auto found = node_.waiting_.extract(children_[i]);
      Waiting& waiting = found.mapped();
      if (node_.place_.relays > 0) {
        node_.answer(waiting.letter, std::move(waiting.reply), waiting.bytes);
        continue;
      }
      Child& child = node_.children_.at(children_[i]);
      const double answer_after = node_.world_.request_delay / 2;
      child.asks_at = child.busy_until = node_.now_ + answer_after;
      child.heartbeat_at = node_.now_ + answer_after + node_.stage_.heartbeat_seconds(node_.stamp());
      node_.rest(child, lacks_[i] > 0 ? std::max(waiting.wait, rests_[i]) : 0, got_[i], answer_after);
      node_.agenda_.set(children_[i], node_.host_next(children_[i]));
    }
  }

 private:
  void add(std::size_t child, std::uint64_t number) {
    planning::ChildView view;
    view.oldest_request = number;
    view.requests = 1;
    if (node_.place_.relays == 0) {
      const WorldHost& host = node_.world_.hosts[node_.place_.first_host + child];
      view.requests = host.slots;
      view.task_down = node_.world_.problem.bytes_in * static_cast<double>(host.down_byte_seconds);
      view.result_up = node_.world_.problem.bytes_out * static_cast<double>(host.up_byte_seconds);
    }
    children_.push_back(child);
    lacks_.push_back(view.requests);
    rests_.push_back(0);
    got_.push_back(false);
    view_.children.push_back(view);
  }

  // A link without a limit says nothing of its rate: it counts as the mean.
  void fill_in_unknown() {
    const auto fill = [this](double planning::ChildView::*time) {
      double sum = 0;
      int known = 0;
      for (const auto& child : view_.children) {
        sum += child.*time;
        known += child.*time > 0 ? 1 : 0;
      }
      for (auto& child : view_.children)
        if (child.*time == 0 && known > 0) child.*time = sum / known;
    };
    fill(&planning::ChildView::task_down);
    fill(&planning::ChildView::result_up);
  }

  [[nodiscard]] bool is_over(std::size_t i) const {
    return !free_only_ || node_.waiting_.at(children_[i]).until <= node_.now_;
  }

  void serve_slot(std::size_t i) {
    planning::ChildView& view = view_.children[i];
    const bool got = node_.place_.relays > 0 ? serve_relay(i) : serve_host(i);
    if (!got) {
      view.requests = 0;  // nothing here is for it
      return;
    }
    node_.serving_->served(view_, i);
    --view.requests;
    --lacks_[i];
    ++view.tasks_given;
    got_[i] = true;
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
    const std::size_t place = child.slots - static_cast<std::size_t>(view_.children[i].requests);
    return node_.give_unit(host_of(children_[i]), child, place, node_.world_.request_delay / 2, rests_[i]);
  }

  RelayNode& node_;
  const bool free_only_;
  planning::RelayView view_;
  std::vector<std::size_t> children_;  // in the order of the view
  std::vector<int> lacks_;             // slots that got nothing
  std::vector<double> rests_;          // what those are told
  std::vector<bool> got_;
};

void RelayNode::keep_waiting(std::size_t child, Waiting waiting) {
  waiting.number = ++waited_;
  if (waiting_.empty()) serves_at_ = now_ + serves_every;
  waiting_.insert_or_assign(child, std::move(waiting));
}

void RelayNode::serve_waiting() {
  serves_at_ = now_ + serves_every;
  if (in(off_)) return waiting_.clear();
  // Who is off has hung up.
  if (place_.relays == 0)
    std::erase_if(waiting_, [this](const auto& entry) { return !children_.on(children_.at(entry.first)); });
  for (std::size_t left = waiting_.size(); left > 0; left -= std::min(left, together_max)) {
    Serving serving(*this);
    serving.serve();
    serving.end();
    if (stage_.ledger().free().empty() && relay_->more_may_come()) break;
  }
  if (!waiting_.empty()) relay_->missed();
  check();
}

}  // namespace gleaner::simulator
