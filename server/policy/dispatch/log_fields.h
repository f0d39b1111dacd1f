// The fields of a project's log, for its writer and its reader alike (journal/log_fields.h). Internal to this
// module.
#pragma once

#include "server/policy/dispatch/events.h"
#include "server/policy/journal/entry_fields.h"
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
  log.added("needs", terms.needs.capabilities);
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
  log.added("capabilities", demand.offer.capabilities);
  log("performance", demand.proposal.performance);
  log("queue_unloaded", demand.proposal.queue_unloaded);
  log("queue_current", demand.proposal.queue_current);
  log("items", demand.proposal.items);
  log("watts", demand.proposal.watts);
  archive("units", demand.units, all_from_one);
  log.maybe("relay", demand.relay);
  archive.defaulted("awaited", demand.awaited, all_from_one);
}

// A slot's queue, as a plan has it.
struct LoggedQueue {
  PlanSlot slot;
  std::vector<PlanTask> tasks;
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
void visit(Archive& archive, protocol::codec::Of<Archive, LoggedQueue>& queue) {
  const LogFields log(archive);
  archive("host", queue.slot.host, from_one);
  log("slot", queue.slot.slot);
  log.rows("tasks", queue.tasks);
}

// Of the job only its strategy: a replay has the job.
template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, PlannedEvent>& event) {
  const LogFields log(archive);
  std::vector<LoggedQueue> queues;
  for (const auto& [slot, tasks] : event.plan.queues) queues.push_back({slot, {tasks.begin(), tasks.end()}});
  auto placed = static_cast<std::int64_t>(event.plan.placed);
  log("strategy", event.job.strategy);
  log("seconds", event.seconds);
  log("taken", event.plan.taken);
  log("reason", event.plan.reason);
  log("placed", placed);
  log.rows("queues", queues);
  if constexpr (!Archive::writes) {
    event.plan.placed = static_cast<std::uint64_t>(placed);
    for (const LoggedQueue& queue : queues)
      event.plan.queues[queue.slot] = {queue.tasks.begin(), queue.tasks.end()};
  }
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, ProblemEvent>& event) {
  archive("problem", event.problem, from_one);
  visit(archive, event.terms);
  LogFields(archive).maybe("service", event.service);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, DropProblemEvent>& event) {
  archive("problem", event.problem, from_one);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, BeginStageEvent>& event) {
  archive("problem", event.problem, from_one);
  archive("setup", event.setup);
  archive("stored", event.stored);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, HostEvent>& event) {
  archive("host", event.host, from_one);
  visit(archive, event.terms);
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, DropHostEvent>& event) {
  archive("host", event.host, from_one);
}

template <typename Archive>
void visit(Archive&, protocol::codec::Of<Archive, PulseEvent>&) {}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, Opinion>& opinion) {
  const LogFields log(archive);
  archive("host", opinion.host, from_one);
  archive("segment", opinion.segment, protocol::codec::Whole{0, log_whole_max});
  log("reliability", opinion.reliability);
  log("own", opinion.own);
  archive("party", opinion.party, protocol::codec::Whole{-log_whole_max, log_whole_max});
  log("known", opinion.known);
  archive.require(opinion.reliability > 0 && opinion.reliability < 1,
                  "expected a reliability between 0 and 1");
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, VerdictTerms>& terms) {
  const LogFields log(archive);
  log("odds", terms.odds);
  log("coincidence", terms.coincidence);
  archive("agree_min", terms.agree_min, protocol::codec::Whole{1, 1000});
  archive("opinions_max", terms.opinions_max, protocol::codec::Whole{1, 1000});
  archive.require(terms.odds > 0 && terms.coincidence > 0 && terms.coincidence < 1,
                  "expected odds above 0, and a coincidence between 0 and 1");
}

// Of the verdict which opinions agree; what it is otherwise is the answer.
template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, ComparedEvent>& event) {
  const LogFields log(archive);
  constexpr std::size_t opinions_max = 4096;  // far beyond what is ever asked for
  std::vector<std::int64_t> classes(event.verdict.classes.begin(), event.verdict.classes.end());
  archive("problem", event.problem, from_one);
  log("range", event.range);
  archive("terms", event.terms, protocol::codec::Row{});
  archive("opinions", event.opinions, protocol::codec::List{opinions_max, protocol::codec::Row{}});
  log("classes", classes);
  archive.require(!event.opinions.empty() && classes.size() == event.opinions.size(),
                  "expected one opinion or more, and a class of each");
  if constexpr (!Archive::writes) event.verdict.classes.assign(classes.begin(), classes.end());
}

template <typename Archive>
void visit(Archive& archive, protocol::codec::Of<Archive, StageHappened>& event) {
  archive("problem", event.problem, from_one);
  archive("event", event.entry);
}

}  // namespace gleaner::policy
