#include "client/engine/unit_preparation.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace gleaner::engine {

using client_policy::UnitEvent;
using client_policy::UnitState;

namespace {

constexpr int preparation_failures_max = 8;
constexpr Duration clock_recheck = std::chrono::seconds{10};  // a wrong date that is set right

protocol::FailureKind kind_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::untrusted:
    case ErrorKind::invalid:
    case ErrorKind::conflict:
    case ErrorKind::too_large:
      return protocol::FailureKind::untrusted;
    case ErrorKind::not_found:
    case ErrorKind::io:  // this computer's disk
      return protocol::FailureKind::not_executable;
    case ErrorKind::unauthorized:
    case ErrorKind::forbidden:
    case ErrorKind::banned:
    case ErrorKind::unavailable:
    case ErrorKind::internal:
      break;
  }
  return protocol::FailureKind::download_failed;
}

bool worth_retrying(const Error& error, int failures) {
  return (error.kind == ErrorKind::unavailable || error.kind == ErrorKind::io) &&
         failures < preparation_failures_max;
}

}  // namespace

// Everything that this unit needs is laid out for another one already: no need to queue behind downloads.
std::optional<Prepared> UnitPreparation::prepared_already(const Unit& unit) const {
  if (!unit.grant().inputs.empty()) return std::nullopt;
  const io::Path directory = directory_.problems() / problem_directory_name(unit.grant());
  for (const auto& [id, other] : units_)
    if (other->prepared && other->prepared->problem_directory == directory &&
        other->grant().application.payload == unit.grant().application.payload)
      return other->prepared;
  return std::nullopt;
}

void UnitPreparation::submit(const Unit& unit, TrustedGrant trusted) {
  auto job = [this, id = unit.id(), server = server_, trusted = std::move(trusted),
              platforms =
                  services_.machine.platforms()](transport::JobContext& context) -> transport::Completion {
    transport::JobContext limited = context;
    limited.allowance = &allowance_;
    auto outcome = std::make_shared<Result<Prepared>>(cache_.prepare(limited, server, trusted, platforms));
    const Network network = limited.left() > 0 ? Network::available : Network::none;
    return
        [this, id, outcome, network] { finish(id, std::move(*outcome), network, services_.clock.steady()); };
  };
  workers_.submit(transport::Queue::data, std::move(job));
}

Status UnitPreparation::begin(Unit& unit, SteadyTime now) {
  TRY_ASSIGN(TrustedGrant trusted, trust_.check_grant(unit.held->granted(), services_.clock.now()));
  if (trusted.grant.unit != unit.id())
    return Error{ErrorKind::untrusted, "the stored grant is for another unit"};
  unit.step(UnitEvent::prepare);
  if (auto ready = prepared_already(unit))
    finish(unit.id(), std::move(*ready), Network::available, now);
  else
    submit(unit, std::move(trusted));
  return {};
}

void UnitPreparation::tick(SteadyTime now, Network network, Alarm& alarm) {
  if (!trust_.knows_project()) return;  // the session fetches it
  for (auto& [id, unit] : units_) {
    if (unit->state != UnitState::granted) continue;
    if (now < unit->prepare_at) {
      alarm.at(unit->prepare_at);
      continue;
    }
    if (network == Network::none && !prepared_already(*unit)) continue;
    const Status begun = begin(*unit, now);
    if (begun.ok()) continue;
    if (trust_.clock_is_early(unit->held->granted(), services_.clock.now())) {  // it waits for the right time
      unit->order_reason = begun.error().message;
      unit->prepare_at = now + clock_recheck;
      alarm.at(unit->prepare_at);
      continue;
    }
    unit->fail(protocol::FailureKind::untrusted, begun.error().message);
  }
}

void UnitPreparation::finish(UnitId id, Result<Prepared> outcome, Network network, SteadyTime now) {
  const auto found = units_.find(id);
  if (found == units_.end() || found->second->state != UnitState::preparing) return;
  Unit& unit = *found->second;
  if (outcome.ok()) {
    unit.prepared = std::move(outcome).value();
    unit.step(UnitEvent::prepared);
    mean_.add(now - unit.granted_at);
    return;
  }
  const Error& error = outcome.error();
  if (network == Network::none && error.kind == ErrorKind::unavailable) {  // held back: no failure
    spdlog::info("unit {}: what it needs is fetched later: {}", id.value, error.message);
    unit.step(UnitEvent::preparation_failed);
    unit.prepare_at = now;
    return;
  }
  spdlog::warn("unit {} cannot be prepared: {}", id.value, error.message);
  // What came is kept: a line that breaks now and then is none that does not work.
  const std::int64_t fetched = cache_.progress().total();
  if (fetched > std::exchange(fetched_, fetched)) unit.prepare_backoff.succeeded();
  if (!worth_retrying(error, unit.prepare_backoff.failures()))
    return unit.fail(kind_of(error), error.message);
  unit.step(UnitEvent::preparation_failed);
  unit.prepare_at = now + unit.prepare_backoff.failed(services_.random);
  unit.order_reason = error.message;
}

}  // namespace gleaner::engine
