// The results that a simulated server has: compares what hosts delivered, as the live server's pool does, and
// tells policy::Project, which decides what is believed. Of results only the answer is kept. Not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <utility>

#include "server/policy/project/project.h"
#include "tools/simulator/opinions.h"

namespace gleaner::simulator {

class Results {
 public:
  using Perform = std::function<void(policy::ProjectChanges)>;

  // `perform`: called with all that is decided. The project outlives this object.
  Results(policy::Project& project, Perform perform) : project_(project), perform_(std::move(perform)) {}

  // Of consecutive items with the same answer: 0 is right, others are wrong.
  void deliver(ProblemId problem, Range range, HostId host, std::int64_t answer);
  // The stage counted a delivery, which may overlap others. `draw`: policy::DeliveredEvent.
  void counted(ProblemId problem, HostId host, const policy::CommitOutcome& outcome, std::uint64_t draw,
               Timestamp now);
  // All is accepted. False: something is to be computed again before it may be combined.
  [[nodiscard]] bool may_combine(ProblemId problem, std::uint64_t draw, Timestamp now);
  [[nodiscard]] std::int64_t wrong_items(ProblemId problem) const;

 private:
  void take(policy::ProjectChanges changes);

  policy::Project& project_;
  Perform perform_;
  std::map<ProblemId, Opinions> opinions_;
};

}  // namespace gleaner::simulator
