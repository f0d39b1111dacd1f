#include "server/service/access/joins.h"

#include <fmt/format.h>

namespace gleaner::service {

Status Joins::admit(const std::string& network, SteadyTime now) {
  if (buckets_.take(network, now)) return {};
  return Error{
      ErrorKind::unavailable,
      fmt::format("more than {} joinings were tried from {} within an hour: try again in some minutes, "
                  "or ask the administrator to raise hosts.joins_per_hour",
                  per_hour_, network)};
}

}  // namespace gleaner::service
