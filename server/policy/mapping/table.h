// What a strategy's file gives to the table in mapping.cpp. Internal to the module.
#pragma once

#include <memory>

#include "server/policy/mapping/mapping.h"

namespace gleaner::policy {

struct MappingEntry {
  StrategyInfo info;
  Result<std::unique_ptr<MappingStrategy>> (*make)(StrategyOptions& options);
};

[[nodiscard]] MappingEntry round_robin_entry();      // round_robin.cpp
[[nodiscard]] MappingEntry earliest_finish_entry();  // earliest_finish.cpp
// lightest_loaded.cpp
[[nodiscard]] MappingEntry ll_entry();
[[nodiscard]] MappingEntry llm_entry();
[[nodiscard]] MappingEntry llx_entry();
[[nodiscard]] MappingEntry llmc_entry();
[[nodiscard]] MappingEntry llxc_entry();
// min_max.cpp
[[nodiscard]] MappingEntry mm_entry();
[[nodiscard]] MappingEntry mx_entry();
[[nodiscard]] MappingEntry mmc_entry();
[[nodiscard]] MappingEntry mxc_entry();
[[nodiscard]] MappingEntry pn_entry();         // page.cpp
[[nodiscard]] MappingEntry zo_entry();         // zomaya.cpp
[[nodiscard]] MappingEntry annealing_entry();  // annealing.cpp
[[nodiscard]] MappingEntry tabu_entry();       // tabu.cpp
// error_weight.cpp
[[nodiscard]] MappingEntry fa_entry();
[[nodiscard]] MappingEntry fe_entry();
[[nodiscard]] MappingEntry fz_entry();
[[nodiscard]] MappingEntry fe_d_entry();
[[nodiscard]] MappingEntry fz_d_entry();
// idle_area.cpp
[[nodiscard]] MappingEntry la_entry();
[[nodiscard]] MappingEntry le_entry();
[[nodiscard]] MappingEntry lz_entry();
// similarity.cpp
[[nodiscard]] MappingEntry sb_entry();
[[nodiscard]] MappingEntry se_entry();
[[nodiscard]] MappingEntry sz_entry();

}  // namespace gleaner::policy
