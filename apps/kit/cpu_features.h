// Which instruction sets a kernel may use. A kernel with variants keeps each in a file of its own, compiled
// for that level (gleaner_variant() in bundle.cmake), and chooses at run time; all variants give the same
// bytes.
//
// A variant's file must not make inline functions of shared headers (the standard library's among them) that
// the linker could take for all callers: keep its code in an unnamed namespace, over plain pointers.
#pragma once

#include <string_view>
#include <vector>

namespace gleaner::kit {

// Each includes the ones before: what every x86-64 (or arm64) processor has; AVX2 with BMI; AVX-512 F, BW, DQ
// and VL.
enum class CpuLevel { baseline, avx2, avx512 };

[[nodiscard]] std::string_view name_of(CpuLevel level);

// The highest level of this processor; the environment's GLEANER_CPU (baseline, avx2 or avx512) lowers it.
// Thread-safe.
[[nodiscard]] CpuLevel cpu_level();
// All levels up to cpu_level(), for tests that compare variants.
[[nodiscard]] std::vector<CpuLevel> cpu_levels();

}  // namespace gleaner::kit
