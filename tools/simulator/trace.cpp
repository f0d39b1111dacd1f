#include "tools/simulator/trace.h"

#include <algorithm>

#include "tools/simulator/outages.h"
#include "tools/simulator/population.h"
#include "tools/simulator/simulated_host.h"

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
