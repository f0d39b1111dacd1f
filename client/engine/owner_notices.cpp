#include "client/engine/owner_notices.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "client/state/notices.h"

namespace gleaner::engine {
namespace {

using client_policy::Trouble;
using client_policy::TroubleSeen;
using Holds = TroubleSeen::Holds;

constexpr Duration look_interval = std::chrono::minutes{1};
constexpr Duration save_interval = std::chrono::hours{1};
constexpr const char* held_back = "held back";  // how a server's reason for giving no work begins then

// Could it be given work at all, if it has some?
bool asks(const Membership& project) {
  return project.standing() == Standing::served && !project.terms().suspended && project.terms().share > 0;
}

Holds yes_or_no(bool holds) {
  return holds ? Holds::yes : Holds::no;
}

}  // namespace

void OwnerNotices::open(SteadyTime now) {
  saved_at_ = now;
  saved_ = state::load_notices(services_.files, services_.state.notices());
  notices_.remember(saved_);
}

void OwnerNotices::add(std::vector<TroubleSeen>& all, const Membership& project, bool no_network) {
  const std::string& key = project.names().key;
  const auto say = [&](Trouble trouble, Holds holds) {
    all.push_back({key, project.names().name, trouble, holds});
  };
  const ServerSession& session = project.session();
  const bool failing = !session.trouble().empty();
  const bool heard = session.last_contact() && !failing;
  const bool refused = session.no_work_reason().starts_with(held_back);
  const std::int64_t accepted = project.deliveries().totals().commits_accepted;
  const bool delivered = std::exchange(accepted_[key], accepted) != accepted;
  const bool waits = project.deliveries().waiting() > 0 && !delivered;
  const bool speaks = project.standing() == Standing::served && !no_network;
  say(Trouble::revoked, yes_or_no(project.standing() == Standing::revoked));
  say(Trouble::held_back, heard && asks(project) ? yes_or_no(refused) : Holds::unknown);
  say(Trouble::unreachable, speaks && (failing || heard) ? yes_or_no(failing) : Holds::unknown);
  say(Trouble::undelivered, speaks && heard ? yes_or_no(waits) : Holds::unknown);
}

std::vector<TroubleSeen> OwnerNotices::seen(bool no_network) {
  std::vector<TroubleSeen> all;
  bool works = false;
  bool asked = false;
  bool all_without = true;
  for (const auto& project : projects_) {
    add(all, *project, no_network);
    works = works || !project->units().empty();
    if (!asks(*project)) continue;
    asked = true;
    const ServerSession& session = project->session();
    all_without = all_without && session.refused() && session.trouble().empty() &&
                  !session.no_work_reason().starts_with(held_back);
  }
  const bool idle = asked && all_without && !no_network;
  all.push_back({"", "", Trouble::no_work, works ? Holds::no : idle ? Holds::yes : Holds::unknown});
  return all;
}

void OwnerNotices::look(bool no_network, SteadyTime now, Alarm& alarm) {
  if (services_.activity == nullptr) return;
  const auto shown = services_.activity->take_shown();
  if (shown) {
    notices_.shown(*shown, services_.clock.now());
    save(now);
  }
  if (shown || now >= look_at_) {
    look_at_ = now + look_interval;
    const auto due = notices_.due(seen(no_network), services_.clock.now(), now);
    const std::int64_t number = wanted_ && due ? due->number : 0;
    if (std::exchange(number_, number) != number) {
      services_.activity->show(number > 0 ? due : std::nullopt);
      alarm.at(now);  // to be passed on
    }
    if (now - saved_at_ >= save_interval && notices_.memory() != saved_) save(now);
  }
  alarm.at(look_at_);
}

void OwnerNotices::save(SteadyTime now) {
  saved_at_ = now;
  saved_ = notices_.memory();
  if (const Status saved = state::save_notices(services_.files, services_.state.notices(), saved_);
      !saved.ok())
    spdlog::warn("the record of notices to the owner is not saved: {}", saved.error().message);
}

}  // namespace gleaner::engine
