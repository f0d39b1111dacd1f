#include "server/policy/trust/reputation.h"

#include <algorithm>
#include <cmath>

namespace gleaner::policy {

Standing Reputation::faded(const Standing& standing, Timestamp now) const {
  Standing present = standing;
  const double left = std::exp2(-std::max(0.0, to_seconds(now - standing.at)) / rules_.half_life);
  present.right *= left;
  present.wrong *= left;
  present.at = std::max(now, standing.at);
  return present;
}

void Reputation::set_own(HostId host, bool own) {
  if (own) {
    own_.add({host.value, host.value + 1});
  } else {
    own_.remove({host.value, host.value + 1});
  }
}

void Reputation::restore(HostId host, ApplicationId application, const Standing& standing) {
  standings_[{host, application}] = standing;
}

void Reputation::forget_host(HostId host) {
  own_.remove({host.value, host.value + 1});
  auto next = standings_.lower_bound({host, {}});
  while (next != standings_.end() && next->first.first == host) next = standings_.erase(next);
}

const Standing& Reputation::verified(HostId host, ApplicationId application, double items, Timestamp now) {
  Standing& standing = standings_[{host, application}];
  standing = faded(standing, now);
  standing.right += items;
  return standing;
}

const Standing& Reputation::found_wrong(HostId host, ApplicationId application, Timestamp now) {
  own_.remove({host.value, host.value + 1});
  Standing& standing = standings_[{host, application}];
  standing = faded(standing, now);
  standing.right = 0;
  if (standing.held_until > now) return standing;  // what it had delivered before it was found out
  const double hold =
      std::min(rules_.longest_hold, rules_.first_hold * std::exp2(std::min(standing.wrong, 60.0)));
  standing.wrong += 1;
  standing.held_until = now + from_seconds(hold);
  return standing;
}

Standing Reputation::standing(HostId host, ApplicationId application, Timestamp now) const {
  const auto found = standings_.find({host, application});
  return found == standings_.end() ? Standing{0, 0, now, {}} : faded(found->second, now);
}

bool Reputation::is_known(HostId host, ApplicationId application, Timestamp now) const {
  return is_own(host) || standing(host, application, now).right >= rules_.known_after;
}

bool Reputation::is_known(HostId host, Timestamp now) const {
  if (is_own(host)) return true;
  for (auto next = standings_.lower_bound({host, {}}); next != standings_.end() && next->first.first == host;
       ++next)
    if (faded(next->second, now).right >= rules_.known_after) return true;
  return false;
}

double Reputation::reliability(HostId host, ApplicationId application, Timestamp now) const {
  if (is_own(host)) return rules_.own;
  const Standing known = standing(host, application, now);
  const double right = known.right + rules_.prior_right;
  return right / (right + known.wrong + rules_.prior_wrong);
}

std::optional<double> Reputation::held(HostId host, ApplicationId application, Timestamp now) const {
  const auto found = standings_.find({host, application});
  if (found == standings_.end() || found->second.held_until <= now) return std::nullopt;
  // One that ends later than any hold can is of a calendar that was wrong.
  if (found->second.held_until > now + from_seconds(rules_.longest_hold)) return std::nullopt;
  return to_seconds(found->second.held_until - now);
}

}  // namespace gleaner::policy
