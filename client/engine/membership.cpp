#include "client/engine/membership.h"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace gleaner::engine {

using client_policy::UnitEvent;
using client_policy::UnitState;

namespace {
constexpr double preparation_weight = 0.5;  // of the newest
constexpr double unit_weight = 0.3;         // of the newest
constexpr std::size_t outbox_max = 256;     // results without an answer: then no more is taken

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

Membership::Membership(Services& services, Joined joined, SlotKeeper& keeper)
    : services_(services),
      workers_(*joined.workers),
      keeper_(keeper),
      directory_(std::move(joined.directory)),
      identity_(std::move(joined.identity)),
      names_(names_of(directory_, identity_)),
      server_{identity_.code.base_url(), identity_.host.token},
      trust_(identity_.code.root_fingerprint, identity_.host.host),
      warehouse_(services_.files, directory_, services_.unpack, services_.settings.cache_bytes_max,
                 services_.settings.free_bytes_min),
      deliveries_(services_, workers_, directory_, units_, trust_, server_),
      talk_(services_, workers_, server_, trust_, deliveries_, *this),
      link_(std::move(joined.link)) {}

Status Membership::open(int& next_slot) {
  TRY(warehouse_.clean());
  deliveries_.receipts().open();
  if (identity_.project) {
    deliveries_.receipts().know_project(*identity_.project);
    if (const Status known = trust_.accept_project(*identity_.project, services_.clock.now()); !known.ok())
      spdlog::warn("the stored project document is fetched again: {}", known.error().message);
  }
  load_units(next_slot);
  return {};
}

void Membership::load_units(int& next_slot) {
  const auto names = services_.files.list(directory_.units());
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    auto held = HeldUnit::load(services_.files, directory_.units() / name);
    if (!held.ok()) {
      spdlog::warn("a unit that was in hand cannot be read and is dropped: {}", held.error().message);
      if (const Status gone = services_.files.remove_all(directory_.units() / name); !gone.ok())
        spdlog::warn("{}", gone.error().message);
      continue;
    }
    auto unit = std::make_unique<Unit>(std::move(held).value());
    unit->slot = next_slot++ % keeper_.slot_count();
    spdlog::info("unit {} of {} goes on at item {} of {}-{}", unit->id().value, unit->grant().problem_name,
                 unit->held->finished(), unit->grant().range.begin, unit->held->end() - 1);
    if (unit->held->stopped() || unit->held->complete()) unit->stop();
    units_.emplace(unit->id(), std::move(unit));
  }
}

// Everything that this unit needs is laid out for another one already: no need to queue behind downloads.
std::optional<Prepared> Membership::prepared_already(const Unit& unit) const {
  if (!unit.grant().inputs.empty()) return std::nullopt;
  const io::Path directory = directory_.problems() / problem_directory_name(unit.grant());
  for (const auto& [id, other] : units_)
    if (other->prepared && other->prepared->problem_directory == directory &&
        other->grant().application.payload == unit.grant().application.payload)
      return other->prepared;
  return std::nullopt;
}

void Membership::submit_preparation(Unit& unit, TrustedGrant trusted) {
  auto job = [this, id = unit.id(), server = server_, trusted = std::move(trusted),
              platforms = services_.machine.platforms()](JobContext& context) -> Completion {
    auto outcome =
        std::make_shared<Result<Prepared>>(warehouse_.prepare(context, server, trusted, platforms));
    return [this, id, outcome] { prepared(id, std::move(*outcome), services_.clock.steady()); };
  };
  workers_.submit(Lane::data, std::move(job));
}

