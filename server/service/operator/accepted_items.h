// Accepted items of a running problem as they come, for programs that use results one by one. Reads, and
// changes nothing; no manager is asked. Thread-safe.
#pragma once

#include "server/service/core/kernel.h"
#include "shared/base/range_set.h"

namespace gleaner::service {

class AcceptedItems {
 public:
  explicit AcceptedItems(Kernel& kernel) : kernel_(kernel) {}
  // Items of the present stage that are not in `known`, in order, each as a uint64 number, a uint32 length
  // and its bytes, little-endian: some 4 MiB of them, or one larger item. Empty: there are no others.
  // Validation may still replace an item of a stranger. conflict: another stage is computed, or the problem
  // is over.
  void read(ProblemId id, int stage, RangeSet known, Done<Bytes> done);

 private:
  [[nodiscard]] Result<Bytes> bytes_of(const std::vector<storage::AcceptedSegment>& pieces);
  Kernel& kernel_;
};

}  // namespace gleaner::service
