#include "client/engine/slot.h"

#include <spdlog/spdlog.h>

#include "client/engine/item_observer.h"

namespace gleaner::engine {

using client_policy::HangVerdict;
using client_policy::UnitEvent;
using contract::KernelEvent;

namespace {
constexpr std::int64_t disk_full_bytes = 1 << 20;
constexpr int events_per_pump_max = 10'000;  // a chatty kernel must not keep the engine from everything else

void step_if_legal(Unit& unit, UnitEvent event) {
  if (client_policy::after(unit.state, event)) unit.step(event);
}
}  // namespace

Status Slot::start_kernel(const Unit& unit, const Checkpoint& checkpoint, SteadyTime now) {
  rate_ = {};
  TRY(kernel_.make_directory());
  TRY(checkpoints_.lay_out(unit, checkpoint));
  TRY(kernel_.start(*unit.prepared, unit.grant().problem));
  time_.start_kernel();
  memory_kills_ = services_.machine.memory_kills();
  talk_.start(now);
  const bundle::Manifest& manifest = unit.prepared->manifest;
  spdlog::info("slot {}: started {} {} for problem {}", number_, manifest.name, manifest.version,
               unit.grant().problem_name);
  return {};
}

Status Slot::start(Unit& unit, SteadyTime now) {
  using First = client_policy::LastMinuteRate::First;
  CHECK_TRUE(unit_ == nullptr && !draining_until_ && unit.wants_kernel() && unit.prepared);
  const protocol::Grant& grant = unit.grant();
  const Checkpoint checkpoint = checkpoints_.find(unit);
  // A checkpoint is laid out where no kernel runs yet.
  if (checkpoint.any() || !kernel_.serves(*unit.prepared, grant.problem)) end_kernel();
  if (!kernel_.running()) {
    if (Status started = start_kernel(unit, checkpoint, now); !started.ok()) {
      unit.fail(started.error().kind == ErrorKind::untrusted ? protocol::FailureKind::untrusted
                                                             : protocol::FailureKind::not_executable,
                started.error().message);
      start_at_ = now + failures_.failed(services_.random);
      return started;
    }
  }
  kernel_.set_problem(*unit.prepared);
  unit_ = &unit;
  paused_at_.reset();
  saving_ = Saving::no;
  unit.step(UnitEvent::start);
  rate_.start_unit(now, grant.cost > 0 ? grant.cost / static_cast<double>(grant.range.size()) : 1,
                   checkpoint.any() ? First::begun : First::anew);
  continued_ = checkpoint.where == Checkpoint::Where::here;
  checkpoints_.start(now);
  time_.start_unit(kernel_.cpu_time(), now);
  contract::KernelSession& session = kernel_.session();
  session.start_unit(grant.stage, {unit.held->finished(), unit.held->end()}, checkpoint.any());
  if (checkpoint.any())
    spdlog::info("slot {}: item {} of {} continues where {}", number_, unit.held->finished(),
                 grant.problem_name, continued_ ? "it was saved" : "another computer left it");
  session.pump();
  return {};
}

void Slot::hold() {
  if (!paused() && unit_ != nullptr) kernel_.hold();
}

void Slot::pause(SteadyTime now) {
  if (paused() || unit_ == nullptr) return;
  kernel_.hold();  // at once: what follows takes its time
  account(now);
  paused_at_ = now;
  rate_.pause(now);
  unit_->step(UnitEvent::pause);
}

void Slot::resume(SteadyTime now) {
  if (!paused() || unit_ == nullptr) return;
  account(now);
  paused_at_.reset();
  saving_ = Saving::no;
  kernel_.release();
  rate_.resume(now);
  time_.resume(now);
  unit_->step(UnitEvent::resume);
}

bool Slot::saving(SteadyTime now) {
  if (!paused() || unit_ == nullptr || !kernel_.running() || saving_ == Saving::ended) return false;
  if (saving_ == Saving::asked) {
    if (now < saving_until_) return true;
    spdlog::info("slot {}: the kernel did not save its item in time", number_);
    kernel_.hold();
    saving_ = Saving::ended;
    return false;
  }
  if (!kernel_.session().offers_checkpoints()) return false;
  saving_ = Saving::asked;
  saving_until_ = now + save_patience;
  kernel_.session().request_checkpoint();
  kernel_.session().pump();
  kernel_.release();
  return true;
}

void Slot::put_off_saving(SteadyTime now) {
  if (saving_ != Saving::asked) return;
  kernel_.hold();
  saving_ = Saving::no;
  paused_at_ = now;
}

void Slot::save_now_and_then(SteadyTime now) {
  const Duration interval = std::chrono::seconds{unit_->grant().commit_seconds};
  if (checkpoints_.due(interval, rate_.on_item(now), now)) save_soon(now);
}

void Slot::save_soon(SteadyTime now) {
  if (unit_ == nullptr || paused() || !kernel_.running()) return;
  if (!unit_->prepared->manifest.checkpoint || !kernel_.session().offers_checkpoints()) return;
  checkpoints_.asked(now);
  kernel_.session().request_checkpoint();
  kernel_.session().pump();
}

void Slot::keep_checkpoint(std::int64_t item, SteadyTime now) {
  const bool ends = saving_ == Saving::asked;
  if (unit_ == nullptr || !(ends || checkpoints_.awaited())) return;
  if (ends) {
    kernel_.hold();
    saving_ = Saving::ended;
  }
  checkpoints_.answered();
  if (item != unit_->held->finished()) return;  // none, or of an item that is done by now
  if (const Status done = checkpoints_.keep(*unit_, kernel_.written()); !done.ok())
    return spdlog::warn("slot {}: item {} is not saved: {}", number_, item, done.error().message);
  ++saves_;
  if (ends) spdlog::info("slot {}: item {} of {} is saved", number_, item, unit_->grant().problem_name);
  if (const double done = rate_.fraction_done(now); done > 0)
    unit_->saved = LocalCheckpoint{item, done, Checkpoints::path_of(*unit_)};
}

void Slot::account(SteadyTime now) {
  if (unit_ == nullptr || !kernel_.running()) return;
  time_.charge(*unit_, kernel_.cpu_time(), kernel_.threads(),
               paused() ? ComputingTime::State::paused : ComputingTime::State::running, now);
}

Unit& Slot::release(SteadyTime now) {
  account(now);
  saving_ = Saving::no;
  rate_.end_unit(now);
  idle_since_ = now;
  return *std::exchange(unit_, nullptr);
}

void Slot::end_kernel() {
  if (!kernel_.running()) return;
  kernel_.end();
  draining_until_.reset();
}

void Slot::take_away(SteadyTime now) {
  if (unit_ == nullptr) return;
  Unit& unit = release(now);
  end_kernel();
  paused_at_.reset();
  step_if_legal(unit, UnitEvent::lose_kernel);
}

void Slot::let_go(SteadyTime now) {
  if (unit_ == nullptr) return;
  if (paused() || !kernel_.running()) return take_away(now);
  kernel_.session().trim(0);
  kernel_.session().pump();
  Unit& unit = release(now);
  draining_until_ = now + let_go_patience;
  step_if_legal(unit, UnitEvent::lose_kernel);
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
  if (kernel_.running() && unit_ == nullptr) alarm.at(idle_since_ + idle_patience);
  if (unit_ != nullptr && !paused()) alarm.at(time_.watch_at());
  if (saving_ == Saving::asked) alarm.at(saving_until_);
}

void Slot::trim(std::int64_t end) {
  if (kernel_.running() && unit_ != nullptr) kernel_.session().trim(end);
}

void Slot::fail_unit(protocol::FailureKind kind, const std::string& message, SteadyTime now) {
  using protocol::FailureKind;
  // A kernel whose disk is full may fail in any way.
  const auto free = services_.files.free_bytes(kernel_.directory().parent_path());
  if (free.ok() && *free < disk_full_bytes &&
      (kind == FailureKind::kernel_crashed || kind == FailureKind::kernel_error))
    return fail_unit(FailureKind::not_executable, "this computer's disk is full: " + message, now);
  end_kernel();
  paused_at_.reset();
  if (unit_ == nullptr) return spdlog::warn("slot {}: without a unit: {}", number_, message);
  Unit& unit = *std::exchange(unit_, nullptr);
  spdlog::warn("slot {}: unit {} of {}: {}", number_, unit.id().value, unit.grant().problem_name, message);
  rate_.end_unit(now);
  unit.fail(kind, message);
  start_at_ = now + failures_.failed(services_.random);
}

void Slot::finish_item(const KernelEvent& event, SteadyTime now) {
  if (unit_ == nullptr) return;
  unit_->kills = 0;
  unit_->held->add_item(event.item, event.data);
  ++saves_;
  if (services_.observer != nullptr) services_.observer->item_finished(*unit_, event.item, event.data);
  rate_.finish_item(now);
  continued_ = false;
  time_.finish_item(kernel_.cpu_time());
}

void Slot::finish_unit(std::int64_t item, SteadyTime now) {
  draining_until_.reset();
  if (unit_ == nullptr) return;
  if (item < unit_->held->end())
    return fail_unit(protocol::FailureKind::bad_output,
                     "the kernel ended the unit early, at item " + std::to_string(item), now);
  Unit& unit = release(now);
  if (paused()) kernel_.release();  // idle: it waits for its next unit
  paused_at_.reset();
  failures_.succeeded();
  unit.step(UnitEvent::stop);
}

void Slot::handle(const KernelEvent& event, SteadyTime now) {
  switch (event.kind) {
    case KernelEvent::Kind::item:
      return finish_item(event, now);
    case KernelEvent::Kind::progress:
      return rate_.progress(now, event.fraction);
    case KernelEvent::Kind::done:
      return finish_unit(event.item, now);
    case KernelEvent::Kind::log:
      spdlog::debug("slot {}: kernel: {}", number_, event.text);
      return;
    case KernelEvent::Kind::checkpointed:
      return keep_checkpoint(event.item, now);
    case KernelEvent::Kind::failed:
      return handle_failure(event, now);
  }
}

// What does not come from the kernel says nothing of the item, and is tried again first.
void Slot::handle_failure(const KernelEvent& event, SteadyTime now) {
  using protocol::FailureKind;
  const bool outside = event.killed || event.failure == FailureKind::not_executable;
  if (outside && unit_ != nullptr && ++unit_->kills <= kills_tolerated) return try_again(event, now);
  if (!event.killed) return fail_unit(event.failure, event.text, now);
  if (const std::string what = kernel_.excess(kernel_.use()); !what.empty())  // its own control group
    return fail_unit(FailureKind::resource_limit, what, now);
  if (services_.machine.memory_kills() > memory_kills_)
    return fail_unit(FailureKind::not_executable,
                     event.text + "; this computer is short of memory: the system ended programs", now);
  fail_unit(event.failure, event.text, now);
}

void Slot::try_again(const KernelEvent& event, SteadyTime now) {
  spdlog::warn("slot {}: unit {} of {} continues with a new kernel: {}", number_, unit_->id().value,
               unit_->grant().problem_name, event.text);
  take_away(now);
}

std::string Slot::output() const {
  return kernel_.running() ? kernel_.session().output() : std::string();
}

void Slot::pump(SteadyTime now) {
  if (!kernel_.running()) return;
  if (const std::string what = kernel_.offence(); !what.empty())
    return fail_unit(protocol::FailureKind::resource_limit, "the kernel " + what, now);
  // The server refused, or the disk lost, what came before: nothing more of this unit is wanted.
  if (unit_ != nullptr && unit_->held->stopped()) {
    Unit& unit = *unit_;
    let_go(now);
    unit.stop();
    if (!kernel_.running()) return;
  }
  kernel_.session().pump();
  for (int i = 0; i < events_per_pump_max && kernel_.running(); ++i) {
    const std::optional<KernelEvent> event = kernel_.session().next_event();
    if (!event) break;
    handle(*event, now);
  }
  if (kernel_.running() && kernel_.session().finished())
    return fail_unit(protocol::FailureKind::kernel_crashed, "the kernel ended by itself", now);
  if (!kernel_.running()) return;
  if (const std::string what = talk_.excess(kernel_.session().talk_bytes(), now); !what.empty())
    fail_unit(protocol::FailureKind::bad_output, what, now);
}

void Slot::watch(SteadyTime now) {
  account(now);
  if (kernel_.running() && unit_ == nullptr && now - idle_since_ >= idle_patience) end_kernel();
  if (unit_ == nullptr || !kernel_.running() || paused() || !time_.watch_due(now)) return;
  const bundle::Manifest& manifest = unit_->prepared->manifest;
  const io::TreeUse use = kernel_.use();
  const HangVerdict verdict =
      time_.watch(kernel_.cpu_time(), use.asleep, manifest.item_seconds, kernel_.threads(), now);
  if (verdict == HangVerdict::asleep)
    return fail_unit(protocol::FailureKind::kernel_hung,
                     "the kernel has done next to nothing for two minutes", now);
  if (verdict == HangVerdict::too_long)
    return fail_unit(protocol::FailureKind::kernel_hung,
                     "one item took more than three times the longest time that the manifest allows", now);
  if (verdict == HangVerdict::endless)
    return fail_unit(protocol::FailureKind::kernel_hung,
                     "one item did not end in a hundred times the longest time that the manifest allows",
                     now);
  if (const std::string what = kernel_.excess(use); !what.empty())
    return fail_unit(protocol::FailureKind::resource_limit, what, now);
  save_now_and_then(now);
}

std::optional<Duration> Slot::remaining(SteadyTime now) const {
  if (unit_ == nullptr) return Duration{0};
  return rate_.remaining(now, unit_->held->end() - unit_->held->finished());
}

}  // namespace gleaner::engine
