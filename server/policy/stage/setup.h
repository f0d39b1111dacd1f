// How a stage is set up, and the straggler rules that there are. Value types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/policy/rules/rules.h"
#include "shared/base/result.h"

namespace gleaner::policy {

// Numbers are stored; never reuse one.
enum class Straggler : int {
  none = 1,
  duplicate_once = 2,
  split = 3,
  late = 4,
  spark = 5,
  wqr = 6,
  deadline = 7,
  rdlb = 8,
  hadoop = 9
};
inline constexpr Straggler last_straggler = Straggler::hadoop;  // of the highest number
[[nodiscard]] const char* name_of(Straggler rule);
[[nodiscard]] Result<Straggler> straggler_from(std::string_view text);

struct StragglerInfo {
  Straggler rule = Straggler::none;
  std::string name;
  std::string summary;  // one line
  std::string source;
};
[[nodiscard]] std::vector<StragglerInfo> straggler_rules();

struct StageSetup {
  std::int64_t items = 0;
  std::vector<double> costs;  // hints, one an item; empty: all 1
  std::string sizing = "wis";
  Straggler straggler = Straggler::split;
  bool may_split = true;  // from the manifest: may a unit end earlier than handed out?
  EndgameRules rules;
  // What a unit of benchmark performance is worth in hint units per second, where that is known beforehand;
  // 0: it is learned from the first hosts that deliver.
  double benchmark_worth = 0;
  // Decisions are told, with reasons (Changes::decisions, Unit::reason, Grant::reason). Words cost more than
  // what they tell of: a simulation that shows them to nobody does without.
  bool explain = true;
  double commit_seconds = 60;  // at most, between two segments of a unit
  // Closed units that are remembered, for results that come late; who stores more of them tells of them when
  // these come (Stage::remember).
  std::size_t closed_units_max = 50'000;
  // A relay's: no item is here before its parent leases it (Stage::bring).
  bool elsewhere = false;
};

}  // namespace gleaner::policy
