#include "client/engine/traffic.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "client/state/traffic.h"

namespace gleaner::engine {
namespace {

constexpr Duration save_interval = std::chrono::minutes{1};
constexpr Duration look_interval = std::chrono::minutes{1};   // whether a new day has begun
constexpr Duration share_interval = std::chrono::seconds{1};  // while several projects use what is left

}  // namespace

void Traffic::open(SteadyTime now) {
  saved_ = now;
  count_ = state::load_traffic(services_.files, services_.state.traffic());
  saved_bytes_ = count_.month_bytes;
}

void Traffic::count(SteadyTime now, Alarm& alarm) {
  std::int64_t all = 0;
  for (const auto& project : projects_) all += project->moved_bytes();
  if (all == counted_ && counted_at_ && now - *counted_at_ < look_interval) return remind(alarm);
  counted_at_ = now;
  const auto local =
      services_.activity == nullptr ? client_policy::LocalTime{} : services_.activity->local_time();
  client_policy::add_traffic(count_, client_policy::date_of(services_.clock.now(), local),
                             all - std::exchange(counted_, all));
  if (now - saved_ >= save_interval && count_.month_bytes != saved_bytes_) save(now);
  remind(alarm);
}

void Traffic::remind(Alarm& alarm) const {
  if (!trouble().empty()) alarm.at(*counted_at_ + look_interval);
  const auto moves = [](const auto& project) {
    return project->fetching() || project->deliveries().sending();
  };
  if (left() < INT64_MAX && std::count_if(projects_.begin(), projects_.end(), moves) > 1)
    alarm.at(services_.clock.steady() + share_interval);
}

void Traffic::save(SteadyTime now) {
  saved_ = now;
  saved_bytes_ = count_.month_bytes;
  if (const Status saved = state::save_traffic(services_.files, services_.state.traffic(), count_);
      !saved.ok())
    spdlog::warn("the volume of traffic is not kept: {}", saved.error().message);
}

}  // namespace gleaner::engine
