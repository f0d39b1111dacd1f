#include "tools/simulator/relays/node.h"

#include <algorithm>
#include <utility>

namespace gleaner::simulator {
namespace {

constexpr double tail_share = 0.95;
// First contacts are spread over a minute, and in short jobs over this part of them.
constexpr double first_contacts = 60, first_share = 1.0 / 120;

template <typename Letter>
Letter take_first(std::vector<Letter>& heap) {
  std::pop_heap(heap.begin(), heap.end(), comes_later<Letter>);
  Letter letter = std::move(heap.back());
  heap.pop_back();
  return letter;
}

// Closed units that a stage remembers for late results: of a thousand relays, all that they would is too
// much.
constexpr std::size_t closed_least = 1000, closed_share = 10;

policy::StageSetup setup_of(const RelayWorld& world, const RelayNode::Place& place) {
  const GridProblem& problem = world.problem;
  policy::StageSetup setup;
  setup.items = problem.items;
  if (problem.hints) setup.costs = problem.hint_costs.empty() ? problem.costs : problem.hint_costs;
  setup.sizing = world.sizing;
  setup.commit_seconds = world.commit_seconds;
  setup.may_split = problem.may_split;
  setup.rules = world.rules;
  setup.explain = false;
  setup.elsewhere = place.level > 0;
  setup.closed_units_max =
      std::max({closed_least, (place.end_host - place.first_host) / closed_share, 100 * place.relays});
  if (world.benchmark_known) setup.benchmark_worth = 1 / problem.item_seconds;
  return setup;
}

}  // namespace

RelayNode::RelayNode(const RelayWorld& world, const WorldWork& work, const Place& place)
    : world_(world),
      work_(work),
      place_(place),
      stage_(setup_of(world, place)),
      children_(world, work.costs, place.first_host, place.end_host),
      agenda_(std::max<std::size_t>(1, children_.size())),
      random_(place.seed),
      held_(place.relays),
      down_free_(place.relays, 0) {
  for (std::size_t i = place.first_host; i < place.end_host && links_.empty(); ++i)
    if (world.hosts[i].down_byte_seconds > 0 || world.hosts[i].up_byte_seconds > 0)
      links_.resize(place.end_host - place.first_host);
  for (std::size_t i = 0; i < place.relays; ++i) stage_.apply(policy::AdmitRelayEvent{host_of(i)}, stamp());
  for (std::size_t i = 0; i < children_.size(); ++i) {
    const Child& child = children_.at(i);
    agenda_.set(i, child.lively < 0 ? first_contact() : children_.next_event(child));
  }
  counts_.nodes = 1;
  if (place.level == 0) return;
  relay_.emplace(stage_, world.relay);
  serving_ = planning::make_serving_rule(world.service).value();
  from_here_.resize(std::max(children_.size(), place.relays));
  begin(cut_, world.cut_gap, world.cut_length);
  begin(off_, world.off_gap, world.off_length);
  if (world.vanish_mean > 0) vanish_at_ = random_.exponential(world.vanish_mean);
}

// ---- Time

double RelayNode::first_contact() {
  return random_.uniform() * std::min(first_contacts, first_share * world_.ideal_seconds);
}

double RelayNode::seconds_of(Timestamp time) const {
  return time == Timestamp::max() ? Agenda::never : to_seconds(time - start_);
}

void RelayNode::begin(Spell& spell, double gap, double length) {
  if (gap <= 0) return;
  spell.gap = gap;
  spell.length = length;
  spell.from = now_ + random_.exponential(gap);
  spell.until = spell.from + random_.exponential(length);
}

bool RelayNode::in(Spell& spell) {
  while (spell.until <= now_) begin(spell, spell.gap, spell.length);
  return spell.from <= now_;
}

double RelayNode::next() const {
  if (gone_) return Agenda::never;
  double first = std::min(agenda_.time(), vanish_at_);
  if (!from_below_.empty()) first = std::min(first, from_below_.front().at);
  if (!from_above_.empty()) first = std::min(first, from_above_.front().at);
  if (!uploads_.empty()) first = std::min(first, uploads_.front().at);
  if (!waiting_.empty()) first = std::min(first, serves_at_);
  if (relay_) first = std::min({first, speaks_at_, gives_up_at_});
  return first;
}

void RelayNode::run_until(double end) {
  for (double time = next(); time < end && !over(); time = next()) {
    now_ = time;
    ++events_;
    if (now_ >= ticks_at_) {  // as a server does once a second
      stage_.apply(policy::TickEvent{}, stamp(), changes_);
      ticks_at_ = now_ + 1;
    }
    if (vanish_at_ <= now_) {
      for (std::size_t i = 0; i < children_.size(); ++i) {
        children_.advance(children_.at(i), now_);
        children_.at(i).gone = true;
      }
      gone_ = true;
      return;
    }
    if (!from_above_.empty() && from_above_.front().at <= now_) {
      answered(take_first(from_above_));
    } else if (!from_below_.empty() && from_below_.front().at <= now_) {
      ToParent letter = take_first(from_below_);
      if (!in(off_)) serve(letter);
    } else if (!uploads_.empty() && uploads_.front().at <= now_) {
      arrive(take_first(uploads_));
      check();
    } else if (!waiting_.empty() && serves_at_ <= now_) {
      serve_waiting();
    } else if (relay_ && gives_up_at_ <= now_) {
      gives_up_at_ = Agenda::never;
      relay_->not_told(stamp());
    } else if (agenda_.time() <= now_) {
      const std::size_t host = agenda_.host();
      host_due(host);
      agenda_.set(host, host_next(host));
    }
    if (relay_) speak();
    changes_ = {};
  }
}

// ---- What is counted and checked

void RelayNode::count_message() {
  ++counts_.messages;
  if (const auto second = static_cast<std::int64_t>(now_); second != this_second_) {
    this_second_ = second;
    in_this_second_ = 0;
  }
  counts_.peak_second = std::max(counts_.peak_second, ++in_this_second_);
}

void RelayNode::took(const std::vector<Range>& accepted) {
  if (relay_) return relay_->accepted(accepted);
  for (const Range range : accepted) accepted_work_ += work_.costs.of(range);
  if (t95_ == 0 && accepted_work_ >= tail_share * work_.costs.total()) t95_ = now_;
}

void RelayNode::check() {
  if (world_.check_every == 0) return;
  if (++received_ % world_.check_every == 0) {
    stage_.view().check_invariants();
  } else {
    stage_.view().check_changed(changes_);
  }
}

void RelayNode::finish(double now) {
  now_ = std::max(now_, now);
  if (world_.check_every > 0) stage_.view().check_invariants();
  const policy::StageCounts counts = stage_.view().counts(stamp());
  counts_.splits = counts.splits;
  counts_.copies = counts.copies;
  counts_.recovered = counts.recovered;
}

}  // namespace gleaner::simulator
