#include "client/engine/engine.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "client/engine/usage.h"
#include "shared/base/limits.h"
#include "shared/protocol/codec.h"

namespace gleaner::engine {

using client_policy::RunMode;

namespace {
constexpr Duration wait_max = std::chrono::minutes{10};
constexpr Duration owner_look_interval = std::chrono::seconds{2};
constexpr Duration owner_rest_interval = std::chrono::seconds{10};
constexpr Duration owner_idle_interval = std::chrono::minutes{1};
constexpr Duration calendar_jump = std::chrono::seconds{30};
constexpr Duration disk_check_interval = std::chrono::minutes{1};
}  // namespace

Engine::Engine(Services services, std::vector<Joined> projects)
    : services_(std::move(services)), measurements_(services_) {
  CHECK_TRUE(!projects.empty());
  for (int number = 0; number < services_.settings.cores; ++number)
    slots_.push_back(std::make_unique<Slot>(services_, number));
  workers_.push_back(&services_.workers);
  SlotKeeper& keeper = *this;
  for (Joined& joined : projects) {
    if (std::find(workers_.begin(), workers_.end(), joined.workers) == workers_.end())
      workers_.push_back(joined.workers);
    projects_.push_back(std::make_unique<Membership>(services_, std::move(joined), keeper));
  }
  limit_caches();
}

Engine::~Engine() = default;

Status Engine::open() {
  TRY(services_.files.remove_all(services_.state.slots()));
  TRY(services_.files.make_directories(services_.state.slots()));
  TRY_ASSIGN(controls_, load_controls(services_.files, services_.state.preferences()));
  ProjectUses uses = load_usage(services_.files, services_.state.shares());
  std::erase_if(uses, [this](const auto& use) {
    return std::none_of(projects_.begin(), projects_.end(),
                        [&use](const auto& project) { return project->key() == use.first; });
  });
  shares_.restore(std::move(uses));
  int next_slot = 0;
  for (const auto& project : projects_) {
    shares_.join(project->key());
    TRY(project->open(next_slot));
  }
  measurements_.open();
  calendar_ = services_.clock.now();
  calendar_at_ = opened_ = shares_saved_ = services_.clock.steady();
  services_.gate.set_share(services_.settings.cpu_share);
  return {};
}

// A calendar that moved against the steady clock means suspend or a corrected clock: say hello at once.
void Engine::note_calendar(SteadyTime now) {
  const Timestamp calendar = services_.clock.now();
  const Duration drift = (calendar - calendar_) - (now - calendar_at_);
  calendar_ = calendar;
  calendar_at_ = now;
  if (drift < calendar_jump && drift > -calendar_jump) return;
  spdlog::info("the calendar moved by {:.0f} s: this computer slept, or its clock was set",
               to_seconds(drift));
  leap_ = {drift, now};
  for (const auto& project : projects_) project->talk().forget_waits(now);
}

std::vector<client_policy::Signal> Engine::signals() const {
  std::vector<client_policy::Signal> signals;
  if (all_revoked()) signals.push_back({"server", RunMode::pause, projects_.front()->unreachable()});
  if (const std::string refusal = services_.launcher.refusal(); !refusal.empty())
    signals.push_back({"sandbox", RunMode::pause, refusal});
  if (stopping_) signals.push_back({"client", RunMode::pause, "the client is stopping"});
  for (const auto& project : projects_)
    if (const auto& trouble = project->deliveries().disk_trouble())
      signals.push_back({"disk", RunMode::pause, "results cannot be written: " + *trouble});
  return signals;
}

// Who computes only while nobody is here looks every two seconds whether somebody came (agents, and input
// devices where they may be watched, say it themselves), and every ten whether they left; with nothing in
// hand, seldom.
void Engine::ask_owner(std::vector<client_policy::Signal>& signals, SteadyTime now) {
  if (services_.surroundings == nullptr) return;
  const auto seen = services_.surroundings->observe(now);
  client_policy::OwnerVerdict verdict =
      owner_.judge({wishes_.owner, seen, now, services_.surroundings->minute_of_week()});
  observed_ = std::move(verdict.details);
  no_network_ = std::move(verdict.no_network);
  before_sleep_ = verdict.before_sleep;
  const bool computing = verdict.signals.empty() && signals.empty() && cores_in_use() > 0;
  const bool people = wishes_.owner.run == client_policy::RunWhen::idle;
  const bool nothing_to_do = nothing_in_hand() && verdict.signals.empty();
  alarm_.at(now + (people && computing ? owner_look_interval
                   : nothing_to_do     ? owner_idle_interval
                                       : owner_rest_interval));
  if (verdict.recheck) alarm_.at(now + std::max<Duration>(*verdict.recheck, std::chrono::milliseconds{100}));
  for (auto& signal : verdict.signals) signals.push_back(std::move(signal));
}

void Engine::set_wishes(const Wishes& wishes) {
  wishes_ = wishes;
  owner_ = {};
  EngineSettings& settings = services_.settings;
  const int slots = static_cast<int>(slots_.size());
  settings.cores = wishes.cores > 0 ? std::min(wishes.cores, slots) : slots;
  settings.cache_bytes_max = wishes.cache_bytes_max;
  settings.free_bytes_min = wishes.free_bytes_min;
  limit_caches();
  settings.applications = wishes.applications;
  disk_checked_ = {};
  if (wishes.memory_bytes > 0) settings.memory_bytes = wishes.memory_bytes;
  if (services_.surroundings != nullptr) services_.surroundings->watch_programs(wishes.exclusive);
  settings.watts_per_core = wishes.watts_per_core;
  if (settings.cpu_share == wishes.cpu_share) return;
  settings.cpu_share = wishes.cpu_share;
  services_.gate.set_share(wishes.cpu_share);
}

// Together they keep no more than the owner allows: each of them an equal part of it.
void Engine::limit_caches() {
  const EngineSettings& settings = services_.settings;
  for (const auto& project : projects_)
    project->set_cache(settings.cache_bytes_max / static_cast<std::int64_t>(projects_.size()),
                       settings.free_bytes_min);
}

// Names become known and may change, so this is asked again and again.
void Engine::share_out() {
  for (const auto& project : projects_) {
    double share = 1;
    for (const ProjectWish& wish : wishes_.shares)
      if (is_named(project->names(), wish.project)) share = wish.share;
    const bool suspended =
        std::any_of(wishes_.suspended.begin(), wishes_.suspended.end(),
                    [&project](const std::string& name) { return is_named(project->names(), name); });
    project->set_share(share, suspended);
  }
}

void Engine::decide(SteadyTime now) {
  client_policy::Preferences preferences;
  preferences.enabled = controls_.enabled;
  preferences.paused_for = controls_.pause_left(services_.clock.now());
  preferences.cpu_share = services_.settings.cpu_share;
  preferences.cores = services_.settings.cores;
  const client_policy::RunDecision before = decision_;
  std::vector<client_policy::Signal> all = signals();
  ask_owner(all, now);
  decision_ = client_policy::decide(preferences, all);
  if (decision_.recheck) alarm_.at(now + std::min(*decision_.recheck, wait_max));
  if (before.mode == decision_.mode) return;
  spdlog::info("{}: {}", client_policy::name_of(decision_.mode), decision_.reason);
  const bool paused_before = before.mode == RunMode::pause && !before.reason.empty();
  if (paused_before || decision_.mode == RunMode::pause)
    for (const auto& project : projects_) project->talk().heartbeat_soon(now);
}

void Engine::apply_decision(SteadyTime now) {
  const auto must_hold = [this](const Slot& slot) {
    const Unit& unit = *slot.unit();
    return decision_.mode == RunMode::pause || unit.held_back || owner_of(unit).suspended();
  };
  // All of them stop before anything else is done for any of them.
  for (const auto& slot : slots_)
    if (slot->unit() != nullptr && !slot->paused() && must_hold(*slot)) slot->hold();
  int cores = 0;
  for (const auto& slot : slots_) {
    if (slot->unit() == nullptr) continue;
    const bool hold = must_hold(*slot);
    if (hold && !slot->paused()) slot->pause(now);
    if (!hold && slot->paused()) slot->resume(now);
    if (slot->paused()) continue;
    cores += slot->threads();
    // The owner wants fewer cores used than before.
    if (cores > services_.settings.cores && cores > slot->threads()) slot->let_go(now);
  }
}

// Somebody came: that is all that is looked at until the kernels stand still.
void Engine::yield_at_once(SteadyTime now) {
  if (services_.surroundings == nullptr || !services_.surroundings->touched()) return;
  for (const auto& slot : slots_) slot->put_off_saving(now);
  decide(now);
  apply_decision(now);
}

// A kernel that is paused for long gives its memory back. What it finished is on disk; the item that it was
// at is saved first where the kernel can, else it begins anew. At once, if other projects may use the slot.
void Engine::give_back(SteadyTime now) {
  for (const auto& slot : slots_) {
    if (slot->unit() == nullptr || !slot->paused()) continue;
    const bool gives_way = decision_.mode != RunMode::pause && must_give_way(*slot->unit());
    const SteadyTime at = slot->paused_at() + (gives_way ? Duration{0} : wishes_.give_back_after);
    if (now < at) {
      alarm_.at(at);
      continue;
    }
    if (slot->saving(now)) continue;
    spdlog::info("slot {}: paused for {}: the kernel ends and gives its memory back", slot->number(),
                 client_policy::rough_text(now - slot->paused_at()));
    slot->take_away(now);
  }
}

void Engine::check_disk(SteadyTime now) {
  if (now - disk_checked_ < disk_check_interval && disk_checked_ != SteadyTime{}) return;
  disk_checked_ = now;
  const auto free = services_.files.free_bytes(services_.state.root);
  disk_low_.reset();
  if (free.ok() && *free < services_.settings.free_bytes_min)
    disk_low_ = "the disk is nearly full: no new work is taken until " +
                std::to_string(services_.settings.free_bytes_min >> 20) + " MiB are free";
}

void Engine::tick() {
  alarm_.reset();
  yield_at_once(services_.clock.steady());
  for (Workers* const workers : workers_) workers->deliver();
  const SteadyTime now = services_.clock.steady();
  note_calendar(now);
  for (const auto& slot : slots_) slot->pump(now);
  check_disk(now);
  share_out();
  decide(now);
  apply_decision(now);
  // Before the computer sleeps: it may wake up with an empty battery.
  if (before_sleep_ && !secured_)
    for (const auto& project : projects_) project->secure_units();
  secured_ = before_sleep_;
  give_back(now);
  for (const auto& slot : slots_) slot->watch(now);
  charge_projects(now);
  if (!stopping_ && !all_revoked())
    measurements_.tick(now, decision_.mode != RunMode::pause && cores_in_use() == 0, alarm_);
  units_came(now);
  talk(now);
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

std::vector<int> Engine::descriptors() const {
  std::vector<int> all;
  for (const Workers* const workers : workers_)
    if (workers->descriptor() >= 0) all.push_back(workers->descriptor());
  for (const auto& slot : slots_)
    if (slot->output_descriptor() >= 0) all.push_back(slot->output_descriptor());
  if (services_.surroundings != nullptr)
    for (const int descriptor : services_.surroundings->descriptors()) all.push_back(descriptor);
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
  for (const auto& project : projects_) project->talk().heartbeat_soon(now);
  tick();
  save_shares(now);
}

bool Engine::settled() const {
  return stopping_ && std::all_of(projects_.begin(), projects_.end(),
                                  [](const auto& project) { return project->settled(); });
}

Status Engine::pause(std::optional<Duration> length) {
  controls_.pause_length = length ? *length : Duration::max();
  controls_.pause_begun = services_.clock.now();
  return save_controls(services_.files, services_.state.preferences(), controls_);
}

Status Engine::resume() {
  controls_ = Controls{};
  return save_controls(services_.files, services_.state.preferences(), controls_);
}

Status Engine::finish() {
  controls_.finish = true;
  return save_controls(services_.files, services_.state.preferences(), controls_);
}

}  // namespace gleaner::engine
