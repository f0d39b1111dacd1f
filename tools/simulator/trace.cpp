#include "tools/simulator/trace.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "shared/base/random.h"
#include "tools/simulator/grid.h"
#include "tools/simulator/population.h"

namespace gleaner::simulator {

void HostState::apply(const HostEvent& event) {
  switch (event.kind) {
    case HostEventKind::pause:
      paused = true;
      break;
    case HostEventKind::resume:
      paused = false;
      break;
    case HostEventKind::slow:
      factor = event.factor;
      break;
    case HostEventKind::off:
      up = false;
      break;
    case HostEventKind::on:
      up = true;
      paused = false;
      factor = 1;
      break;
    case HostEventKind::vanish:
      vanished = true;
      break;
    case HostEventKind::cut:
      cut = true;
      break;
    case HostEventKind::back:
      cut = false;
      break;
  }
}

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

// The boundaries of outages, one after the other: out, back, out, back, ...
class Boundaries {
 public:
  Boundaries(const Outages& outages, std::uint64_t seed)
      : listed_(outages.listed), gap_(outages.gap), length_(outages.length), random_(seed) {
    drawn_ = gap_ > 0 ? random_.exponential(gap_) : never;
  }
  [[nodiscard]] double next() const {
    return std::min(index_ < listed_.size() ? listed_[index_] : never, drawn_);
  }
  // How many outages more (or, below 0, fewer) there are after the next boundary.
  int pass() {
    if (index_ < listed_.size() && listed_[index_] <= drawn_) return index_++ % 2 == 0 ? 1 : -1;
    drawn_out_ = !drawn_out_;
    drawn_ += random_.exponential(drawn_out_ ? length_ : gap_);
    return drawn_out_ ? 1 : -1;
  }

 private:
  const std::vector<double>& listed_;
  double gap_, length_;
  Random random_;
  std::size_t index_ = 0;
  double drawn_ = never;
  bool drawn_out_ = false;
};

}  // namespace

// A host's own events, and over them those of its fleet's outages.
class OutageTrace {
 public:
  explicit OutageTrace(const GridHost& host)
      : power_(host.outages->power, host.outages->power.seed),
        network_(host.outages->network, host.outages->network.seed),
        own_cuts_(host.outages->each_cut, host.outage_seed) {}

  // `next_own` gives the host's own events.
  template <typename NextOwn>
  bool next(HostEvent& event, NextOwn next_own) {
    for (;;) {
      if (!told_.empty()) {
        event = told_.front();
        told_.erase(told_.begin());
        return true;
      }
      if (!pending_ && !ended_) {
        HostEvent own;
        if (next_own(own))
          pending_ = own;
        else
          ended_ = true;
      }
      const double own_at = pending_ ? pending_->at : never;
      const double at = std::min({own_at, power_.next(), network_.next(), own_cuts_.next()});
      if (at == never) return false;
      if (at == own_at) {
        state_.apply(*pending_);
        if (powerless_ == 0 || pending_->kind == HostEventKind::vanish) told_.push_back(*pending_);
        pending_.reset();
      } else if (at == power_.next()) {
        const bool was = powerless_ > 0;
        powerless_ += power_.pass();
        if (state_.on() && was != (powerless_ > 0)) tell_power(at);
      } else {
        const bool was = cut_ > 0;
        cut_ += at == network_.next() ? network_.pass() : own_cuts_.pass();
        if (was != (cut_ > 0)) told_.push_back({at, cut_ > 0 ? HostEventKind::cut : HostEventKind::back});
      }
    }
  }

 private:
  void tell_power(double at) {
    if (powerless_ > 0) {
      told_.push_back({at, HostEventKind::off});
      return;
    }
    told_.push_back({at, HostEventKind::on});
    if (state_.paused) told_.push_back({at, HostEventKind::pause});
    if (state_.factor < 1) told_.push_back({at, HostEventKind::slow, state_.factor});
  }

  Boundaries power_, network_, own_cuts_;
  HostState state_;  // without outages
  std::optional<HostEvent> pending_;
  std::vector<HostEvent> told_;
  int powerless_ = 0, cut_ = 0;  // outages that last
  bool ended_ = false;
};

HostTrace::HostTrace(const GridHost& host)
    : host_(&host),
      owner_(host.owner ? std::make_unique<OwnerTrace>(*host.owner) : nullptr),
      outages_(host.outages ? std::make_unique<OutageTrace>(host) : nullptr) {}
HostTrace::~HostTrace() = default;
HostTrace::HostTrace(HostTrace&&) noexcept = default;
HostTrace& HostTrace::operator=(HostTrace&&) noexcept = default;

bool HostTrace::next(HostEvent& event) {
  if (!outages_) return next_own(event);
  return outages_->next(event, [this](HostEvent& own) { return next_own(own); });
}

bool HostTrace::next_own(HostEvent& event) {
  if (owner_) return owner_->next(event);
  if (index_ == 0) {
    ++index_;
    event = {host_->joins_at, HostEventKind::on};
    return true;
  }
  if (index_ > host_->events.size()) return false;
  event = host_->events[index_++ - 1];
  event.at = std::max(event.at, host_->joins_at);
  return true;
}

}  // namespace gleaner::simulator
