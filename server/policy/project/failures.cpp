// Failed kernels: what is held against whom, and what becomes of the unit.
#include <algorithm>
#include <set>
#include <utility>

#include "server/policy/project/project.h"

namespace gleaner::policy {
namespace {

using protocol::FailureKind;

// Hosts looked for that compute an application and report no failure: half as likely broken with each, so
// more than this change nothing.
constexpr std::size_t computing_max = 16;

// Is it the fault of the host's surroundings, so that the kernel never ran and the item is not to blame?
bool is_of_host(FailureKind kind) {
  return kind == FailureKind::not_executable || kind == FailureKind::download_failed;
}

std::string text_of(const FailedEvent& event) {
  return std::string(protocol::name_of(event.kind)) + ": " + event.message;
}

bool is_over_hosts(const Ruling& ruling) {
  return ruling.kind == Ruling::Kind::hold_pair || ruling.kind == Ruling::Kind::hold_host;
}

}  // namespace

std::set<HostId> Project::hosts_computing(ApplicationId application) const {
  std::set<HostId> hosts;
  for (const auto& [id, problem] : problems_) {
    const RecordedStage* stage = dispatch_->stage(id);
    if (problem.facts.application != application || stage == nullptr) continue;
    for (const Unit* unit : stage->view().open_units()) {
      hosts.insert(unit->host);
      if (hosts.size() > computing_max) return hosts;
    }
  }
  return hosts;
}

void Project::count(const FailedEvent& event, std::int64_t item, Timestamp now, ProjectChanges& changes) {
  const ApplicationId application = problems_.at(event.problem).facts.application;
  if (event.kind == FailureKind::untrusted) {
    changes.rulings = {blame_.unverified(event.host, application, event.message, now)};
    return;
  }
  changes.counted = true;
  changes.rulings =
      blame_.failed({event.host, application, event.problem, item, text_of(event), !is_of_host(event.kind),
                     credence_of(reputation_.is_own(event.host), event.items_accepted, event.failures + 1),
                     is_of_host(event.kind)},
                    hosts_computing(application), now);
}

ProjectChanges Project::apply(const FailedEvent& event, Timestamp now) {
  ProjectChanges changes;
  RecordedStage& stage = *dispatch_->stage(event.problem);
  const Unit& unit = *stage.view().unit(event.unit);
  const Range rest{unit.committed, unit.range.end};
  const bool below = event.host != event.holder;
  const std::int64_t item = below || rest.contains(event.item) ? event.item : rest.begin;
  count(event, item, now, changes);
  if (rule_ == Rule::hosts)
    std::erase_if(changes.rulings, [](const Ruling& ruling) { return !is_over_hosts(ruling); });

  const auto aside = std::find_if(changes.rulings.begin(), changes.rulings.end(), [&](const Ruling& ruling) {
    return ruling.kind == Ruling::Kind::set_aside && ruling.item == item;
  });
  if (aside != changes.rulings.end()) {
    stage.apply(GiveBackEvent{event.holder, event.unit, GiveBack::set_aside, item, aside->reason}, now,
                changes.of(event.problem));
  } else if (!below) {  // a relay's unit goes on
    const bool untrusted = event.kind == FailureKind::untrusted;
    stage.apply(GiveBackEvent{event.holder, event.unit, untrusted ? GiveBack::returned : GiveBack::failed,
                              item, text_of(event)},
                now, changes.of(event.problem));
  }
  std::erase_if(changes.rulings, [](const Ruling& ruling) { return ruling.kind == Ruling::Kind::set_aside; });
  const bool stops = std::any_of(changes.rulings.begin(), changes.rulings.end(), [](const Ruling& ruling) {
    return ruling.kind == Ruling::Kind::stop_application;
  });
  const ApplicationId application = problems_.at(event.problem).facts.application;
  for (auto& [id, problem] : problems_)
    if (stops && problem.facts.application == application && problem.facts.running)
      changes.paused.push_back(id);
  return changes;
}

}  // namespace gleaner::policy
