// Engine: from a grant to a running kernel.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <utility>

#include "client/engine/benchmark.h"
#include "client/engine/engine.h"
#include "client/policy/prefetch.h"
#include "shared/protocol/codec.h"

namespace gleaner::engine {

using client_policy::RunMode;
using client_policy::UnitEvent;
using client_policy::UnitState;

namespace {
constexpr double preparation_weight = 0.5;  // of the newest
constexpr Duration benchmark_interval = std::chrono::hours{24};

protocol::FailureKind kind_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::untrusted:
    case ErrorKind::invalid:
    case ErrorKind::conflict:
    case ErrorKind::too_large:
      return protocol::FailureKind::untrusted;
    case ErrorKind::not_found:
      return protocol::FailureKind::not_executable;
    case ErrorKind::io:
      return protocol::FailureKind::resource_limit;
    case ErrorKind::unauthorized:
    case ErrorKind::forbidden:
    case ErrorKind::unavailable:
    case ErrorKind::internal:
      break;
  }
  return protocol::FailureKind::download_failed;
}

// What a preparation may be tried again for, and how often.
bool worth_retrying(const Error& error, int failures) {
  return (error.kind == ErrorKind::unavailable || error.kind == ErrorKind::io) && failures < 8;
}

}  // namespace

Slot* Engine::slot_of(const Unit& unit) const {
  for (const auto& slot : slots_)
    if (slot->unit() == &unit) return slot.get();
  return nullptr;
}

// The oldest unit that waits for this slot.
Unit* Engine::next_for(const Slot& slot) const {
  for (const auto& [id, unit] : units_)
    if (unit->slot == slot.number() && unit->wants_kernel()) return unit.get();
  return nullptr;
}

int Engine::cores_in_use() const {
  int cores = 0;
  for (const auto& slot : slots_)
    if (slot->unit() != nullptr) cores += slot->threads();
  return cores;
}

// Everything that this unit needs is laid out for another one already: no need to queue behind downloads.
std::optional<Prepared> Engine::prepared_already(const Unit& unit) const {
  if (!unit.grant().inputs.empty()) return std::nullopt;
  const io::Path directory = services_.state.problems() / problem_key(unit.grant());
  for (const auto& [id, other] : units_)
    if (other->prepared && other->prepared->problem_directory == directory &&
        other->grant().application.payload == unit.grant().application.payload)
      return other->prepared;
  return std::nullopt;
}

void Engine::submit_preparation(Unit& unit, TrustedGrant trusted) {
  const Server server{identity_.code.base_url(), identity_.host.token};
  auto job = [this, id = unit.id(), server, trusted = std::move(trusted),
              platforms = services_.machine.platforms()](JobContext& context) -> Completion {
    auto outcome =
        std::make_shared<Result<Prepared>>(warehouse_.prepare(context, server, trusted, platforms));
    return [this, id, outcome] { prepared(id, std::move(*outcome), services_.clock.steady()); };
  };
  services_.workers.submit(Lane::data, std::move(job));
}

void Engine::prepare_units(SteadyTime now) {
  for (auto& [id, unit] : units_) {
    if (unit->state != UnitState::granted || revoked_) continue;
    if (now < unit->prepare_at) {
      alarm_.at(unit->prepare_at);
      continue;
    }
    if (!trust_.knows_project()) continue;  // talk_ fetches it
    if (!no_network_.empty() && !prepared_already(*unit)) continue;
    auto trusted = trust_.check_grant(unit->held->statement(), services_.clock.now());
    if (!trusted.ok()) {
      unit->fail(protocol::FailureKind::untrusted, trusted.error().message);
      continue;
    }
    if (trusted->grant.unit != id) {
      unit->fail(protocol::FailureKind::untrusted, "the stored grant is for another unit");
      continue;
    }
    unit->step(UnitEvent::prepare);
    if (auto ready = prepared_already(*unit)) {
      prepared(id, std::move(*ready), now);
    } else {
      submit_preparation(*unit, std::move(trusted).value());
    }
  }
}