void Membership::prepare_units(SteadyTime now, Alarm& alarm) {
  for (auto& [id, unit] : units_) {
    if (unit->state != UnitState::granted || revoked_ || suspended_) continue;
    if (now < unit->prepare_at) {
      alarm.at(unit->prepare_at);
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

void Membership::prepared(UnitId id, Result<Prepared> outcome, SteadyTime now) {
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

void Membership::tick(SteadyTime now, SteadyTime ride, Closing closing, Alarm& alarm) {
  deliveries_.hold_for_ride(ride);
  deliveries_.allow_uploads(no_network_.empty());
  deliveries_.tick(now, closing, alarm);
  if (!revoked_ && no_network_.empty()) talk_.tick(now, alarm);
}

void Membership::secure_units() {
  for (const auto& [id, unit] : units_)
    if (const Status safe = unit->held->uncut() > 0 ? unit->held->sync() : Status(); !safe.ok())
      spdlog::warn("unit {} before sleep: {}", id.value, safe.error().message);
}

void Membership::set_share(double share, bool suspended) {
  share_ = share;
  suspended_ = suspended;
}

void Membership::set_cache(std::int64_t cache_bytes_max, std::int64_t free_bytes_min) {
  warehouse_.set_limits(cache_bytes_max, free_bytes_min);
}

bool Membership::holds(const Unit& unit) const {
  const auto found = units_.find(unit.id());
  return found != units_.end() && found->second.get() == &unit;
}

Status Membership::check(const Unit& unit) const {
  const auto trusted = trust_.check_grant(unit.held->statement(), services_.clock.now());
  return trusted.ok() ? Status() : Status(trusted.error());
}

bool Membership::settled() const {
  return revoked_.has_value() || (!talk_.busy() && !deliveries_.under_way());
}

bool Membership::askable(SteadyTime now, bool urgent) const {
  return share_ > 0 && !suspended_ && !revoked_ && deliveries_.waiting() < outbox_max &&
         talk_.askable(now, urgent);
}

bool Membership::contends() const {
  return share_ > 0 && !suspended_ && !revoked_ && talk_.trouble().empty() && !talk_.refused();
}

double Membership::ahead() const {
  const auto held = std::count_if(units_.begin(), units_.end(), [](const auto& entry) {
    return entry.second->state != UnitState::committing && !entry.second->held_back;
  });
  return unit_seconds_ * (static_cast<double>(held) + static_cast<double>(talk_.asked()));
}

double Membership::take_used() {
  double used = 0;
  for (const auto& [id, unit] : units_) {
    used += to_seconds(unit->core_time - unit->charged);
    unit->charged = unit->core_time;
    if (unit->state != UnitState::committing || unit->measured || unit->core_time == Duration{0}) continue;
    unit->measured = true;
    unit_seconds_ += unit_weight * (to_seconds(unit->core_time) - unit_seconds_);
  }
  return used;
}

std::string Membership::unreachable() const {
  if (revoked_) return "this host was revoked: join again with gleaner-client join CODE (" + *revoked_ + ")";
  if (suspended_) return "you suspended it: `gleaner projects resume " + key() + "` takes it up again";
  if (share_ == 0)
    return "it has no share: `gleaner projects share " + key() + " 1` takes work from it again";
  if (!talk_.trouble().empty()) return "the server cannot be asked for work (" + talk_.trouble() + ")";
  return {};
}

std::string Membership::waiting_for() const {
  for (const auto& [id, unit] : units_)
    if (unit->held_back && !unit->held->stopped()) return "not computing: " + unit->order_reason;
  for (const auto& [id, unit] : units_)
    if (unit->state == UnitState::granted || unit->state == UnitState::preparing)
      return "not computing yet: fetching what " + unit->grant().problem_name + " needs" +
             (unit->order_reason.empty() ? "" : " (" + unit->order_reason + ")");
  return {};
}

std::string Membership::without_work(SteadyTime now) const {
  const std::string& why = talk_.no_work_reason();
  if (talk_.work_at() <= now && why.empty()) return {};
  return "the server has no work now" + (why.empty() ? "" : " (" + why + ")");
}

ProjectStatus Membership::status() const {
  ProjectStatus status;
  status.key = key();
  status.name = names_.name;
  status.server = names_.server;
  status.host = identity_.host.host.value;
  status.share = share_;
  status.suspended = suspended_;
  status.revoked = revoked_.has_value();
  status.units_in_hand = static_cast<std::int64_t>(units_.size());
  status.outbox = static_cast<std::int64_t>(deliveries_.waiting());
  const Contribution given = deliveries_.receipts().contribution(services_.clock.now());
  status.items_today = given.today;
  status.items_week = given.week;
  status.items_total = given.total;
  return status;
}

}  // namespace gleaner::engine
