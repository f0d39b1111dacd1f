#include "apps/kit/cpu_features.h"

#include <algorithm>
#include <cstdlib>

namespace gleaner::kit {
namespace {

CpuLevel processor_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2"))
    return CpuLevel::baseline;
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return wide ? CpuLevel::avx512 : CpuLevel::avx2;
#else
  return CpuLevel::baseline;
#endif
}

CpuLevel allowed_level() {
  const char* text = std::getenv("GLEANER_CPU");
  const std::string_view name = text ? text : "";
  if (name == name_of(CpuLevel::baseline)) return CpuLevel::baseline;
  if (name == name_of(CpuLevel::avx2)) return CpuLevel::avx2;
  return CpuLevel::avx512;
}

}  // namespace

std::string_view name_of(CpuLevel level) {
  switch (level) {
    case CpuLevel::baseline:
      return "baseline";
    case CpuLevel::avx2:
      return "avx2";
    case CpuLevel::avx512:
      return "avx512";
  }
  return "unknown";
}

CpuLevel cpu_level() {
  static const CpuLevel level = std::min(processor_level(), allowed_level());
  return level;
}

std::vector<CpuLevel> cpu_levels() {
  std::vector<CpuLevel> levels;
  for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512}) {
    if (level <= cpu_level()) levels.push_back(level);
  }
  return levels;
}

}  // namespace gleaner::kit