void Engine::prepared(UnitId id, Result<Prepared> outcome, SteadyTime now) {
  const auto found = units_.find(id);
  if (found == units_.end() || found->second->state != UnitState::preparing) return;
  Unit& unit = *found->second;
  if (outcome.ok()) {
    unit.prepared = std::move(outcome).value();
    unit.step(UnitEvent::prepared);
    const double took = to_seconds(now - unit.granted_at);
    preparation_ =
        from_seconds(to_seconds(preparation_) + preparation_weight * (took - to_seconds(preparation_)));
    return;
  }
  const Error& error = outcome.error();
  spdlog::warn("unit {} cannot be prepared: {}", id.value, error.message);
  if (worth_retrying(error, unit.prepare_backoff.failures())) {
    unit.step(UnitEvent::preparation_failed);
    unit.prepare_at = now + unit.prepare_backoff.failed(services_.random);
    unit.order_reason = error.message;
    return;
  }
  unit.fail(kind_of(error), error.message);
}

void Engine::start_units(SteadyTime now) {
  if (decision_.mode == RunMode::pause) return;
  std::map<UnitId, std::pair<Slot*, Unit*>> waiting;  // oldest first
  for (const auto& slot : slots_) {
    if (!slot->ready(now) || now < slot->start_at()) continue;
    if (Unit* unit = next_for(*slot); unit != nullptr) waiting[unit->id()] = {slot.get(), unit};
  }
  for (const auto& [id, pair] : waiting) {
    const auto [slot, unit] = pair;
    const int threads = unit->prepared->manifest.threads;
    const int wanted =
        std::clamp(threads == 0 ? services_.settings.cores : threads, 1, services_.settings.cores);
    // Younger ones wait as well, or a kernel with several threads would never find its cores free.
    if (cores_in_use() > 0 && cores_in_use() + wanted > services_.settings.cores) break;
    // Again at every start: a certificate may have run out, the disk may have been changed.
    if (const auto trusted = trust_.check_grant(unit->held->statement(), services_.clock.now());
        !trusted.ok()) {
      unit->fail(protocol::FailureKind::untrusted, trusted.error().message);
      continue;
    }
    unit->order_reason.clear();
    if (const Status started = slot->start(*unit, now); !started.ok())
      spdlog::error("slot {}: {}", slot->number(), started.error().message);
    else
      slot->pump(now);
  }
}

void Engine::start_benchmark(SteadyTime now) {
  if (services_.settings.benchmark_mflops || benchmark_running_ || stopping_ || revoked_) return;
  if (now < benchmark_at_) return alarm_.at(benchmark_at_);
  const bool fresh = benchmark_ && services_.clock.now() - benchmark_->measured_at < benchmark_interval &&
                     services_.clock.now() >= benchmark_->measured_at;
  // The first one at once; later ones when no kernel runs, or when waiting for that takes too long.
  if (fresh || (benchmark_ && cores_in_use() > 0)) {
    benchmark_at_ = now + std::chrono::minutes{10};
    return alarm_.at(benchmark_at_);
  }
  benchmark_running_ = true;
  services_.workers.submit(Lane::background, [this](JobContext&) -> Completion {
    services_.machine.lower_thread_priority();
    const auto measured = run_linpack();
    return [this, measured] {
      benchmark_running_ = false;
      benchmark_at_ = services_.clock.steady() + benchmark_interval;
      if (!measured.ok()) return spdlog::error("{}", measured.error().message);
      benchmark_ = protocol::Benchmark{measured->mflops, services_.clock.now()};
      foreign_unloaded_ = 0;
      spdlog::info("benchmark: {:.0f} MFLOP/s", measured->mflops);
      if (const Status saved = services_.files.write(services_.state.benchmark(),
                                                     protocol::encode(*benchmark_), io::Mode::normal);
          !saved.ok())
        spdlog::warn("{}", saved.error().message);
    };
  });
}

}  // namespace gleaner::engine
