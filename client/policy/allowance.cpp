#include "client/policy/allowance.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gleaner::client_policy {

Allowance allow(const Wish& wish, const Capacity& capacity) {
  Allowance allowance;
  const int there = std::max(1, capacity.cores);
  const int wanted = wish.cores > 0 ? wish.cores : there;
  const double whole = std::max(1.0, std::ceil(capacity.quota));
  allowance.cores = wish.exactly ? wanted : std::min(wanted, there);
  if (whole < allowance.cores) allowance.cores = static_cast<int>(whole);
  allowance.cpu_share = wish.cpu_share * std::min(1.0, capacity.quota / allowance.cores);
  const double processors = std::min(capacity.quota, static_cast<double>(there));
  if (processors < capacity.computer_cores) {
    char text[80];
    std::snprintf(text, sizeof text, "this client's control group allows it %.2g of %d cores", processors,
                  capacity.computer_cores);
    allowance.limit = text;
  }
  return allowance;
}

}  // namespace gleaner::client_policy
