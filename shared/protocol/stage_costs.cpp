#include "shared/protocol/stage_costs.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <string>

namespace gleaner::protocol {

static_assert(std::endian::native == std::endian::little);

Bytes pack_costs(std::span<const double> costs) {
  Bytes bytes(costs.size_bytes(), '\0');
  if (!costs.empty()) std::memcpy(bytes.data(), costs.data(), bytes.size());
  return bytes;
}

Result<std::vector<double>> unpack_costs(std::string_view bytes) {
  if (bytes.empty() || bytes.size() % sizeof(double) != 0 ||
      bytes.size() / sizeof(double) > static_cast<std::size_t>(costs_per_reply_max))
    return Error{ErrorKind::invalid, "costs of items: expected 8 bytes for each of 1 to " +
                                         std::to_string(costs_per_reply_max) + ", got " +
                                         std::to_string(bytes.size())};
  std::vector<double> costs(bytes.size() / sizeof(double));
  std::memcpy(costs.data(), bytes.data(), bytes.size());
  for (std::size_t i = 0; i < costs.size(); ++i)
    if (!std::isfinite(costs[i]) || costs[i] <= 0)
      return Error{ErrorKind::invalid, "cost " + std::to_string(i + 1) + ": expected a number above 0, got " +
                                           std::to_string(costs[i])};
  return costs;
}

}  // namespace gleaner::protocol
