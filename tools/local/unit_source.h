// What the kernels of a pool compute next: ranges from a list, or ranges whose sizes a sizing strategy of the
// server decides (server/policy/sizing), from the rates that the kernels show. Pure but for what it
// remembers; used by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/policy/sizing/sizing.h"
#include "shared/base/clock.h"
#include "shared/base/range_set.h"
#include "shared/base/result.h"

namespace gleaner::local {

class UnitSource {
 public:
  virtual ~UnitSource() = default;
  // What `kernel` computes now; empty if nothing is left.
  [[nodiscard]] virtual Range next(int kernel) = 0;
  // It has computed a unit of `items` items.
  virtual void finished(int kernel, std::int64_t items, Duration time) = 0;
  [[nodiscard]] virtual bool exhausted() const = 0;
};

// Those ranges, in that order, to whoever is free.
[[nodiscard]] std::unique_ptr<UnitSource> listed_units(std::vector<Range> ranges);

// The items [0, items) in order. `strategy` as problems name it: "gleaner", "gss,mode=paper" ... Kernels are
// the workers; there are no leases and no network, so units may be short. Errors: invalid, naming what is
// wrong.
[[nodiscard]] Result<std::unique_ptr<UnitSource>> sized_units(const std::string& strategy, std::int64_t items,
                                                              int kernels);

}  // namespace gleaner::local
