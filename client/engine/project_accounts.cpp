#include "client/engine/project_accounts.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "client/state/usage.h"

namespace gleaner::engine {

using client_policy::UnitState;

namespace {

constexpr Duration shares_save_interval = std::chrono::hours{1};
constexpr Duration days_save_interval = std::chrono::minutes{10};  // that a kill may cost; disks sleep
constexpr double unit_weight = 0.3;                                // of a mean
constexpr double unit_seconds_first = 1;                           // while no unit has ended

// One without a share is not asked for work, but what it still computes is charged.
double charged_share(const Membership& project) {
  return project.terms().share > 0 ? project.terms().share : 1;
}

// Does it have work, as far as is known?
bool contends(const Membership& project) {
  return project.terms().share > 0 && !project.terms().suspended && project.standing() == Standing::served &&
         project.session().trouble().empty() && !project.session().refused();
}

}  // namespace

void ProjectAccounts::open(SteadyTime now) {
  saved_ = days_saved_ = now;
  days_ = state::load_days(services_.files, services_.state.days());
  state::ProjectUses uses = state::load_usage(services_.files, services_.state.shares());
  std::erase_if(uses, [this](const auto& use) {
    return std::none_of(projects_.begin(), projects_.end(),
                        [&use](const auto& project) { return project->names().key == use.first; });
  });
  shares_.restore(std::move(uses));
  for (const auto& project : projects_) shares_.join(project->names().key);
}

double ProjectAccounts::unit_seconds(const Membership& project) const {
  const auto found = unit_seconds_.find(project.names().key);
  return found == unit_seconds_.end() ? unit_seconds_first : found->second;
}

// Core-seconds that its units in hand will take, and those that it is being asked for, as others took.
double ProjectAccounts::ahead(const Membership& project) const {
  const UnitBook& units = project.units();
  const auto held = std::count_if(units.begin(), units.end(), [](const auto& entry) {
    return entry.second->state != UnitState::committing && !entry.second->held_back;
  });
  return unit_seconds(project) *
         static_cast<double>(static_cast<std::size_t>(held) + project.session().asked());
}

double ProjectAccounts::take_used(Membership& project) {
  double used = 0;
  for (const auto& [id, unit] : project.units()) {
    used += to_seconds(unit->core_time - unit->charged);
    unit->charged = unit->core_time;
    if (unit->state != UnitState::committing || unit->measured || unit->core_time == Duration{0}) continue;
    unit->measured = true;
    const double mean = unit_seconds(project);
    unit_seconds_[project.names().key] = mean + unit_weight * (to_seconds(unit->core_time) - mean);
  }
  return used;
}

void ProjectAccounts::charge(SteadyTime now) {
  double all = 0;
  for (const auto& project : projects_) {
    const std::string& key = project->names().key;
    const double used = take_used(*project);
    all += used;
    if (used > 0) shares_.charge(key, used, charged_share(*project));
    shares_.set_contends(key, contends(*project));
  }
  if (all > 0) {
    const EngineSettings& settings = services_.settings;
    state::add_to_days(days_, state::day_of(services_.clock.now()),
                       {all, all * settings.watts_per_core * settings.cpu_share});
  }
  if (now - days_saved_ >= days_save_interval) save_days(now);
  if (now - saved_ >= shares_save_interval) save(now);
}

void ProjectAccounts::save_days(SteadyTime now) {
  days_saved_ = now;
  if (const Status saved = state::save_days(services_.files, services_.state.days(), days_); !saved.ok())
    spdlog::warn("what this computer contributed is not kept: {}", saved.error().message);
}

// One project alone needs no account.
void ProjectAccounts::save(SteadyTime now) {
  saved_ = now;
  save_days(now);
  if (!projects_.several()) return;
  if (const Status saved = state::save_usage(services_.files, services_.state.shares(), shares_.uses());
      !saved.ok())
    spdlog::warn("what each project had is not kept: {}", saved.error().message);
}

double ProjectAccounts::recent_part(const Membership& project) const {
  return projects_.several() ? shares_.recent_part(project.names().key) : 1;
}

ProjectAccounts::Round::Round(const ProjectAccounts& accounts, SteadyTime now)
    : accounts_(accounts), now_(now) {
  for (const auto& project : accounts_.projects_)
    claims_.push_back({project->names().key, charged_share(*project), accounts_.ahead(*project), false});
}

std::optional<std::size_t> ProjectAccounts::Round::next(bool urgent) {
  for (std::size_t i = 0; i < claims_.size(); ++i)
    claims_[i].askable = accounts_.projects_[i].askable(now_, urgent);
  const std::size_t chosen = accounts_.shares_.next(claims_);
  if (chosen == claims_.size()) return std::nullopt;
  claims_[chosen].ahead += accounts_.unit_seconds(accounts_.projects_[chosen]);
  return chosen;
}

}  // namespace gleaner::engine
