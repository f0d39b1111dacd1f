#include "tools/simulator/outages.h"

#include <algorithm>
#include <limits>

#include "tools/simulator/simulated_host.h"

namespace gleaner::simulator {
namespace {

constexpr double no_outage = std::numeric_limits<double>::infinity();

}  // namespace

OutageBoundaries::OutageBoundaries(const Outages& outages, std::uint64_t seed)
    : outages_(outages),
      random_(seed),
      drawn_(outages.gap > 0 ? random_.exponential(outages.gap) : no_outage) {}

double OutageBoundaries::next() const {
  return std::min(index_ < outages_.listed.size() ? outages_.listed[index_] : no_outage, drawn_);
}

int OutageBoundaries::pass() {
  if (index_ < outages_.listed.size() && outages_.listed[index_] <= drawn_) return index_++ % 2 == 0 ? 1 : -1;
  drawn_out_ = !drawn_out_;
  drawn_ += random_.exponential(drawn_out_ ? outages_.length : outages_.gap);
  return drawn_out_ ? 1 : -1;
}

OutageTrace::OutageTrace(const GridHost& host)
    : power_(host.outages->power, host.outages->seed),
      network_(host.outages->network, host.outages->seed + 1),
      own_cuts_(host.outages->each_cut, host.outage_seed) {}

bool OutageTrace::step() {
  const double own_at = pending_ ? pending_->at : no_outage;
  const double at = std::min({own_at, power_.next(), network_.next(), own_cuts_.next()});
  if (at == no_outage) return false;
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
  return true;
}

void OutageTrace::tell_power(double at) {
  if (powerless_ > 0) {
    told_.push_back({at, HostEventKind::off});
    return;
  }
  told_.push_back({at, HostEventKind::on});
  if (state_.paused) told_.push_back({at, HostEventKind::pause});
  if (state_.factor < 1) told_.push_back({at, HostEventKind::slow, state_.factor});
}

}  // namespace gleaner::simulator
