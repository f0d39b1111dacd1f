// What a node and those above and below it say to each other.
#include <algorithm>
#include <ctime>
#include <utility>

#include "tools/simulator/relays/node.h"
#include "tools/simulator/relays/wire_sizes.h"

namespace gleaner::simulator {
namespace {

// A relay that asks for hosts without work, and has none itself, waits so long for what may come from above.
constexpr double longest_wait_of_relay = 5;

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

double RelayNode::bytes_of(const policy::RelayMessage& message) const {
  const WireSizes& wire = wire_sizes();
  double bytes = wire.request + static_cast<double>(message.reports.size()) * wire.report +
                 (message.ask ? wire.slot : 0);
  for (const policy::RelayCommit& commit : message.commits)
    bytes += wire.commit + world_.problem.bytes_out * static_cast<double>(commit.range.size());
  return bytes;
}

void RelayNode::hear(ToParent letter) {
  from_below_.push_back(std::move(letter));
  std::push_heap(from_below_.begin(), from_below_.end(), comes_later<ToParent>);
}

policy::RelayServed RelayNode::serve_stage(const ToParent& letter) {
  const double started = processor_seconds();
  auto served = policy::serve_relay(stage_, host_of(letter.child), letter.message, held_[letter.child],
                                    UnitId{next_unit_}, relay_ && relay_->more_may_come(), stamp(), changes_);
  counts_.policy_seconds += processor_seconds() - started;
  if (served.reply.grant) {
    ++next_unit_;
    ++counts_.grants;
    note_given(letter.child);
  }
  return served;
}

void RelayNode::serve(ToParent& letter) {
  const WireSizes& wire = wire_sizes();
  const policy::RelayMessage& message = letter.message;
  count_message();
  waiting_.erase(letter.child);
  counts_.segments += static_cast<std::int64_t>(message.commits.size());
  counts_.reports += static_cast<std::int64_t>(message.reports.size());
  counts_.requests += message.ask ? 1 : 0;
  auto served = serve_stage(letter);
  took(served.accepted);
  counts_.bytes_up += bytes_of(message);
  const double bytes = wire.reply + static_cast<double>(served.reply.orders.size()) * wire.order +
                       static_cast<double>(message.commits.size()) * wire.acknowledgement;
  const bool missed = relay_ && message.ask && !served.reply.grant;
  if (missed) relay_->missed();
  check();
  if (!relay_ && stage_.view().complete()) over_at_ = now_;
  if (missed && message.ask->urgent && message.reports.empty() && relay_->more_may_come()) {
    letter.message.commits.clear();
    keep_waiting(letter.child,
                 {0, now_ + longest_wait_of_relay, 0, std::move(letter), bytes, std::move(served.reply)});
    return;
  }
  answer(letter, std::move(served.reply), bytes);
}

// `bytes`: without a grant.
void RelayNode::answer(const ToParent& letter, policy::RelayReply reply, double bytes) {
  if (const auto& grant = reply.grant) {
    bytes += wire_sizes().grant;
    counts_.bytes_down += world_.problem.bytes_in * static_cast<double>(grant->range.size());
  }
  counts_.bytes_down += bytes;
  double& free_at = down_free_[letter.child];
  free_at = std::max(free_at, now_) + bytes * world_.down_byte_seconds;
  down.push_back(
      {free_at + world_.request_delay / 2 + world_.latency, letter.child, letter.number, std::move(reply)});
}

// ---- The node above

void RelayNode::hear(ToRelay letter) {
  from_above_.push_back(std::move(letter));
  std::push_heap(from_above_.begin(), from_above_.end(), comes_later<ToRelay>);
}

void RelayNode::answered(const ToRelay& letter) {
  if (letter.number != said_ || gives_up_at_ == Agenda::never || in(cut_) || in(off_)) return;
  gives_up_at_ = Agenda::never;
  relay_->told(letter.reply, stamp(), changes_);
  if (!waiting_.empty()) serve_waiting();
}

void RelayNode::speak() {
  const Timestamp due = relay_->due(stamp());
  // A microsecond more, for what is lost when it is counted in these.
  speaks_at_ = seconds_of(due) + 1e-6;
  if (due > stamp()) return;
  if (in(off_)) {
    speaks_at_ = off_.until;
    return;
  }
  policy::RelayMessage message = relay_->say(place_.performance, stamp());
  ++said_;
  speaks_at_ = Agenda::never;
  gives_up_at_ = now_ + world_.request_delay + 2 * world_.latency + world_.lost_retry;
  if (in(cut_)) {
    ++cuts_;
    return;
  }
  const double bytes = bytes_of(message);
  up_free_ = std::max(up_free_, now_) + bytes * world_.up_byte_seconds;
  gives_up_at_ += up_free_ - now_;
  up.push_back(
      {up_free_ + world_.request_delay / 2 + world_.latency, place_.child, said_, std::move(message)});
}

}  // namespace gleaner::simulator
