// The kernel: stage 0 scores a group of queries against a chunk of the database, stage 1 aligns a hit.
#pragma once

#include <memory>
#include <optional>

#include "apps/dsearch/layout.h"
#include "apps/dsearch/settings.h"
#include "apps/kit/kernel.h"

namespace gleaner::dsearch {

// The bytes of an item of the first stage. An abandoned item's are worth nothing.
[[nodiscard]] Bytes search_chunk(const Settings& settings, const Layout& layout, const RecordBlock& block,
                                 std::int64_t item, kit::CpuLevel level, kit::ItemContext& context);

// The kernel's factory.
[[nodiscard]] Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& problem);

}  // namespace gleaner::dsearch
