// Membership: what it says to its server, and what it does with the answers (TalkOwner).
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "client/engine/membership.h"
#include "shared/base/limits.h"
#include "shared/io/compression.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/text.h"

namespace gleaner::engine {

using client_policy::RunMode;
using client_policy::UnitState;

namespace {

protocol::RunState run_state(UnitState state) {
  switch (state) {
    case UnitState::running:
      return protocol::RunState::running;
    case UnitState::paused:
      return protocol::RunState::paused;
    case UnitState::granted:
    case UnitState::preparing:
    case UnitState::waiting:
    case UnitState::committing:
    case UnitState::closed:
      break;
  }
  return protocol::RunState::waiting;
}

bool alike(double now, double then) {
  return now >= 0.8 * then && now <= 1.25 * then;
}

bool alike(const protocol::HostSpeeds& now, const protocol::HostSpeeds& then) {
  return alike(now.all_cores_mflops, then.all_cores_mflops) &&
         alike(now.memory_bytes_per_second, then.memory_bytes_per_second) &&
         alike(now.download_bytes_per_second, then.download_bytes_per_second) &&
         alike(now.upload_bytes_per_second, then.upload_bytes_per_second);
}

}  // namespace

std::vector<protocol::SlotRequest> Membership::wanted(SteadyTime now) {
  return keeper_.slots_for(*this, now);
}

// Speeds are told when they have changed by more than they waver.
void Membership::describe(protocol::WorkRequest& request, SteadyTime) {
  keeper_.describe(request, *this);
  protocol::HostSpeeds speeds = request.speeds.value_or(protocol::HostSpeeds{});
  if (link_) {
    speeds.download_bytes_per_second = link_->download();
    speeds.upload_bytes_per_second = link_->upload();
  }
  if (alike(speeds, told_speeds_)) {
    request.speeds.reset();
  } else {
    request.speeds = speeds;
    offered_speeds_ = speeds;
  }
}

std::vector<protocol::UnitReport> Membership::reports(SteadyTime now) {
  std::vector<protocol::UnitReport> reports;
  const client_policy::RunDecision& decision = keeper_.decision();
  for (const auto& [id, unit] : units_) {
    if (reports.size() >= static_cast<std::size_t>(limits::units_per_host_max)) break;
    protocol::UnitReport report;
    report.unit = id;
    report.finished = unit->held->finished();
    report.state = run_state(unit->state);
    if (report.state != protocol::RunState::running && decision.mode == RunMode::pause &&
        unit->state != UnitState::committing) {
      report.state = protocol::RunState::paused;
      report.reason = decision.reason;
    } else if (suspended_ && unit->state != UnitState::committing) {
      report.state = protocol::RunState::paused;
      report.reason = "the owner of this computer suspended the project";
    } else if (unit->held_back || !unit->order_reason.empty()) {
      report.reason = unit->order_reason;
    }
    if (const Slot* slot = keeper_.slot_of(*unit)) {
      report.rate = report.state == protocol::RunState::running ? slot->rate().rate(now) : 0;
      report.item_seconds = to_seconds(slot->rate().on_item(now));
      report.item_share = slot->item_share(now);
      report.running_seconds = to_seconds(slot->rate().on_unit(now));
    }
    report.reason = protocol::clean_line(report.reason, limits::message_length_max);
    reports.push_back(std::move(report));
  }
  return reports;
}

// If it gets lost on its way, what is saved next is told instead. Too much to tell stays here.
std::vector<protocol::SavedItem> Membership::take_saved() {
  std::vector<protocol::SavedItem> items;
  for (const auto& [id, unit] : units_) {
    if (!unit->saved || items.size() == static_cast<std::size_t>(limits::saved_per_heartbeat_max)) continue;
    const SavedHere saved = *std::exchange(unit->saved, std::nullopt);
    if (saved.item != unit->held->finished()) continue;
    const auto data = services_.files.read(saved.path, limits::saved_bytes_max);
    if (!data.ok()) continue;  // it is of use here all the same, or is being gone on with
    Bytes packed = io::compress(*data);
    if (static_cast<std::int64_t>(packed.size()) > limits::saved_inline_bytes_max) continue;
    items.push_back({id, saved.item, saved.share, std::move(packed)});
  }
  return items;
}

void Membership::take_grants(const protocol::WorkReply& reply, SteadyTime now) {
  for (std::size_t i = 0; i < reply.grants.size(); ++i) {
    const int slot = i < reply.grant_slots.size() ? reply.grant_slots[i] : 0;
    take_grant(reply.grants[i], std::clamp(slot, 0, keeper_.slot_count() - 1), now);
  }
  told_speeds_ = offered_speeds_;
  if (!reply.grants.empty()) keeper_.units_came(now);
  if (reply.progress) take_progress(*reply.progress);
}

// What was told of a problem stays until something else is told: viewers may still show its picture.
void Membership::take_progress(const std::vector<protocol::ProblemProgress>& progress) {
  std::vector<ProblemStatus> told;
  for (const protocol::ProblemProgress& one : progress)
    for (const auto& [id, unit] : units_)
      if (unit->grant().problem == one.problem) {
        told.push_back({key(), one.problem.value, unit->grant().problem_name, one.items,
                        std::min(one.accepted, one.items), one.hosts});
        break;
      }
  if (!told.empty()) problems_ = std::move(told);
}

void Membership::take_grant(const protocol::SignedStatement& statement, int slot, SteadyTime now) {
  const auto refuse = [this](UnitId unit, protocol::FailureKind kind, const std::string& message) {
    spdlog::error("a unit is not taken: {}", message);
    protocol::FailureReport report;
    report.unit = unit;
    report.kind = kind;
    report.message = protocol::clean_text(message, limits::message_length_max);
    if (unit.valid()) talk_.report_failure(std::move(report));
  };
  const auto trusted = trust_.check_grant(statement, services_.clock.now());
  if (!trusted.ok()) {
    const auto claimed = protocol::decode<protocol::Grant>(statement.payload);
    return refuse(claimed.ok() ? claimed->unit : UnitId{}, protocol::FailureKind::untrusted,
                  trusted.error().message);
  }
  const UnitId id = trusted->grant.unit;
  if (units_.contains(id)) return;  // an answer that was repeated
  const auto& permitted = services_.settings.applications;
  if (!permitted.empty() &&
      std::find(permitted.begin(), permitted.end(), trusted->application.name) == permitted.end())
    return refuse(id, protocol::FailureKind::not_executable,
                  "the owner of this computer does not permit the application " + trusted->application.name);
  auto held = HeldUnit::create(services_.files, directory_.unit(id), statement, trusted->grant);
  if (!held.ok()) {
    deliveries_.report_disk_trouble(held.error());
    return refuse(id, protocol::FailureKind::resource_limit, held.error().message);
  }
  auto unit = std::make_unique<Unit>(std::move(held).value());
  unit->slot = slot;
  unit->granted_at = now;
  spdlog::info("slot {}: unit {} of {}: items {}-{} ({})", slot, id.value, trusted->grant.problem_name,
               trusted->grant.range.begin, trusted->grant.range.end - 1, trusted->grant.reason);
  units_.emplace(id, std::move(unit));
}

void Membership::take_orders(const std::vector<protocol::UnitOrder>& orders, SteadyTime now) {
  for (const protocol::UnitOrder& order : orders) {
    const auto found = units_.find(order.unit);
    if (found != units_.end()) take_order(*found->second, order, now);
  }
  keeper_.orders_came(now);
}

void Membership::take_order(Unit& unit, const protocol::UnitOrder& order, SteadyTime now) {
  Slot* const slot = keeper_.slot_of(unit);
  switch (order.action) {
    case protocol::UnitAction::cancel:
      if (unit.held->stopped()) return;
      spdlog::info("unit {} is cancelled: {}", unit.id().value, order.reason);
      if (slot != nullptr) slot->let_go(now);
      unit.order_reason = order.reason;
      return unit.stop();
    case protocol::UnitAction::pause:
      unit.held_back = true;
      unit.order_reason = order.reason.empty() ? "the server paused the problem" : order.reason;
      return;
    case protocol::UnitAction::go_on:
      break;
  }
  unit.held_back = false;
  if (order.end >= unit.held->end()) return;
  spdlog::info("unit {} now ends before item {}: {}", unit.id().value, order.end, order.reason);
  unit.held->trim(order.end);
  if (!unit.held->complete()) {
    if (slot != nullptr) slot->trim(order.end);
    return;
  }
  if (slot != nullptr) slot->let_go(now);
  unit.stop();
}

void Membership::revoked(const std::string& reason) {
  if (revoked_) return;
  revoked_ = reason;
  spdlog::error("{}: this host was revoked: join again with gleaner-client join CODE ({})", names_.name,
                reason);
  if (const Status marked = mark_revoked(services_.files, directory_); !marked.ok())
    spdlog::warn("{}", marked.error().message);
  keeper_.stop_kernels(*this, services_.clock.steady());
}

void Membership::project_known(const protocol::SignedStatement& statement) {
  identity_.project = statement;
  names_ = names_of(directory_, identity_);
  deliveries_.receipts().know_project(statement);
  if (const Status saved = save_document(services_.files, directory_, statement); !saved.ok())
    spdlog::warn("{}", saved.error().message);
}

}  // namespace gleaner::engine
