// A plan as people and programs read it. Pure.
#pragma once

#include <optional>
#include <string>

#include "shared/planning/plan.h"
#include "tools/admin/live_fleet.h"
#include "tools/admin/table.h"

namespace gleaner::admin {

struct PlanView {
  Fleet fleet;
  std::string load;                  // what was planned for; empty: the file's load of 1
  std::vector<std::string> remarks;  // about the fleet
  std::optional<Forecast> forecast;
  planning::FleetPlan plan;
};

[[nodiscard]] std::string plan_text(const PlanView& view, const Display& display);
// The answer of --json (plan_document.cpp): "eas", "sos", "sos_pruned", "mos" (and "optimum") each with
// finish_closed_form, finish_replay, speedup, shares, left_out, feasible, warnings.
[[nodiscard]] std::string plan_document(const PlanView& view);

// A Gantt chart of one of the plans as a gnuplot script that writes `file` (.svg or .png).
// Errors: invalid for other endings.
[[nodiscard]] Result<std::string> plan_script(const PlanView& view, const planning::StrategyPlan& shown,
                                              const std::string& file);

}  // namespace gleaner::admin
