#include "client/engine/engine.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "client/engine/engine_view.h"
#include "client/engine/set_aside.h"

namespace gleaner::engine {

using client_policy::RunMode;

namespace {
constexpr Duration wait_max = std::chrono::minutes{10};
}  // namespace

Engine::Engine(Services services, std::vector<Joined> projects)
    : services_(std::move(services)),
      accounts_(services_, projects_),
      traffic_(services_, projects_),
      slots_(services_, services_.settings.cores),
      owner_(services_.activity),
      notices_(services_, projects_),
      outside_(services_),
      disk_(services_.files, services_.state.root),
      measurements_({services_.clock, services_.files, services_.machine, services_.workers, services_.state,
                     services_.settings.benchmark_mflops}) {
  CHECK_TRUE(!projects.empty());
  workers_.push_back(&services_.workers);
  for (Joined& joined : projects) {
    if (std::find(workers_.begin(), workers_.end(), joined.workers) == workers_.end())
      workers_.push_back(joined.workers);
    projects_.add(
        std::make_unique<Membership>(services_, std::move(joined), static_cast<int>(slots_.size())));
  }
  limit_caches();
}

Status Engine::open() {
  remove_set_aside(services_.files, services_.state.slots());
  TRY(remove_or_set_aside(services_.files, services_.random, services_.state.slots()));
  TRY(services_.files.make_directories(services_.state.slots()));
  TRY_ASSIGN(controls_, state::load_controls(services_.files, services_.state.preferences()));
  opened_ = services_.clock.steady();
  set_pause_end();
  accounts_.open(opened_);
  notices_.open(opened_);
  traffic_.open(opened_);
  int next_slot = 0;
  for (const auto& project : projects_) TRY(project->open(next_slot));
  measurements_.open();
  calendar_.start(services_.clock.now(), opened_);
  services_.gate.set_share(services_.settings.cpu_share);
  return {};
}

void Engine::tick() {
  alarm_.reset();
  yield_at_once(services_.clock.steady());
  for (transport::Workers* const workers : workers_) workers->deliver();
  const SteadyTime now = services_.clock.steady();
  note_calendar(now);
  apply_answers(now);
  for (const auto& slot : slots_) slot->pump(now);
  if (!services_.settings.applications.empty()) end_forbidden(now);
  disk_.look(services_.settings.free_bytes_min, now);
  decide(now);
  traffic_.count(now, alarm_);
  set_terms();
  apply_decision(now);
  secure_before_sleep();
  give_back(now);
  for (const auto& slot : slots_) slot->watch(now);
  accounts_.charge(now);
  if (!stopping_ && !projects_.all_revoked())
    if (const auto at =
            measurements_.tick(now, decision_.mode != RunMode::pause && slots_.cores_in_use() == 0))
      alarm_.at(*at);
  for (const auto& project : projects_) project->prepare(now, alarm_);
  start_units(now);
  exchange(now);
  notices_.look(!no_network().empty(), now, alarm_);
  set_alarms(now);
}

// Somebody came: that is all that is looked at until the kernels stand still.
void Engine::yield_at_once(SteadyTime now) {
  if (!owner_.touched()) return;
  for (const auto& slot : slots_) slot->put_off_saving(now);
  decide(now);
  apply_decision(now);
}

// This computer slept, or its clock was set: say hello at once.
void Engine::note_calendar(SteadyTime now) {
  const auto leap = calendar_.look(services_.clock.now(), now);
  if (!leap) return;
  spdlog::info("the calendar moved by {:.0f} s: this computer slept, or its clock was set",
               to_seconds(leap->by));
  for (const auto& project : projects_) project->forget_waits(now);
  outside_.forget();
}

std::string Engine::no_network() const {
  return owner_.no_network().empty() ? traffic_.trouble() : owner_.no_network();
}

// Names become known and may change, so this is asked again and again.
void Engine::set_terms() {
  for (const auto& project : projects_) {
    OwnerTerms terms;
    for (const settings::ShareSetting& setting : owner_settings_.shares)
      if (state::is_named(project->names(), setting.project)) terms.share = setting.share;
    terms.suspended =
        std::any_of(owner_settings_.suspended.begin(), owner_settings_.suspended.end(),
                    [&project](const std::string& name) { return state::is_named(project->names(), name); });
    terms.no_network = no_network();
    terms.bytes_left = traffic_.left();
    terms.relay_patience = owner_settings_.relay_patience;
    project->set_terms(std::move(terms));
  }
}

std::vector<client_policy::Signal> Engine::signals(SteadyTime now) {
  std::vector<client_policy::Signal> signals;
  if (projects_.all_revoked()) signals.push_back({"server", RunMode::pause, unreachable(projects_[0])});
  if (const std::string refusal = services_.launcher.refusal(); !refusal.empty())
    signals.push_back({"sandbox", RunMode::pause, refusal});
  if (stopping_) signals.push_back({"client", RunMode::pause, "the client is stopping"});
  for (const auto& project : projects_)
    if (const auto& trouble = project->deliveries().disk_trouble())
      signals.push_back({"disk", RunMode::pause, "results cannot be written: " + *trouble});
  const bool kernels = signals.empty() && slots_.cores_in_use() > 0;
  auto of_owner = owner_.look({kernels, !projects_.nothing_in_hand()}, now, alarm_);
  std::move(of_owner.begin(), of_owner.end(), std::back_inserter(signals));
  if (auto outside = outside_.look(now, alarm_)) signals.push_back(*std::move(outside));
  return signals;
}

void Engine::decide(SteadyTime now) {
  client_policy::Preferences preferences;
  preferences.enabled = controls_.enabled;
  await_saved();
  preferences.paused_for = pause_left();
  preferences.until_saved = !unsaved_.empty();
  if (preferences.paused_for && *preferences.paused_for < Duration::max())
    preferences.paused_until = end_text(*preferences.paused_for);
  preferences.cpu_share = services_.settings.cpu_share;
  preferences.cores = services_.settings.cores;
  preferences.at_any_time = owner_settings_.owner.run == client_policy::RunWhen::always;
  const client_policy::RunDecision before = decision_;
  decision_ = client_policy::decide(preferences, signals(now));
  services_.gate.set_share(decision_.cpu_share > 0 ? decision_.cpu_share : preferences.cpu_share);
  if (decision_.recheck) alarm_.at(now + std::min(*decision_.recheck, wait_max));
  if (before.mode == decision_.mode) return;
  spdlog::info("{}: {}", client_policy::name_of(decision_.mode), decision_.reason);
  const bool paused_before = before.mode == RunMode::pause && !before.reason.empty();
  if (paused_before || decision_.mode == RunMode::pause)
    for (const auto& project : projects_) project->heartbeat_soon(now);
}

// What was saved meanwhile, or has no kernel any more, is waited for no longer; nor is anything when the
// pause is over.
void Engine::await_saved() {
  const bool over = !pause_left();
  std::erase_if(unsaved_, [&](const auto& one) {
    const auto& [number, saves] = one;
    const Slot& slot = **(slots_.begin() + number);
    return over || slot.unit() == nullptr || slot.saves() != saves;
  });
}

// The computer may wake up with an empty battery.
void Engine::secure_before_sleep() {
  if (owner_.before_sleep() && !secured_)
    for (const auto& project : projects_) project->secure_units();
  secured_ = owner_.before_sleep();
}

void Engine::set_alarms(SteadyTime now) {
  for (const auto& slot : slots_) {
    slot->set_alarm(alarm_);
    if (slot->unit() != nullptr && !slot->paused())
      alarm_.at(now + std::max<Duration>(std::chrono::seconds{1},
                                         std::chrono::seconds{slot->unit()->grant().commit_seconds} -
                                             slot->unit()->run_time));
    if (slot->unit() == nullptr && slot->start_at() > now && next_for(*slot).unit != nullptr)
      alarm_.at(slot->start_at());
  }
}

Duration Engine::wait_time() const {
  const SteadyTime earliest = alarm_.earliest();
  if (earliest == SteadyTime::max()) return wait_max;
  return std::clamp<Duration>(earliest - services_.clock.steady(), Duration{0}, wait_max);
}

std::vector<io::Waitable> Engine::waitables() const {
  std::vector<io::Waitable> all = owner_.waitables();
  for (const transport::Workers* const workers : workers_)
    if (workers->waitable().valid()) all.push_back(workers->waitable());
  for (const auto& slot : slots_)
    if (slot->output_waitable().valid()) all.push_back(slot->output_waitable());
  return all;
}

void Engine::stop() {
  const SteadyTime now = services_.clock.steady();
  stopping_ = true;
  for (const auto& slot : slots_) {
    slot->pump(now);
    slot->take_away(now);
    slot->end_kernel();
  }
  for (const auto& project : projects_) project->heartbeat_soon(now);
  tick();
  accounts_.save(now);
  traffic_.save(now);
  notices_.save(now);
}

bool Engine::settled() const {
  return stopping_ && std::all_of(projects_.begin(), projects_.end(),
                                  [](const auto& project) { return project->settled(); });
}

bool Engine::moved() const {
  return std::any_of(projects_.begin(), projects_.end(),
                     [](const auto& project) { return project->moved(); });
}

Status Engine::pause(std::optional<Duration> length, PauseAt at) {
  unsaved_.clear();
  if (at == PauseAt::saved)
    for (const auto& slot : slots_)
      if (slot->unit() != nullptr) {
        unsaved_[slot->number()] = slot->saves();
        slot->save_soon(services_.clock.steady());
      }
  controls_.pause_length = length ? *length : Duration::max();
  controls_.pause_begun = services_.clock.now();
  set_pause_end();
  return state::save_controls(services_.files, services_.state.preferences(), controls_);
}

void Engine::set_pause_end() {
  const auto left = controls_.pause_left(services_.clock.now());
  if (left && *left < Duration::max()) pause_end_ = services_.clock.steady() + *left;
}

// By the calendar, which goes on while the computer sleeps; but a calendar that was set back does not make it
// longer.
std::optional<Duration> Engine::pause_left() const {
  const auto left = controls_.pause_left(services_.clock.now());
  if (!left || *left == Duration::max()) return left;
  const Duration steady = pause_end_ - services_.clock.steady();
  return steady > Duration{0} ? std::optional(std::min(*left, steady)) : std::nullopt;
}

std::string Engine::end_text(Duration length) const {
  const std::string soon = owner_.time_in(length);
  return soon.empty() ? local_text(services_.clock.now() + length + std::chrono::seconds{30}) : soon;
}

Status Engine::resume() {
  unsaved_.clear();
  controls_ = state::Controls{};
  return state::save_controls(services_.files, services_.state.preferences(), controls_);
}

Status Engine::finish() {
  controls_.finish = true;
  return state::save_controls(services_.files, services_.state.preferences(), controls_);
}

void Engine::set_owner_settings(const settings::OwnerSettings& owner_settings) {
  owner_settings_ = owner_settings;
  owner_.set(owner_settings.owner, owner_settings.exclusive);
  notices_.set(owner_settings.notifications);
  EngineSettings& settings = services_.settings;
  const int slots = static_cast<int>(slots_.size());
  settings.cores = owner_settings.cores > 0 ? std::min(owner_settings.cores, slots) : slots;
  settings.computer_cores = owner_settings.computer_cores;
  settings.limit = owner_settings.limit;
  settings.cache_bytes_max = owner_settings.cache_bytes_max;
  settings.free_bytes_min = owner_settings.free_bytes_min;
  limit_caches();
  settings.applications = owner_settings.applications;
  traffic_.set(owner_settings.traffic);
  outside_.set(owner_settings.outside_signal, owner_settings.outside_interval);
  disk_.look_anew();
  services_.launcher.use_processors(owner_settings.processors);
  if (owner_settings.memory_bytes > 0) settings.memory_bytes = owner_settings.memory_bytes;
  settings.watts_per_core = owner_settings.watts_per_core;
  settings.cpu_share = owner_settings.cpu_share;
}

// Together they keep no more than the owner allows: each of them an equal part of it.
void Engine::limit_caches() {
  const EngineSettings& settings = services_.settings;
  for (const auto& project : projects_)
    project->set_cache(settings.cache_bytes_max / static_cast<std::int64_t>(projects_.size()),
                       settings.free_bytes_min);
}

EngineStatus Engine::status() const {
  return status_of(
      {services_, projects_, accounts_, slots_, owner_, measurements_, decision_, disk_.shortage(),
       calendar_.last(), controls_.finish, opened_, no_network(), traffic_.text(), outside_.detail()},
      services_.clock.steady());
}

}  // namespace gleaner::engine
