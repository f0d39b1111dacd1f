#include "server/policy/sizing/sizing.h"

#include <fmt/format.h>

#include <array>

#include "server/policy/sizing/table.h"

namespace gleaner::policy {
namespace {

// Every strategy, in the order in which people should read about them.
std::span<const SizingEntry> table() {
  static const std::array entries{gleaner_entry(), wis_entry(),       mis_entry(),   rts_entry(),
                                  static_entry(),  equal_entry(),     ss_entry(),    gss_entry(),
                                  tss_entry(),     fac_entry(),       fac2_entry(),  wf_entry(),
                                  awf_b_entry(),   awf_c_entry(),     awf_d_entry(), awf_e_entry(),
                                  af_entry(),      alpha_gss_entry(), wfac_entry()};
  return entries;
}

}  // namespace

const char* name_of(SizingMode mode) {
  switch (mode) {
    case SizingMode::paper:
      return "paper";
    case SizingMode::grid:
      return "grid";
  }
  return "unknown";
}

Result<std::unique_ptr<SizingStrategy>> make_sizing(std::string_view text) {
  TRY_ASSIGN(SizingOptions options, SizingOptions::parse(text));
  std::string names;
  for (const SizingEntry& entry : table()) {
    if (entry.info.name != options.name()) {
      names += (names.empty() ? "" : ", ") + entry.info.name;
      continue;
    }
    TRY_ASSIGN(const int mode, options.choice("mode", {"paper", "grid"}, 1));
    TRY_ASSIGN(auto strategy, entry.make(options, mode == 0 ? SizingMode::paper : SizingMode::grid));
    TRY(options.nothing_left());
    return strategy;
  }
  return Error{ErrorKind::invalid,
               fmt::format("there is no sizing strategy '{}'; choose one of {}", options.name(), names)};
}

std::vector<StrategyInfo> sizing_strategies() {
  std::vector<StrategyInfo> infos;
  for (const SizingEntry& entry : table()) {
    infos.push_back(entry.info);
    infos.back().options.emplace_back(
        "mode=paper|grid  the paper's rules alone, or clamped to durations (default)");
  }
  return infos;
}

}  // namespace gleaner::policy
