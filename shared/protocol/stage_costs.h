// What items of a stage cost, as relays fetch it (GET /v1/relay/stages/PROBLEM/STAGE/costs): one
// little-endian double an item, before compression. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::protocol {

// In one answer: 2 MiB before compression, so that it passes where any message does.
inline constexpr std::int64_t costs_per_reply_max = 1 << 18;

[[nodiscard]] Bytes pack_costs(std::span<const double> costs);
// invalid: these are not whole, are none or more than an answer has, or one of them is no cost.
[[nodiscard]] Result<std::vector<double>> unpack_costs(std::string_view bytes);

}  // namespace gleaner::protocol
