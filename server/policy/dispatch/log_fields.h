// The fields of a server's log, for its writer and its replay alike (journal/log_fields.h). Internal to this
// module.
#pragma once

#include "server/policy/dispatch/mapping_group.h"
#include "server/policy/dispatch/terms.h"
#include "server/policy/journal/log_fields.h"
#include "shared/protocol/fields_work.h"

namespace gleaner::policy {

inline constexpr protocol::codec::Whole from_one{1, log_whole_max};  // who exists has such a number
inline constexpr protocol::codec::List all_from_one{std::numeric_limits<std::size_t>::max(), from_one};

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, PlanRules>& rules) {
  const LogFields log(archive);
  log("heartbeat", rules.heartbeat);
  log("unit_maximum", rules.unit_maximum);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, ProblemTerms>& terms) {
  const LogFields log(archive);
  log("strategy", terms.strategy);
  log("weight", terms.share.weight);
  archive("priority", terms.share.priority, protocol::codec::Whole{-1000, 1000});
  log("running", terms.running);
  log("application", terms.needs.application);
  log("platforms", terms.needs.platforms);
  log("memory_bytes", terms.needs.memory_bytes);
  log("threads", terms.needs.threads);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, HostTerms>& terms) {
  const LogFields log(archive);
  log("performance", terms.performance);
  log("held_until", terms.held_until);
  log("held_because", terms.held_because);
  archive("barred", terms.barred, all_from_one);
  log.added("own", terms.own);
  log.added("cores", terms.cores);
  log.added("on_hold", terms.on_hold);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, WorkDemand>& demand) {
  const LogFields log(archive);
  archive("host", demand.host, from_one);
  log.rows("slots", demand.slots);
  log("platforms", demand.offer.platforms);
  log.maybe("applications", demand.offer.applications);
  log("memory_bytes", demand.offer.memory_bytes);
  log("cores", demand.offer.cores);
  log("performance", demand.proposal.performance);
  log("queue_unloaded", demand.proposal.queue_unloaded);
  log("queue_current", demand.proposal.queue_current);
  log("items", demand.proposal.items);
  log("watts", demand.proposal.watts);
  archive("units", demand.units, all_from_one);
  log.maybe("relay", demand.relay);
  archive.defaulted("awaited", demand.awaited, all_from_one);
}

// What came of a search for a plan.
struct PlanOutcome {
  struct Queue {
    PlanSlot slot;
    std::vector<PlanTask> tasks;
  };
  std::string strategy;
  double seconds = 0;
  bool taken = true;
  std::string reason;
  std::int64_t placed = 0;
  std::vector<Queue> queues;
};

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, PlanTask>& task) {
  const LogFields log(archive);
  archive("problem", task.problem, from_one);
  log("begin", task.range.begin);
  log("end", task.range.end);
  log("cost", task.cost);
  archive.require(task.range.begin <= task.range.end, "expected a task whose end is not before its begin");
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, PlanOutcome::Queue>& queue) {
  const LogFields log(archive);
  archive("host", queue.slot.host, from_one);
  log("slot", queue.slot.slot);
  log.rows("tasks", queue.tasks);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, PlanOutcome>& outcome) {
  const LogFields log(archive);
  log("strategy", outcome.strategy);
  log("seconds", outcome.seconds);
  log("taken", outcome.taken);
  log("reason", outcome.reason);
  log("placed", outcome.placed);
  log.rows("queues", outcome.queues);
}

}  // namespace gleaner::policy
