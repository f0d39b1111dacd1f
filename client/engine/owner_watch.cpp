#include "client/engine/owner_watch.h"

#include <algorithm>

namespace gleaner::engine {
namespace {
// Who computes only while nobody is here looks every two seconds whether somebody came (agents, and input
// devices where they may be watched, say it themselves), and every ten whether they left; with nothing in
// hand, seldom.
constexpr Duration owner_look_interval = std::chrono::seconds{2};
constexpr Duration owner_rest_interval = std::chrono::seconds{10};
constexpr Duration owner_idle_interval = std::chrono::minutes{1};
constexpr Duration recheck_min = std::chrono::milliseconds{100};
}  // namespace

void OwnerWatch::set(const client_policy::OwnerRules& rules, const std::vector<std::string>& programs) {
  rules_ = rules;
  policy_ = {};
  if (monitor_ != nullptr) monitor_->watch({programs, client_policy::minds_fans(rules)});
}

std::vector<client_policy::Signal> OwnerWatch::look(const Hands& hands, SteadyTime now, Alarm& alarm) {
  if (monitor_ == nullptr) return {};
  const auto observations = monitor_->observe(now);
  seen_ = policy_.judge({rules_, observations, now, monitor_->local_time()});
  const bool spared = std::none_of(seen_.signals.begin(), seen_.signals.end(), [](const auto& signal) {
    return signal.allows == client_policy::RunMode::pause;
  });
  const bool people = client_policy::minds_people(rules_);
  alarm.at(now + (people && spared && hands.kernels ? owner_look_interval
                  : spared && !hands.units          ? owner_idle_interval
                                                    : owner_rest_interval));
  if (seen_.recheck) alarm.at(now + std::max<Duration>(*seen_.recheck, recheck_min));
  return seen_.signals;
}

std::string OwnerWatch::time_in(Duration ahead) const {
  if (monitor_ == nullptr || ahead > std::chrono::days{6}) return {};
  const client_policy::LocalTime local = monitor_->local_time();
  const auto minutes = std::chrono::round<std::chrono::minutes>(ahead + std::chrono::seconds{local.second});
  return client_policy::time_text(local, static_cast<int>(minutes.count()));
}

std::vector<io::Waitable> OwnerWatch::waitables() const {
  return monitor_ == nullptr ? std::vector<io::Waitable>{} : monitor_->waitables();
}

}  // namespace gleaner::engine
