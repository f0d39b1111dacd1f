// Overlap doubles as verification: items that two hosts delivered are compared item by item (compare.h, on
// the pool). If they differ, the stage asks a third host; the largest group of agreeing hosts is right, the
// verdict is stored, and what was accepted from the wrong ones is replaced. The stage is not combined while a
// review is under way. Writer thread only.
#pragma once

#include <vector>

#include "server/service/core/transaction.h"
#include "server/service/work/compare.h"

namespace gleaner::service {

// `disputed_before`: of which it is written down already that hosts differ.
[[nodiscard]] Status start_review(Transaction& tx, Problem& problem, const std::vector<Range>& ranges,
                                  const RangeSet& disputed_before = {});
// After a restart: what several hosts delivered and no verdict covers, and what differed and was neither
// decided nor set aside, is judged again from the stored segments.
[[nodiscard]] Status resume_reviews(Transaction& tx, Problem& problem);
// A comparison that failed for a reason of this machine is tried again (waiting.h). Any other failure is only
// logged: the first result stands.
[[nodiscard]] Status settle_review(Transaction& tx, const effect::Review& job,
                                   const Result<std::vector<ReviewFinding>>& findings);

}  // namespace gleaner::service
