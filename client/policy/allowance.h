// How many kernels' cores, and which share of each, the owner's wish and the computer leave together. A
// container or service may have a quota of processor time; what a kernel wants beyond it only makes all of
// them wait, and the client with them. Pure.
#pragma once

#include <string>

namespace gleaner::client_policy {

struct Wish {
  int cores = 0;         // 0: all
  double cpu_share = 1;  // of each
  bool exactly = false;  // the number was said for this run: also beyond the processors that there are
};

struct Capacity {
  int cores = 1;           // that this process may use
  int computer_cores = 1;  // that are there
  double quota = 1e9;      // processors' worth of time
  bool operator==(const Capacity&) const = default;
};

struct Allowance {
  int cores = 1;
  double cpu_share = 1;
  // "this client's control group allows it 0.3 of 2 cores"; empty: nothing but the owner limits it.
  std::string limit;
};

[[nodiscard]] Allowance allow(const Wish& wish, const Capacity& capacity);

}  // namespace gleaner::client_policy
