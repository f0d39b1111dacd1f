// What a problem would cost and when it would be done, before it is added: its manager plans it as if it
// were, and what is known of the application and the fleet says the rest (policy/outlook/prospect.h).
#include <algorithm>
#include <string>

#include "server/policy/outlook/prospect.h"
#include "server/service/core/stage_waste.h"
#include "server/service/operator/fleet_now.h"
#include "server/service/operator/problems.h"
#include "shared/json/text.h"

namespace gleaner::service {
namespace {

constexpr std::size_t tried_max = 8;  // the newest

bool same_inputs(const std::vector<protocol::Input>& a, const std::vector<protocol::Input>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.name == other.name && one.digest == other.digest;
  });
}

// In whatever order and with whatever blanks they are written.
bool same_values(const std::string& one, const std::string& other) {
  const auto members = [](const std::string& text) {
    auto all = json::parse_or_null(text).members();
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return all;
  };
  return one == other || members(one) == members(other);
}

// Of its first stage: hint units of others may be something else.
Result<policy::Tried> experience(Transaction& tx, const Problem& problem,
                                 const storage::ProblemRow& drafted) {
  std::vector<policy::HostRecord> records;
  if (problem.stage != nullptr && problem.row.stage == 0) {
    for (const policy::HostRecord* record : problem.stage->view().hosts()) records.push_back(*record);
  } else {
    TRY_ASSIGN(records, tx.store.host_records(problem.row.id, 0));
  }
  policy::Tried tried;
  for (const auto& record : records) {
    const double seconds = record.rate > 0 ? record.cost_accepted / record.rate : record.busy_seconds;
    // Perhaps from before it had measured itself.
    const auto host = tx.model.hosts.find(record.host);
    const double performance = record.performance > 0         ? record.performance
                               : host == tx.model.hosts.end() ? 0
                                                              : host->second.row.mflops;
    if (!(performance > 0) || !(seconds > 0)) continue;
    tried.cost += record.cost_accepted;
    tried.mflop += seconds * performance;
  }
  tried.same = same_values(problem.row.parameters, drafted.parameters) &&
               same_inputs(problem.row.inputs, drafted.inputs);
  return tried;
}

Result<std::vector<policy::Tried>> experiences(Transaction& tx, const storage::ProblemRow& drafted) {
  const std::string& name = tx.model.applications.at(drafted.application).row.name;
  std::vector<policy::Tried> all;
  for (auto each = tx.model.problems.rbegin(); each != tx.model.problems.rend(); ++each) {
    if (tx.model.applications.at(each->second.row.application).row.name != name) continue;
    TRY_ASSIGN(const auto tried, experience(tx, each->second, drafted));
    if (tried.cost > 0) all.push_back(tried);
    if (all.size() == tried_max) break;
  }
  return all;
}

// How many running problems go first, and its share of what is left among its equals.
struct Rivals {
  std::int64_t ahead = 0;
  double share = 1;
};
Rivals rivals(const Model& model, const storage::ProblemRow& drafted) {
  Rivals found;
  double weights = drafted.weight;
  for (const auto& [id, problem] : model.problems) {
    if (problem.row.state != protocol::ProblemState::running) continue;
    if (problem.row.priority > drafted.priority) ++found.ahead;
    if (problem.row.priority == drafted.priority) weights += problem.row.weight;
  }
  found.share = drafted.weight / weights;
  return found;
}

std::string why_unknown(const protocol::ProblemEstimate& estimate, const FleetNow& fleet,
                        const std::string& application) {
  if (fleet.joined == 0) return "no host has joined yet";
  if (fleet.online == 0) return "no host is online";
  if (estimate.core_seconds >= 0) return {};
  if (estimate.tried > 0) return "no host has measured its speed yet";
  return "no problem of " + application + " has run here yet: a small one would give an estimate";
}

Status appraise(Transaction& tx, const storage::ProblemRow& drafted, const storage::StageRow& stage,
                Result<protocol::ProblemEstimate>& result) {
  const auto application = tx.model.applications.find(drafted.application);
  if (application == tx.model.applications.end()) {
    result = no_application("this");
    return {};
  }
  const auto& of = application->second.row;
  const FleetNow fleet = fleet_now(tx.model, tx.now);
  const Rivals others = rivals(tx.model, drafted);
  TRY_ASSIGN(const auto tried, experiences(tx, drafted));
  const double longest = stage.costs.empty() ? 1 : *std::max_element(stage.costs.begin(), stage.costs.end());
  const double cost = total_cost(stage) + std::max(0.0, stage.cost_ahead);
  const policy::Cores cores{fleet.mflops(), fleet.cores, others.ahead > 0 ? 0 : others.share};
  const auto prospect = policy::prospect(tried, cost, longest, cores);

  protocol::ProblemEstimate estimate;
  estimate.application = of.name + "@" + of.version;
  estimate.items = stage.items;
  estimate.cost = cost;
  estimate.hosts = fleet.online;
  estimate.cores = fleet.cores;
  estimate.share = cores.share;
  estimate.tried = prospect.tried;
  estimate.same_parameters = prospect.same;
  estimate.core_seconds = prospect.core_seconds.seconds;
  estimate.core_low_seconds = prospect.core_seconds.low;
  estimate.core_high_seconds = prospect.core_seconds.high;
  estimate.eta_seconds = prospect.end.seconds;
  estimate.eta_low_seconds = prospect.end.low;
  estimate.eta_high_seconds = prospect.end.high;
  estimate.waits = others.ahead > 0
                       ? "problems of a higher priority go first: " + std::to_string(others.ahead)
                       : why_unknown(estimate, fleet, of.name);
  result = std::move(estimate);
  return {};
}

}  // namespace

void Problems::estimate(protocol::AddProblem request, Done<protocol::ProblemEstimate> done) {
  draft(std::move(request), [this, done = std::move(done)](const Result<Draft>& draft) {
    if (!draft.ok()) return done(draft.error());
    const auto planned = plan(*draft);
    if (!planned.ok()) return done(planned.error());
    kernel_.decide<protocol::ProblemEstimate>(
        [row = draft->row, stage = planned->row](Transaction& tx,
                                                 Result<protocol::ProblemEstimate>& estimate) {
          return appraise(tx, row, stage, estimate);
        },
        {[this, draft = *draft, done](Result<protocol::ProblemEstimate> estimate) {
           forget(draft);
           done(std::move(estimate));
         },
         done.actor()});
  });
}

}  // namespace gleaner::service
