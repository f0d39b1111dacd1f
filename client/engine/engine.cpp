#include "client/engine/engine.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "shared/base/limits.h"
#include "shared/protocol/codec.h"

namespace gleaner::engine {

using client_policy::RunMode;
using client_policy::UnitEvent;
using client_policy::UnitState;

namespace {
constexpr Duration wait_max = std::chrono::minutes{10};
constexpr Duration owner_look_interval = std::chrono::seconds{2};
constexpr Duration owner_rest_interval = std::chrono::seconds{10};
constexpr Duration owner_idle_interval = std::chrono::minutes{1};
constexpr Duration calendar_jump = std::chrono::seconds{30};
constexpr Duration disk_check_interval = std::chrono::minutes{1};
}  // namespace

Engine::Engine(Services services, Identity identity)
    : services_(std::move(services)),
      identity_(std::move(identity)),
      trust_(identity_.code.root_fingerprint, identity_.host.host),
      warehouse_(services_.files, services_.state, services_.unpack, services_.settings.cache_bytes_max,
                 services_.settings.free_bytes_min),
      deliveries_(services_, units_, trust_, {identity_.code.base_url(), identity_.host.token}),
      talk_(services_, {identity_.code.base_url(), identity_.host.token}, trust_, deliveries_, *this) {
  for (int number = 0; number < services_.settings.cores; ++number)
    slots_.push_back(std::make_unique<Slot>(services_, number));
}

Engine::~Engine() = default;

Status Engine::open() {
  TRY(warehouse_.clean());
  TRY_ASSIGN(controls_, load_controls(services_.files, services_.state.preferences()));
  deliveries_.receipts().open();
  if (identity_.project) {
    deliveries_.receipts().know_project(*identity_.project);
    if (const Status known = trust_.accept_project(*identity_.project, services_.clock.now()); !known.ok())
      spdlog::warn("the stored project document is fetched again: {}", known.error().message);
  }
  load_units();
  if (services_.settings.benchmark_mflops) {
    benchmark_ = protocol::Benchmark{*services_.settings.benchmark_mflops, services_.clock.now()};
  } else if (const auto text = services_.files.read(services_.state.benchmark(), limits::header_bytes_max);
             text.ok()) {
    if (const auto stored = protocol::decode<protocol::Benchmark>(*text); stored.ok()) benchmark_ = *stored;
  }
  calendar_ = services_.clock.now();
  calendar_at_ = opened_ = services_.clock.steady();
  services_.gate.set_share(services_.settings.cpu_share);
  return {};
}

void Engine::load_units() {
  const auto names = services_.files.list(services_.state.units());
  if (!names.ok()) return;
  int next_slot = 0;
  for (const std::string& name : *names) {
    auto held = HeldUnit::load(services_.files, services_.state.units() / name);
    if (!held.ok()) {
      spdlog::warn("a unit that was in hand cannot be read and is dropped: {}", held.error().message);
      if (const Status gone = services_.files.remove_all(services_.state.units() / name); !gone.ok())
        spdlog::warn("{}", gone.error().message);
      continue;
    }
    auto unit = std::make_unique<Unit>(std::move(held).value());
    unit->slot = next_slot++ % static_cast<int>(slots_.size());
    spdlog::info("unit {} of {} goes on at item {} of {}-{}", unit->id().value, unit->grant().problem_name,
                 unit->held->finished(), unit->grant().range.begin, unit->held->end() - 1);
    if (unit->held->stopped() || unit->held->complete()) unit->stop();
    units_.emplace(unit->id(), std::move(unit));
  }
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
  talk_.forget_waits(now);
}

std::vector<client_policy::Signal> Engine::signals() const {
  std::vector<client_policy::Signal> signals;
  if (revoked_)
    signals.push_back(
        {"server", RunMode::pause,
         "this host was revoked: join again with gleaner-client join CODE (" + *revoked_ + ")"});
  if (const std::string refusal = services_.launcher.refusal(); !refusal.empty())
    signals.push_back({"sandbox", RunMode::pause, refusal});
  if (stopping_) signals.push_back({"client", RunMode::pause, "the client is stopping"});
  if (deliveries_.disk_trouble())
    signals.push_back({"disk", RunMode::pause, "results cannot be written: " + *deliveries_.disk_trouble()});
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
  const bool nothing_to_do = units_.empty() && verdict.signals.empty();
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
  warehouse_.set_limits(wishes.cache_bytes_max, wishes.free_bytes_min);
  settings.applications = wishes.applications;
  disk_checked_ = {};
  if (wishes.memory_bytes > 0) settings.memory_bytes = wishes.memory_bytes;
  if (services_.surroundings != nullptr) services_.surroundings->watch_programs(wishes.exclusive);
  if (settings.cpu_share == wishes.cpu_share) return;
  settings.cpu_share = wishes.cpu_share;
  services_.gate.set_share(wishes.cpu_share);
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
  if (paused_before || decision_.mode == RunMode::pause) talk_.heartbeat_soon(now);
}

void Engine::apply_decision(SteadyTime now) {
  const auto must_hold = [this](const Slot& slot) {
    return decision_.mode == RunMode::pause || slot.unit()->held_back;
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
// at is saved first where the kernel can, else it begins anew.
void Engine::give_back(SteadyTime now) {
  for (const auto& slot : slots_) {
    if (slot->unit() == nullptr || !slot->paused()) continue;
    const SteadyTime at = slot->paused_at() + wishes_.give_back_after;
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

// Before the computer sleeps: it may wake up with an empty battery.
void Engine::secure_units() {
  if (before_sleep_ && !secured_)
    for (const auto& [id, unit] : units_)
      if (const Status safe = unit->held->uncut() > 0 ? unit->held->sync() : Status(); !safe.ok())
        spdlog::warn("unit {} before sleep: {}", id.value, safe.error().message);
  secured_ = before_sleep_;
}

void Engine::tick() {
  alarm_.reset();
  yield_at_once(services_.clock.steady());
  services_.workers.deliver();
  const SteadyTime now = services_.clock.steady();
  note_calendar(now);
  for (const auto& slot : slots_) slot->pump(now);
  if (now - disk_checked_ >= disk_check_interval || disk_checked_ == SteadyTime{}) {
    disk_checked_ = now;
    const auto free = services_.files.free_bytes(services_.state.root);
    disk_low_.reset();
    if (free.ok() && *free < services_.settings.free_bytes_min)
      disk_low_ = "the disk is nearly full: no new work is taken until " +
                  std::to_string(services_.settings.free_bytes_min >> 20) + " MiB are free";
  }
  decide(now);
  apply_decision(now);
  secure_units();
  give_back(now);
  for (const auto& slot : slots_) slot->watch(now);
  start_benchmark(now);
  prepare_units(now);
  start_units(now);
  // A finished unit's last commit waits a moment for the work request that is about to be sent.
  SteadyTime ride = now;
  for (const auto& slot : slots_) {
    const auto until = client_policy::until_ask(prefetch_view(*slot, now));
    if (until && *until <= std::chrono::seconds{1} && !stopping_)
      ride = now + *until + std::chrono::milliseconds{50};
    if (until) alarm_.at(now + *until);
  }
  deliveries_.hold_for_ride(ride);
  deliveries_.allow_uploads(no_network_.empty());
  deliveries_.tick(now, stopping_ ? Closing::yes : Closing::no, alarm_);
  if (!revoked_ && no_network_.empty()) talk_.tick(now, alarm_);
  for (const auto& slot : slots_) {
    slot->set_alarm(alarm_);
    if (slot->unit() != nullptr && !slot->paused())
      alarm_.at(now + std::max<Duration>(std::chrono::seconds{1},
                                         std::chrono::seconds{slot->unit()->grant().commit_seconds} -
                                             slot->unit()->run_time));
    if (slot->unit() == nullptr && next_for(*slot) != nullptr && slot->start_at() > now)
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
  if (services_.workers.descriptor() >= 0) all.push_back(services_.workers.descriptor());
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
  talk_.heartbeat_soon(now);
  tick();
}

bool Engine::settled() const {
  if (!stopping_) return false;
  return revoked_.has_value() || (!talk_.busy() && !deliveries_.under_way());
}

void Engine::revoked(const std::string& reason) {
  if (revoked_) return;
  revoked_ = reason;
  spdlog::error("this host was revoked: join again with gleaner-client join CODE ({})", reason);
  if (const Status marked = mark_revoked(services_.files, services_.state); !marked.ok())
    spdlog::warn("{}", marked.error().message);
  const SteadyTime now = services_.clock.steady();
  for (const auto& slot : slots_) {
    slot->take_away(now);
    slot->end_kernel();
  }
}

void Engine::project_known(const protocol::SignedStatement& statement) {
  identity_.project = statement;
  deliveries_.receipts().know_project(statement);
  if (const Status saved = save_project(services_.files, services_.state, statement); !saved.ok())
    spdlog::warn("{}", saved.error().message);
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
