#include "tools/papers/reproduction/sections.h"

#include <array>

namespace gleaner::simulator {

std::span<const SectionEntry> reproduction_sections() {
  static const std::array sections{wis_section(),  loops_section(),      dlt_section(),
                                   tree_section(), estimation_section(), mapping_section()};
  return sections;
}

}  // namespace gleaner::simulator
