// What a strategy's file gives to the table in sizing.cpp. Internal to the module.
#pragma once

#include <memory>

#include "server/policy/sizing/options.h"
#include "server/policy/sizing/sizing.h"

namespace gleaner::policy {

struct SizingEntry {
  StrategyInfo info;
  Result<std::unique_ptr<SizingStrategy>> (*make)(SizingOptions& options, SizingMode mode);
};

[[nodiscard]] SizingEntry gleaner_entry();    // gleaner.cpp
[[nodiscard]] SizingEntry wis_entry();        // wis.cpp
[[nodiscard]] SizingEntry mis_entry();        // mis.cpp
[[nodiscard]] SizingEntry rts_entry();        // rts.cpp
[[nodiscard]] SizingEntry static_entry();     // static.cpp
[[nodiscard]] SizingEntry equal_entry();      // equal.cpp
[[nodiscard]] SizingEntry ss_entry();         // ss.cpp
[[nodiscard]] SizingEntry gss_entry();        // gss.cpp
[[nodiscard]] SizingEntry tss_entry();        // tss.cpp
[[nodiscard]] SizingEntry fac_entry();        // fac.cpp
[[nodiscard]] SizingEntry fac2_entry();       // fac2.cpp
[[nodiscard]] SizingEntry wf_entry();         // wf.cpp
[[nodiscard]] SizingEntry awf_b_entry();      // awf_b.cpp
[[nodiscard]] SizingEntry awf_c_entry();      // awf_c.cpp
[[nodiscard]] SizingEntry awf_d_entry();      // awf_d.cpp
[[nodiscard]] SizingEntry awf_e_entry();      // awf_e.cpp
[[nodiscard]] SizingEntry af_entry();         // af.cpp
[[nodiscard]] SizingEntry alpha_gss_entry();  // alpha_gss.cpp
[[nodiscard]] SizingEntry wfac_entry();       // wfac.cpp

[[nodiscard]] const char* name_of(SizingMode mode);

}  // namespace gleaner::policy
