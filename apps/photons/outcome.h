// What an item is: the tallies of its photons (Layout in settings.h), as integers that add up exactly. Pure.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "apps/kit/cpu_features.h"
#include "apps/kit/kernel.h"
#include "apps/photons/settings.h"

namespace gleaner::photons {

using Tallies = std::vector<std::int64_t>;

// The same numbers at every level. Nothing if the context was abandoned.
[[nodiscard]] Tallies compute_item(const Settings& settings, std::int64_t item, kit::ItemContext& context,
                                   kit::CpuLevel level = kit::cpu_level());
// One of its blocks, which is 64 times quicker.
[[nodiscard]] BlockTally compute_block(const Settings& settings, std::int64_t item, std::int64_t block,
                                       kit::CpuLevel level = kit::cpu_level());
[[nodiscard]] BlockTally block_of(const Tallies& tallies, std::int64_t block);

[[nodiscard]] Bytes encode(const Tallies& tallies);
// invalid if there are not `size` numbers.
[[nodiscard]] Result<Tallies> decode(std::string_view bytes, std::int64_t size);

// Does everything add up: every block's weights to what was sent in, every grid to the blocks? Errors:
// invalid.
[[nodiscard]] Status check_sums(const Settings& settings, std::int64_t item, const Tallies& tallies);

// Events of a photon, on average of the first few.
[[nodiscard]] double mean_events(const Settings& settings);

// The kernel's factory.
[[nodiscard]] Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& problem);

}  // namespace gleaner::photons
