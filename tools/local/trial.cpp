#include "tools/local/trial.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "shared/io/process_tree.h"

namespace gleaner::local {
namespace {

constexpr Duration trial_output_wait = std::chrono::milliseconds{5};
constexpr Duration measure_every = std::chrono::milliseconds{20};
// A kernel that takes more than this many times its limit is ended before it takes the machine.
constexpr std::int64_t memory_factor = 2;
constexpr std::int64_t emulator_bytes = std::int64_t{1} << 30;  // of its own
constexpr double emulator_slowness = 30;
// The contract says two seconds; a loaded machine may need longer to run the kernel at all.
constexpr Duration quit_patience = std::chrono::seconds{6};
constexpr Duration quit_allowed = std::chrono::seconds{4};

void wait_for_output(io::Process& process) {
  const io::Waitable output = process.output_waitable();
  (void)io::wait_any({&output, 1}, trial_output_wait);
}

}  // namespace

Status Trial::start() {
  TRY(world_.files.make_directories(place_.directory));
  TRY_ASSIGN(const auto spec, world_.confinement.kernel(bundle_, {place_.directory, place_.problem,
                                                                  place_.threads, place_.environment}));
  TRY_ASSIGN(auto process, world_.processes.start(spec));
  session_ = std::make_unique<contract::KernelSession>(std::move(process), bundle_.manifest.item_bytes,
                                                       bundle_.modules());
  session_->set_problem(world_.confinement.inside(place_.problem));
  return {};
}

Result<Trial::Outcome> Trial::run(const Unit& unit) {
  if (!session_) TRY(start());
  Outcome outcome;
  began_ = item_since_ = world_.clock.steady();
  overrun_since_ = {};
  const Duration cpu_before = session_->process().cpu_time();
  session_->start_unit(unit.stage, unit.items, unit.from_checkpoint);
  if (unit.end_at >= 0) session_->trim(unit.end_at);
  saving_ = false;
  for (bool over = false; !over;) {
    if (world_.interrupted()) return Error{ErrorKind::io, "interrupted: nothing was kept"};
    const bool at_last = std::cmp_equal(outcome.items.size() + 1, unit.items.size());
    const bool save_now =
        unit.save && at_last && to_seconds(world_.clock.steady() - item_since_) >= unit.save_after_seconds;
    if (save_now && !saving_ && session_->offers_checkpoints()) {
      saving_ = true;
      session_->request_checkpoint();
    }
    session_->pump();
    bool heard = false;
    while (auto event = session_->next_event()) {
      heard = true;
      TRY_ASSIGN(over, take(unit, *event, outcome));
      if (over) break;
    }
    const SteadyTime now = world_.clock.steady();
    if (over || now - measured_ >= measure_every) measure(outcome);
    if (!over && outcome.peak_bytes > memory_max()) {
      outcome.end = End::too_large;
      over = true;
    }
    if (!over && to_seconds(now - item_since_) > item_seconds_max()) {
      outcome.failure =
          "it worked longer on one item than the manifest's item_seconds allow; kernels that do are taken to "
          "hang: raise item_seconds, or make items smaller";
      over = true;
    }
    if (!over && !heard) wait_for_output(session_->process());
  }
  outcome.seconds = to_seconds(world_.clock.steady() - began_);
  outcome.cpu_seconds = to_seconds(session_->process().cpu_time() - cpu_before);
  if (overrun_since_ != SteadyTime{})
    outcome.overrun_seconds = to_seconds(world_.clock.steady() - overrun_since_);
  if (outcome.end != End::done) kill();
  return outcome;
}

std::int64_t Trial::memory_max() const {
  return memory_factor * bundle_.manifest.memory_bytes + (bundle_.emulator ? emulator_bytes : 0);
}

double Trial::item_seconds_max() const {
  return bundle_.manifest.item_seconds * (bundle_.emulator ? emulator_slowness : 1);
}

// True: that was the end.
Result<bool> Trial::take(const Unit& unit, contract::KernelEvent& event, Outcome& outcome) {
  using Kind = contract::KernelEvent::Kind;
  const SteadyTime now = world_.clock.steady();
  switch (event.kind) {
    case Kind::item: {
      outcome.slowest_item_seconds = std::max(outcome.slowest_item_seconds, to_seconds(now - item_since_));
      item_since_ = now;
      if (unit.end_at >= 0 && event.item >= unit.end_at && overrun_since_ == SteadyTime{})
        overrun_since_ = now;
      bool wanted = true;
      if (unit.on_item) {
        TRY_ASSIGN(wanted, unit.on_item(event.item, event.data));
      }
      outcome.items.push_back(std::move(event.data));
      if (wanted && event.item + 1 != unit.kill_at) return false;
      outcome.end = End::killed;
      return true;
    }
    case Kind::done:
      outcome.end = End::done;
      return true;
    case Kind::failed:
      outcome.failure = event.text;
      return true;
    case Kind::checkpointed:
      if (event.item >= 0) outcome.end = End::saved;
      saving_ = false;
      return event.item >= 0;
    case Kind::progress:
    case Kind::log:
      return false;
  }
  return false;
}

void Trial::measure(Outcome& outcome) {
  measured_ = world_.clock.steady();
  outcome.peak_bytes =
      std::max(outcome.peak_bytes, io::ProcessTree().peak_memory(session_->process().tree()));
}

void Trial::kill() {
  session_->process().end_tree();
  session_.reset();
}

Result<std::string> Trial::quit() {
  const SteadyTime asked = world_.clock.steady();
  session_->quit();
  while (!session_->finished()) {
    if (world_.interrupted()) return Error{ErrorKind::io, "interrupted: nothing was kept"};
    session_->pump();
    while (session_->next_event()) continue;
    if (world_.clock.steady() - asked > quit_patience) break;
    if (!session_->finished()) wait_for_output(session_->process());
  }
  std::string fault;
  const auto exit = session_->process().poll_exit();
  if (!exit)
    fault = "it does not exit on `quit`";
  else if (!exit->well())
    fault = "on `quit`, it " + exit->describe();
  else if (world_.clock.steady() - asked > quit_allowed)
    fault = "it took longer than two seconds to quit";
  session_.reset();
  return fault;
}

bool Trial::offers_checkpoints() const {
  return session_ && session_->offers_checkpoints();
}

}  // namespace gleaner::local
