// What a strategy's file gives to the table in sizing.cpp. Internal to the room.
#pragma once

#include <memory>

#include "server/policy/sizing.h"
#include "server/policy/sizing_options.h"

namespace gleaner::policy {

struct SizingEntry {
  StrategyInfo info;
  Result<std::unique_ptr<SizingStrategy>> (*make)(SizingOptions& options, SizingMode mode);
};

[[nodiscard]] SizingEntry static_entry();  // sizing_static.cpp
[[nodiscard]] SizingEntry rts_entry();     // sizing_rts.cpp
[[nodiscard]] SizingEntry mis_entry();     // sizing_mis.cpp
[[nodiscard]] SizingEntry wis_entry();     // sizing_wis.cpp

[[nodiscard]] const char* name_of(SizingMode mode);

}  // namespace gleaner::policy
