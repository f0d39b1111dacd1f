// Membership: what the server answered, applied.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "client/engine/membership.h"
#include "shared/base/limits.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/text.h"

namespace gleaner::engine {
namespace {
constexpr double copy_turn_seconds = 15;  // some times what a delivery through a relay takes
}  // namespace

SlotOrders Membership::apply_answers(SteadyTime now) {
  SlotOrders orders;
  for (SessionEvent& event : session_.take_events())
    std::visit([&](auto& one) { take(one, orders, now); }, event);
  save_silence();
  if (trust_.revocations().number() > identity_.revocations.number()) take_revocations(orders);
  return orders;
}

void Membership::hear_of_revocations(std::optional<std::int64_t> number) {
  if (trust_.hear_of_revocations(number.value_or(0))) session_.fetch_project_soon();
}

// The disk first: what was seen once must not be forgotten by a kill.
void Membership::take_revocations(SlotOrders& orders) {
  identity_.revocations = trust_.revocations();
  spdlog::warn("{}: revocation list {} holds from now on", names_.name, identity_.revocations.number());
  if (const Status saved = state::save_revocations(services_.files, directory_, identity_.revocations);
      !saved.ok())
    spdlog::warn("{}", saved.error().message);
  state::refuse_tls_keys(identity_.revocations, refused_.get());
  orders.end_idle_kernels = true;
  for (const auto& [id, unit] : units_) {
    const Status good = trust_.check_not_revoked(unit->held->granted(), unit->grant());
    if (good.ok() || unit->held->stopped()) continue;
    spdlog::warn("unit {} of {} ends: {}", id.value, unit->grant().problem_name, good.error().message);
    unit->order_reason = good.error().message;
    orders.revoked.push_back(id);
  }
}

bool Membership::must_wait_for_key(const Bytes& key) {
  if (!trust_.knows_project() || trust_.knows_work_key(key)) return false;
  if (key == doubted_key_) return awaits_document_;
  spdlog::info("{}: a new work key signs: the project's document is fetched again", names_.name);
  doubted_key_ = key;
  awaits_document_ = true;
  session_.fetch_project_soon();
  return true;
}

// The first of them that is not known decides, so that a relay cannot have the document fetched for ever.
bool Membership::must_wait_for_keys(const Granted& granted) {
  for (const Bytes& key : work_keys_of(granted))
    if (!trust_.knows_work_key(key)) return must_wait_for_key(key);
  return false;
}

// One that must wait is asked for again.
void Membership::take_acknowledgement(const protocol::SignedStatement& statement, SteadyTime now) {
  if (!must_wait_for_key(statement.key)) deliveries_.acknowledged(statement, now);
}

void Membership::take(ProjectRenewed& event, SlotOrders&, SteadyTime now) {
  deliveries_.project_renewed();
  deliveries_.receipts().know_project(event.document);
  if (const Status saved = state::save_document(services_.files, directory_, event.document); !saved.ok())
    spdlog::warn("{}", saved.error().message);
  identity_.project = std::move(event.document);
  if (event.relay) take_relay(std::move(*event.relay));
  names_ = state::names_of(directory_, identity_);
  awaits_document_ = false;
  for (const auto& [granted, slot] : std::exchange(doubted_grants_, {})) take_grant(granted, slot, now);
}

void Membership::take_relay(transport::Relay relay) {
  if (pinned_) pinned_->set(relay.certificate.tls_key);
  identity_.relay = std::move(relay.statement);
  if (const Status saved = state::save_relay(services_.files, directory_, *identity_.relay); !saved.ok())
    spdlog::warn("{}", saved.error().message);
  plan_relay_renewal();
}

void Membership::take(FailureAnswered& event, SlotOrders&, SteadyTime now) {
  deliveries_.failure_reported(event.report, event.outcome, now);
}

void Membership::take(WorkAnswered& event, SlotOrders& orders, SteadyTime now) {
  if (event.reply.ok()) {
    protocol::WorkReply& reply = *event.reply;
    gives_back_ = false;  // the request named the units that are held
    hear_of_revocations(reply.revocations);
    doubted_grants_.clear();
    for (const auto& statement : reply.acknowledgements) take_acknowledgement(statement, now);
    if (reply.held)
      for (const protocol::HeldResult& one : *reply.held) deliveries_.held(one, now);
    std::move(reply.units.begin(), reply.units.end(), std::back_inserter(orders.units));
    std::vector<Granted> granted = granted_in(reply);
    for (const Granted& one : granted) contexts_.learn(one.of_project());
    for (Granted& one : granted) contexts_.complete(one.of_project());
    for (std::size_t i = 0; i < granted.size(); ++i)
      take_grant(granted[i], i < reply.grant_slots.size() ? reply.grant_slots[i] : 0, now);
    speeds_.confirm();
    if (reply.progress) take_progress(*reply.progress);
  }
  deliveries_.answered(event.commits, event.reply.ok() ? Status() : Status(event.reply.error()), now);
}

void Membership::take(HeartbeatAnswered& event, SlotOrders& orders, SteadyTime now) {
  hear_of_revocations(event.reply.revocations);
  if (event.reply.acknowledgements)
    for (const auto& statement : *event.reply.acknowledgements) take_acknowledgement(statement, now);
  std::move(event.reply.units.begin(), event.reply.units.end(), std::back_inserter(orders.units));
  const std::vector<UnitId> wanted = event.reply.outputs.value_or(std::vector<UnitId>{});
  for (const auto& [id, unit] : units_) unit->output_wanted = std::ranges::count(wanted, id) > 0;
}

bool Membership::joined_anew() const {
  const auto stored = state::load_identity(services_.files, directory_);
  return stored.ok() && stored->host.token != identity_.host.token;
}

void Membership::take(HostRevoked& event, SlotOrders& orders, SteadyTime) {
  if (standing_ == Standing::revoked || joined_anew()) return;
  orders.end_kernels = true;
  spdlog::error(
      "{}: the project's administrator has removed this computer ({}). Ask them for a new join code if this "
      "is a mistake",
      names_.name, event.reason);
  standing_ = Standing::revoked;
  if (const Status marked = state::mark_revoked(services_.files, directory_); !marked.ok())
    spdlog::warn("{}", marked.error().message);
}

// Nothing more is computed; what is finished stays.
void Membership::end_all(SlotOrders& orders) {
  orders.end_idle_kernels = true;
  for (const auto& [id, unit] : units_)
    if (!unit->held->stopped()) orders.revoked.push_back(id);
}

// Whom an administrator put out must not come back by itself, whatever an older state of the server knows.
void Membership::take(HostUnknown& event, SlotOrders& orders, SteadyTime now) {
  if ((standing_ != Standing::served && standing_ != Standing::copy) || joined_anew()) return;
  if (identity_.revoked) {
    HostRevoked revoked{event.reason};
    return take(revoked, orders, now);
  }
  spdlog::warn("{}: the server does not know this host: {}", names_.name, event.reason);
  end_all(orders);
  // The other copy has just joined, and needs a moment to deliver: at once each would end the other's turn.
  if (standing_ == Standing::copy)
    session_.be_silent(from_seconds(copy_turn_seconds * services_.random.uniform()), now);
  standing_ = Standing::unknown;
}

void Membership::take(HostCopied&, SlotOrders& orders, SteadyTime) {
  if (standing_ != Standing::served) return;
  if (const Status marked = state::mark_copy(services_.files, directory_); !marked.ok())
    return spdlog::warn("{}", marked.error().message);  // it is told again
  spdlog::warn(
      "{}: another computer uses the identity of this one (host {}), as after its disk was copied: what "
      "is finished here is delivered, then this computer joins as a host of its own",
      names_.name, identity_.host.host.value);
  end_all(orders);
  standing_ = Standing::copy;
}

void Membership::take(Moved&, SlotOrders&, SteadyTime) {
  moved_ = true;
}

// Once for each silence, and once for its end.
void Membership::save_silence() {
  if (!move_ || moved_ || session_.silence().since() == identity_.unheard) return;
  identity_.unheard = session_.silence().since();
  if (const Status saved = state::save_unheard(services_.files, directory_, identity_.unheard); !saved.ok())
    spdlog::warn("{}", saved.error().message);
}

// What was told of a problem stays until something else is told: viewers may still show its picture.
void Membership::take_progress(const std::vector<protocol::ProblemProgress>& progress) {
  std::vector<ProblemStatus> told;
  for (const protocol::ProblemProgress& one : progress)
    for (const auto& [id, unit] : units_)
      if (unit->grant().problem == one.problem) {
        const std::int64_t accepted = std::min(one.accepted, one.items);
        const double counted =  // as of a server that does not tell
            static_cast<double>(accepted) / static_cast<double>(std::max<std::int64_t>(1, one.items));
        told.push_back({names_.key, one.problem.value, unit->grant().problem_name, one.items, accepted,
                        one.done < 0 ? counted : one.done, one.hosts});
        break;
      }
  if (!told.empty()) problems_ = std::move(told);
}

void Membership::refuse(UnitId unit, protocol::FailureKind kind, const std::string& message) {
  spdlog::error("a unit is not taken: {}", message);
  if (!unit.valid()) return;
  protocol::FailureReport report;
  report.unit = unit;
  report.kind = kind;
  report.message = protocol::clean_text(message, limits::message_length_max);
  deliveries_.refuse(std::move(report));
}

// It is no failure: another host may have the unit at once, and this one asks again when its disk takes
// something.
void Membership::give_back(UnitId unit, const Error& disk) {
  deliveries_.report_disk_trouble(disk);
  spdlog::warn("unit {} is not kept: it goes back to the server", unit.value);
  if (const Status gone = services_.files.remove_all(directory_.unit(unit)); !gone.ok())
    spdlog::warn("{}", gone.error().message);
  gives_back_ = true;
}

void Membership::take_grant(const Granted& granted, int slot, SteadyTime now) {
  if (!trust_.knows_project()) return;  // the server is not believed at present: it gets the unit back
  const bool expired = trust_.work_certificate_expired(services_.clock.now());
  if (expired) session_.fetch_project_soon();  // it is not the grant's fault, nor that of this computer
  if (expired || must_wait_for_keys(granted)) {
    doubted_grants_.emplace_back(granted, slot);
    return;
  }
  const auto trusted = trust_.check_grant(granted, services_.clock.now());
  // It is new: one of the two dates is wrong, which is no fault of the application. The server gets it back.
  const auto read = read_granted(granted);
  const bool late = read.ok() && read->deadline <= services_.clock.now();
  if (!trusted.ok() && (late || trust_.clock_is_early(granted, services_.clock.now())))
    return session_.back_off(trusted.error(), now);
  if (!trusted.ok())
    return refuse(claimed_unit(granted), protocol::FailureKind::untrusted, trusted.error().message);
  const UnitId id = trusted->grant.unit;
  if (units_.contains(id)) return;  // an answer that was repeated
  // The owner has just excluded it, which is nobody's failure. A server that goes on giving such units is
  // asked ever more seldom.
  if (!permits(services_.settings, trusted->application.name)) {
    gives_back_ = true;
    return session_.back_off({ErrorKind::forbidden, "the preferences of this computer do not permit the " +
                                                        ("application " + trusted->application.name)},
                             now);
  }
  auto held = HeldUnit::create(services_.files, directory_.unit(id), granted, trusted->grant);
  if (!held.ok()) return give_back(id, held.error());
  auto unit = std::make_unique<Unit>(std::move(held).value());
  unit->slot = std::clamp(slot, 0, slots_ - 1);
  unit->granted_at = now;
  spdlog::info("slot {}: unit {} of {}: items {}-{}", unit->slot, id.value, trusted->grant.problem_name,
               trusted->grant.range.begin, trusted->grant.range.end - 1);
  spdlog::debug("unit {}: {}", id.value, trusted->grant.reason);  // in the words of schedulers
  units_.emplace(id, std::move(unit));
}

}  // namespace gleaner::engine
