// Problems of a relay that are over as far as it can see: the project finished or cancelled them, or has
// nothing of them left for it. They go from its disk; with a later lease they begin anew. Dropped are those
// of which nothing has been here for an hour, as far as the calls before saw, neither a lease, nor a unit of
// a host, nor a result that the project has not answered. A host that asks for an answer once more gets none;
// the project has it.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "server/policy/calendar.h"
#include "server/service/work/life_cycle.h"

namespace gleaner::service {
namespace {

// Between stages of a problem nothing may be here for some minutes, and whoever was refused more work asks
// again within them: to fetch the stage anew each time would cost more than it takes on the disk.
constexpr Duration quiet_for = std::chrono::hours{1};
// A host that was off meanwhile, over night or a holiday, still hears its answers.
constexpr Duration answers_wait = std::chrono::hours{24 * 14};

// Of which something is here.
std::set<ProblemId> busy(const Model& model) {
  std::set<ProblemId> problems;
  for (const auto& [unit, lease] : upstream_of(model).leases)
    if (lease.open) problems.insert(lease.problem);
  for (const auto& [segment, owed] : upstream_of(model).owed) problems.insert(owed.row.problem);
  for (const auto& [unit, problem] : model.open_units) problems.insert(problem);
  return problems;
}

// Of which some host has not been told the project's answer.
std::set<ProblemId> untold(const Model& model) {
  std::set<ProblemId> problems;
  for (const auto& [host, answers] : upstream_of(model).to_tell)
    for (const auto& answer : answers)
      if (answer.told == 0) problems.insert(answer.problem);
  return problems;
}

}  // namespace

Status Upstream::drop_quiet(Transaction& tx) {
  Upstream& upstream = *this;
  const auto here = busy(tx.model), expected = untold(tx.model);
  std::vector<ProblemId> gone;
  for (const auto& [id, problem] : tx.model.problems) {
    if (here.contains(id)) {
      upstream.quiet_since.erase(id);
      continue;
    }
    const Timestamp since = upstream.quiet_since.try_emplace(id, tx.now).first->second;
    const Duration wait = expected.contains(id) ? answers_wait : quiet_for;
    if (tx.now >= since + wait && policy::may_expire(tx.calendar_agreed, wait)) gone.push_back(id);
  }
  for (const ProblemId id : gone) {
    tx.effects.info(fmt::format("problem {} ({}) goes from this relay: its parent wants nothing more of it",
                                id.value, tx.model.problems.at(id).row.name));
    TRY(erase_problem(tx, id));
  }
  return {};
}

}  // namespace gleaner::service
