#include "client/engine/slot.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "client/engine/spectator.h"
#include "client/policy/hang.h"
#include "shared/base/limits.h"
#include "shared/io/compression.h"

namespace gleaner::engine {

using client_policy::UnitEvent;
using contract::KernelEvent;

namespace {
constexpr std::int64_t slot_files_max = 10'000;
constexpr const char* checkpoint_file = "checkpoint";  // apps/CONTRACT.md
constexpr int events_per_pump_max = 10'000;  // a chatty kernel must not keep the engine from everything else

io::Path noted_digest(io::Path checkpoint) {
  return checkpoint += ".sha256";
}

}  // namespace

int Slot::output_descriptor() const {
  return session_ ? session_->process().output_descriptor() : -1;
}

Status Slot::start_kernel(const Unit& unit, const Saved& saved) {
  const Prepared& prepared = *unit.prepared;
  TRY_ASSIGN(const std::string digest, digest_of_file(services_.files, prepared.kernel));
  if (digest != prepared.kernel_digest)
    return Error{ErrorKind::untrusted,
                 "the kernel " + prepared.kernel.string() + " was changed after it was unpacked"};
  KernelLaunch launch;
  launch.slot = number_;
  launch.program = prepared.kernel;
  launch.bundle_directory = prepared.bundle_directory;
  launch.problems_directory = prepared.problem_directory.parent_path();
  launch.slot_directory = services_.state.slot(number_);
  const int wanted = prepared.manifest.threads == 0 ? services_.settings.cores : prepared.manifest.threads;
  launch.threads = std::clamp(wanted, 1, services_.settings.cores);
  launch.memory_bytes = prepared.manifest.memory_bytes;
  launch.disk_bytes = prepared.manifest.disk_bytes;
  TRY(services_.files.remove_all(launch.slot_directory));
  TRY(services_.files.make_directories(launch.slot_directory));
  TRY(lay_out(unit, saved));
  TRY_ASSIGN(std::unique_ptr<io::Process> process, services_.launcher.start(launch));
  launch_ = launch;
  group_ = process->pid();
  threads_ = launch.threads;
  services_.gate.add(group_, threads_);
  session_ = std::make_unique<contract::KernelSession>(std::move(process), prepared.manifest.item_bytes);
  problem_ = unit.grant().problem;
  problem_directory_.clear();
  cpu_accounted_ = Duration{0};
  spdlog::info("slot {}: started {} {} for problem {}", number_, prepared.manifest.name,
               prepared.manifest.version, unit.grant().problem_name);
  return {};
}

// What lay on the disk when the power went may be anything: it counts if it has the digest that was noted.
bool Slot::is_whole(const io::Path& checkpoint) const {
  if (!services_.files.exists(checkpoint)) return false;
  const auto noted = services_.files.read(noted_digest(checkpoint), limits::name_length_max);
  const auto digest = digest_of_file(services_.files, checkpoint);
  return noted.ok() && digest.ok() && *noted == *digest;
}

Slot::Saved Slot::saved(const Unit& unit) const {
  using Where = Saved::Where;
  if (is_whole(checkpoint_of(unit))) return {Where::here, {}};
  const protocol::Grant& grant = unit.grant();
  if (!grant.begun || unit.held->finished() != grant.range.begin || !unit.prepared->manifest.checkpoint)
    return {};
  auto data = io::decompress(grant.begun->data, limits::saved_bytes_max);
  if (data.ok()) return {Where::elsewhere, std::move(data).value()};
  spdlog::warn("slot {}: what another computer saved of item {} of {} cannot be read: {}", number_,
               grant.range.begin, grant.problem_name, data.error().message);
  return {};
}

Status Slot::lay_out(const Unit& unit, const Saved& saved) {
  const io::Path path = services_.state.slot(number_) / checkpoint_file;
  switch (saved.where) {
    case Saved::Where::nowhere:
      return {};
    case Saved::Where::here:
      return services_.files.rename(checkpoint_of(unit), path);
    case Saved::Where::elsewhere:
      return services_.files.write(path, saved.data, io::Mode::normal);
  }
  return {};
}

Status Slot::start(Unit& unit, SteadyTime now) {
  CHECK_TRUE(unit_ == nullptr && !draining_until_ && unit.wants_kernel() && unit.prepared);
  // A checkpoint is laid out where no kernel runs yet.
  const Saved saved = this->saved(unit);
  if (session_ && (saved.any() || launch_.bundle_directory != unit.prepared->bundle_directory ||
                   problem_ != unit.grant().problem || !session_->idle()))
    end_kernel();
  if (!session_) {
    rate_ = {};
    if (Status started = start_kernel(unit, saved); !started.ok()) {
      const auto kind = started.error().kind == ErrorKind::untrusted ? protocol::FailureKind::untrusted
                                                                     : protocol::FailureKind::not_executable;
      unit.fail(kind, started.error().message);
      start_at_ = now + failures_.failed(services_.random);
      return started;
    }
  }
  if (problem_directory_ != unit.prepared->problem_directory) {
    problem_directory_ = unit.prepared->problem_directory;
    session_->set_problem(services_.launcher.inside(launch_, problem_directory_));
  }
  unit_ = &unit;
  paused_ = false;
  saving_ = Saving::no;
  unit.step(UnitEvent::start);
  const protocol::Grant& grant = unit.grant();
  rate_.start_unit(
      now, grant.cost > 0 ? grant.cost / static_cast<double>(grant.range.size()) : 1,
      saved.any() ? client_policy::LastMinuteRate::First::begun : client_policy::LastMinuteRate::First::anew);
  continued_ = saved.where == Saved::Where::here;
  save_asked_ = false;
  saved_at_ = now;
  kept_.reset();
  accounted_ = watched_ = now;
  asleep_ = Duration{0};
  cpu_at_item_ = cpu_watched_ = session_->process().cpu_time();
  session_->start_unit(grant.stage, {unit.held->finished(), unit.held->end()}, saved.any());
  if (saved.any())
    spdlog::info("slot {}: item {} of {} goes on where {}", number_, unit.held->finished(),
                 grant.problem_name, continued_ ? "it was saved" : "another computer left it");
  session_->pump();
  return {};
}

void Slot::hold() {
  if (!paused_ && unit_ != nullptr) services_.gate.pause(group_);
}

void Slot::pause(SteadyTime now) {
  if (paused_ || unit_ == nullptr) return;
  services_.gate.pause(group_);  // at once: what follows takes its time
  account(now);
  paused_ = true;
  paused_at_ = now;
  rate_.pause(now);
  unit_->step(UnitEvent::pause);
}

void Slot::resume(SteadyTime now) {
  if (!paused_ || unit_ == nullptr) return;
  account(now);
  paused_ = false;
  saving_ = Saving::no;
  services_.gate.resume(group_);
  rate_.resume(now);
  watched_ = now;
  unit_->step(UnitEvent::resume);
}

bool Slot::saving(SteadyTime now) {
  if (!paused_ || unit_ == nullptr || !session_ || saving_ == Saving::ended) return false;
  if (saving_ == Saving::asked) {
    if (now < saving_until_) return true;
    spdlog::info("slot {}: the kernel did not save its item in time", number_);
    services_.gate.pause(group_);
    saving_ = Saving::ended;
    return false;
  }
  if (!session_->offers_checkpoints()) return false;
  saving_ = Saving::asked;
  saving_until_ = now + save_patience;
  session_->request_checkpoint();
  session_->pump();
  services_.gate.resume(group_);
  return true;
}

void Slot::put_off_saving(SteadyTime now) {
  if (saving_ != Saving::asked) return;
  services_.gate.pause(group_);
  saving_ = Saving::no;
  paused_at_ = now;
}

io::Path Slot::checkpoint_of(const Unit& unit) const {
  return unit.held->directory() / ("checkpoint-" + std::to_string(unit.held->finished()));
}

// Long items are saved as often as finished ones are delivered, while the kernel goes on.
void Slot::save_now_and_then(SteadyTime now) {
  const Duration every = std::chrono::seconds{unit_->grant().commit_seconds};
  if (save_asked_ || !unit_->prepared->manifest.checkpoint || !session_->offers_checkpoints()) return;
  if (rate_.on_item(now) < every || now - saved_at_ < every) return;
  save_asked_ = true;
  saved_at_ = now;
  session_->request_checkpoint();
  session_->pump();
}

void Slot::keep_checkpoint(std::int64_t item, SteadyTime now) {
  const bool ends = saving_ == Saving::asked;
  if (ends) {
    services_.gate.pause(group_);
    saving_ = Saving::ended;
  }
  save_asked_ = false;
  if (item != unit_->held->finished()) return;  // none, or of an item that is done by now
  const io::Path kept = checkpoint_of(*unit_);
  if (const Status done = move_checkpoint(kept); !done.ok())
    return spdlog::warn("slot {}: item {} is not saved: {}", number_, item, done.error().message);
  if (ends) spdlog::info("slot {}: item {} of {} is saved", number_, item, unit_->grant().problem_name);
  if (const double share = rate_.share(now); share > 0) unit_->saved = SavedHere{item, share, kept};
}

// The file is the kernel's, and might be anything. Once it is here, the kernel cannot put another one there.
Status Slot::move_checkpoint(const io::Path& to) {
  io::Files& files = services_.files;
  if (kept_ && *kept_ != to) {  // of an item that is done
    TRY(files.remove(*kept_));
    TRY(files.remove(noted_digest(*kept_)));
  }
  kept_ = to;
  TRY(files.remove(noted_digest(to)));
  TRY(files.rename(services_.state.slot(number_) / checkpoint_file, to));
  const auto size = files.size(to);
  if (!files.is_plain(to) || !size.ok() || *size > limits::checkpoint_bytes_max) {
    TRY(files.remove_all(to));
    return Error{ErrorKind::invalid, "what the kernel wrote is no file, or larger than any may be"};
  }
  TRY_ASSIGN(const std::string digest, digest_of_file(files, to));
  return files.write_at(noted_digest(to), 0, digest);
}

void Slot::account(SteadyTime now) {
  if (unit_ == nullptr || !session_) return;
  const Duration cpu = session_->process().cpu_time();
  unit_->cpu_time += std::max(Duration{0}, cpu - cpu_accounted_);
  cpu_accounted_ = cpu;
  if (!paused_) {
    unit_->run_time += now - accounted_;
    unit_->core_time += threads_ * (now - accounted_);
  }
  accounted_ = now;
}

void Slot::release(SteadyTime now) {
  account(now);
  saving_ = Saving::no;
  rate_.end_unit(now);
  unit_ = nullptr;
  idle_since_ = now;
}

void Slot::end_kernel() {
  if (!session_) return;
  services_.gate.remove(group_);
  session_.reset();
  group_ = 0;
  draining_until_.reset();
}

void Slot::take_away(SteadyTime now) {
  if (unit_ == nullptr) return;
  Unit& unit = *unit_;
  release(now);
  end_kernel();
  paused_ = false;
  if (client_policy::after(unit.state, UnitEvent::lose_kernel)) unit.step(UnitEvent::lose_kernel);
}

void Slot::let_go(SteadyTime now) {
  if (unit_ == nullptr) return;
  if (paused_ || !session_) return take_away(now);
  Unit& unit = *unit_;
  session_->trim(0);
  session_->pump();
  release(now);
  draining_until_ = now + let_go_patience;
  if (client_policy::after(unit.state, UnitEvent::lose_kernel)) unit.step(UnitEvent::lose_kernel);
}

bool Slot::ready(SteadyTime now) {
  if (unit_ != nullptr) return false;
  if (!draining_until_) return true;
  if (now < *draining_until_) return false;
  end_kernel();
  return true;
}

void Slot::set_alarm(Alarm& alarm) const {
  if (draining_until_) alarm.at(*draining_until_);
  if (session_ && unit_ == nullptr) alarm.at(idle_since_ + idle_patience);
  if (unit_ != nullptr && !paused_) alarm.at(watched_ + watch_interval);
  if (saving_ == Saving::asked) alarm.at(saving_until_);
}

void Slot::trim(std::int64_t end) {
  if (session_ && unit_ != nullptr) session_->trim(end);
}

void Slot::fail_unit(protocol::FailureKind kind, const std::string& message, SteadyTime now) {
  end_kernel();
  paused_ = false;
  if (unit_ == nullptr) return;
  Unit& unit = *unit_;
  spdlog::warn("slot {}: unit {} of {}: {}", number_, unit.id().value, unit.grant().problem_name, message);
  rate_.end_unit(now);
  unit_ = nullptr;
  unit.fail(kind, message);
  start_at_ = now + failures_.failed(services_.random);
}

void Slot::handle(const KernelEvent& event, SteadyTime now) {
  switch (event.kind) {
    case KernelEvent::Kind::item:
      if (unit_ == nullptr) return;
      unit_->held->add_item(event.item, event.data);
      if (services_.spectator != nullptr) services_.spectator->item_finished(*unit_, event.item, event.data);
      rate_.finish_item(now);
      continued_ = false;
      cpu_at_item_ = session_->process().cpu_time();
      return;
    case KernelEvent::Kind::progress:
      rate_.progress(now, event.fraction);
      return;
    case KernelEvent::Kind::done: {
      draining_until_.reset();
      if (unit_ == nullptr) return;
      if (event.item < unit_->held->end())
        return fail_unit(protocol::FailureKind::bad_output,
                         "the kernel ended the unit early, at item " + std::to_string(event.item), now);
      Unit& unit = *unit_;
      release(now);
      if (paused_) services_.gate.resume(group_);  // idle: it waits for its next unit
      paused_ = false;
      failures_.succeeded();
      unit.step(UnitEvent::stop);
      return;
    }
    case KernelEvent::Kind::log:
      spdlog::debug("slot {}: kernel: {}", number_, event.text);
      return;
    case KernelEvent::Kind::checkpointed:
      if (unit_ != nullptr && (saving_ == Saving::asked || save_asked_)) keep_checkpoint(event.item, now);
      return;
    case KernelEvent::Kind::failed:
      return fail_unit(event.failure, event.text, now);
  }
}

void Slot::pump(SteadyTime now) {
  if (!session_) return;
  // The server refused, or the disk lost, what came before: nothing more of this unit is wanted.
  if (unit_ != nullptr && unit_->held->stopped()) {
    Unit& unit = *unit_;
    let_go(now);
    unit.stop();
    if (!session_) return;
  }
  session_->pump();
  for (int i = 0; i < events_per_pump_max && session_; ++i) {
    const std::optional<KernelEvent> event = session_->next_event();
    if (!event) break;
    handle(*event, now);
  }
  if (session_ && session_->finished())
    fail_unit(protocol::FailureKind::kernel_crashed, "the kernel ended by itself", now);
}

void Slot::watch(SteadyTime now) {
  account(now);
  if (session_ && unit_ == nullptr && now - idle_since_ >= idle_patience) end_kernel();
  if (unit_ == nullptr || !session_ || paused_ || now - watched_ < watch_interval) return;
  const bundle::Manifest& manifest = unit_->prepared->manifest;
  const Duration cpu = session_->process().cpu_time();
  // Sleeping and no CPU used: asked twice, so that a kernel seen between two bursts does not count.
  const io::TreeUse use = services_.machine.use(group_);
  const bool still = cpu - cpu_watched_ < std::chrono::milliseconds{1} && use.asleep;
  asleep_ = still ? asleep_ + (now - watched_) : Duration{0};
  cpu_watched_ = cpu;
  watched_ = now;
  const auto verdict = client_policy::judge({asleep_, cpu - cpu_at_item_, manifest.item_seconds, threads_});
  if (verdict == client_policy::HangVerdict::asleep)
    return fail_unit(protocol::FailureKind::kernel_hung, "the kernel has done nothing for two minutes", now);
  if (verdict == client_policy::HangVerdict::too_long)
    return fail_unit(protocol::FailureKind::kernel_hung,
                     "one item took more than three times the longest time that the manifest allows", now);
  if (const std::string what = excess(use); !what.empty())
    return fail_unit(protocol::FailureKind::resource_limit, what, now);
  save_now_and_then(now);
}

std::string Slot::excess(const io::TreeUse& use) const {
  const bundle::Manifest& manifest = unit_->prepared->manifest;
  if (services_.launcher.out_of_memory(number_))
    return "the kernel wanted more than " +
           std::to_string(kernel_memory_max(manifest.memory_bytes, threads_) >> 20) +
           " MiB of memory: the system ended one of its processes; the manifest allows " +
           std::to_string(manifest.memory_bytes >> 20) + " MiB";
#ifndef GLEANER_SANITIZED  // instrumented kernels hold several times what they use
  if (use.memory_bytes > kernel_memory_max(manifest.memory_bytes, threads_))
    return "the kernel holds " + std::to_string(use.memory_bytes >> 20) + " MiB of memory in " +
           std::to_string(use.processes) + " processes; the manifest allows " +
           std::to_string(manifest.memory_bytes >> 20) + " MiB";
#endif
  if (use.threads >= kernel_tasks_max(threads_))
    return "the kernel started too many processes or threads: " + std::to_string(use.threads) + "; " +
           std::to_string(kernel_tasks_max(threads_)) + " are not allowed";
  const DirectoryUsage usage = services_.machine.usage(services_.state.slot(number_), slot_files_max);
  if (usage.bytes > manifest.disk_bytes || usage.files >= slot_files_max)
    return "the kernel wrote " + std::to_string(usage.bytes) + " bytes in " + std::to_string(usage.files) +
           " files; the manifest allows " + std::to_string(manifest.disk_bytes) + " bytes in fewer than " +
           std::to_string(slot_files_max) + " files";
  return {};
}

std::optional<Duration> Slot::remaining(SteadyTime now) const {
  if (unit_ == nullptr) return Duration{0};
  return rate_.remaining(now, unit_->held->end() - unit_->held->finished());
}

}  // namespace gleaner::engine
