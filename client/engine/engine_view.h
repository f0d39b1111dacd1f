// The engine's status as its owner sees it: read-only access to everything that status() reports, and the
// sentences made from it.
#pragma once

#include <optional>
#include <string>

#include "client/benchmark/measurements.h"
#include "client/engine/memberships.h"
#include "client/engine/owner_watch.h"
#include "client/engine/project_accounts.h"
#include "client/engine/slots.h"
#include "client/engine/status.h"
#include "client/policy/calendar_watch.h"
#include "client/policy/run_decision.h"

namespace gleaner::engine {

// Borrowed for the call.
struct EngineView {
  const Services& services;
  const Memberships& projects;
  const ProjectAccounts& accounts;
  const Slots& slots;
  const OwnerWatch& owner;
  const benchmark::Measurements& measurements;
  const client_policy::RunDecision& decision;
  const std::optional<std::string>& disk_shortage;
  const std::optional<client_policy::CalendarWatch::Leap>& leap;
  bool finishing;
  SteadyTime opened;
  std::string no_network;  // why nothing may be fetched or delivered; empty: it may
  std::string traffic;     // its volume, in words
  std::string outside;     // what the outside signal says; empty: there is none
};
[[nodiscard]] EngineStatus status_of(const EngineView& engine, SteadyTime now);

// Why a project is not asked for work; empty: nothing stands against it.
[[nodiscard]] std::string unreachable(const Membership& project);

}  // namespace gleaner::engine
