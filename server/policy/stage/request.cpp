// A slot asks for work: which rules are asked, in which order, and how a proposal becomes a unit.
#include <algorithm>

#include "server/policy/hosts/credit.h"
#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

// A slot may hold the unit it computes and one that waits.
constexpr std::size_t units_per_slot_max = 2;

const char* const passed_over = "hosts that draw less for it and end it as soon are about to ask";

// The next copies of a comparison rule's plan.
void propose_planned_copies(const StageState& stage, const Requester& requester, const Take& take) {
  for (const UnitId group : stage.copies.plan.groups) {
    if (propose_copy(stage, requester, group, stage.rule->why, Proposal::From::plan, take)) return;
  }
}

// One request: what its rules proposed, and whether another slot should have had it.
struct Asking {
  StageState& stage;
  const Requester& requester;
  Timestamp now;
  Changes& changes;
  double credit = 0;      // hint units that the unit may cost
  bool newcomer = false;  // a stranger that has delivered nothing, where others have: only what is free
  bool granted = false, left = false;

  // As much of it as the host is trusted with.
  void fit(Proposal& proposal) const {
    const Costs& costs = stage.ledger.costs();
    if (costs.of(proposal.range) <= credit || proposal.kind == UnitKind::check || proposal.as_copy) return;
    if (proposal.cut_at) {
      proposal.range.begin = std::min(costs.tail_worth(proposal.range, credit), proposal.range.end - 1);
      proposal.cut_at = proposal.range.begin;
      proposal.work = costs.of(proposal.range);
    } else {
      proposal.range.end = std::max(proposal.range.begin + 1, costs.head_worth(proposal.range, credit));
    }
    proposal.reason += stage.because("; no more before it has delivered more");
  }

  bool take(Proposal& proposal) {
    if (proposal.range.empty()) return false;
    fit(proposal);
    if (proposal.work > 0 && stage.rule->saves_energy &&
        stage.energy.keeps(requester.host, *stage.units.group(proposal.of), proposal.work, now)) {
      left = true;
      return false;
    }
    stage.apply(proposal, requester, now, changes);
    return granted = true;
  }
  std::string ask(Rule rule) {
    return rule(stage, requester, now, [this](Proposal& proposal) { return take(proposal); });
  }

  std::string free_work() {
    if (stage.rule->saves_energy && requester.urgent && !requester.planned &&
        stage.energy.keeps_free(requester.host, stage.ledger, stage.pace(), now)) {
      left = true;
      return "reserved for more efficient hosts";
    }
    if (stage.ledger.free().empty()) return {};
    stage.ledger.forget_taken();
    if (!requester.planned && long_items_matter(stage) && stage.ledger.costs().differ())
      stage.ledger.sort_free();
    return ask(propose_fresh);
  }

  // Nothing is free for it.
  std::string idle() {
    const StragglerRule& rule = *stage.rule;
    if (newcomer) return "nothing is free, and the last units go to hosts that have delivered";
    if (rule.gives_up) return search();
    if (rule.barred != nullptr) {
      if (const char* why = rule.barred(stage, requester)) return why;
    }
    if (rule.plan != nullptr) {
      CopyMemory& copies = stage.copies;
      if (copies.made == Timestamp::min() || now >= later(copies.made, stage.pace().park) ||
          now < copies.made) {
        copies.plan = rule.plan(stage, now);
        copies.made = now;
      }
      propose_planned_copies(stage, requester, [this](Proposal& proposal) { return take(proposal); });
    }
    for (const Rule one : rule.idle) {
      if (!granted) ask(one);
    }
    return rule.nothing;
  }

  std::string search() {
    const double rate = stage.clock.rate(requester.host);
    FailedSearches& failed = stage.failed;
    if (now >= later(failed.since, stage.pace().park) || now < failed.since) failed = {};
    const bool kept = stage.clock.slot({requester.host, requester.slot}).kept_for.valid();
    if (failed.count < numbers::looked_at || rate > failed.fastest || kept) {
      stage.forecast.settle();
      for (const Rule one : stage.rule->idle) {
        if (!granted) ask(one);
      }
    }
    if (granted) return {};
    if (left) return passed_over;
    if (failed.count++ == 0) failed.since = now;
    failed.fastest = std::max(failed.fastest, rate);
    return stage.because("nothing is free, and no help of this host would end the {} open units sooner",
                         stage.units.open().size());
  }
};

}  // namespace

Grant StageState::request(const Requester& requester, Timestamp now, Changes& changes) {
  refresh(now, changes);
  Host& host = clock.host(requester.host);
  host.stranger = requester.stranger;
  clock.change(host, [&](Host& changed) {
    HostRecord& record = changed.record;
    if (requester.performance > 0) record.performance = requester.performance;
    record.queue_unloaded = requester.queue_unloaded;
    record.queue_current = requester.queue_current;
    record.proposed_items = requester.proposed_items;
    record.slots = std::max(record.slots, requester.slots);
    record.last_contact = now;
  });
  if (requester.relay) {
    host.relay = true;
    take_offer(host, *requester.relay);
  }
  Slot& slot = clock.slot({requester.host, requester.slot});
  energy.asks(requester, slot);
  clock.asked(slot, now, pace());
  const EndgameRules& rules = pace();
  const double park = rules.park;
  first_request = std::min(first_request, now);
  if (ledger.complete()) return {{}, park, "everything is delivered"};
  if (host.record.omitted)
    return {{}, park, "this host was left out: it had returned nothing when 70 % were completed"};
  if (!requester.urgent && !host.relay && slot.units.size() >= units_per_slot_max)
    return {{}, park, "a unit waits in this slot already"};
  if (host.relay && slot.units.size() >= relay_leases_max)
    return {{}, park, "the relay has as many units as it may have at a time"};
  if (host.relay && std::any_of(slot.units.begin(), slot.units.end(),
                                [](const Held* held) { return held->watch.withholds; }))
    return {{}, park, "the relay has delivered nothing of its units: it gets more once it delivers"};
  if (!may_hold_more(host, slot, clock.fleet(), rules))
    return {{}, park, "it must deliver the results that it holds first"};
  const double trusted = credit(host, clock.fleet(), rules, now);
  if (trusted <= 0) return {{}, park, "other hosts had to compute units that it held and did not deliver"};

  const bool newcomer = host.stranger && host.record.items_accepted == 0 && clock.fleet().slots_proven() > 0;
  Asking asking{*this, requester, now, changes, trusted, newcomer};
  std::string reason = asking.ask(propose_check);
  if (!asking.granted && requester.urgent) asking.ask(propose_late);
  if (!requester.planned && !ledger.free().empty()) {
    for (const Rule early : rule->early) {
      if (!asking.granted && !newcomer) asking.ask(early);
    }
  }
  if (!asking.granted) reason = asking.free_work();
  if (!asking.granted && requester.urgent && !asking.left) {
    std::string idle = asking.idle();
    if (reason.empty()) reason = std::move(idle);
  }
  if (asking.granted) return {requester.unit, 0, {}};
  if (reason.empty()) reason = "nothing is free; the last units go to idle slots";
  energy.waits(slot, later(now, latest_return(park)));
  return {{}, park, std::move(reason)};
}

void StageState::apply(Proposal& proposal, const Requester& requester, Timestamp now, Changes& changes) {
  Host& host = clock.host(requester.host);
  if (proposal.kind == UnitKind::fresh) {
    clock.change(host, [&](Host& changed) {
      HostRecord& record = changed.record;
      if (const auto& size = proposal.size) {
        record.used_performance = size->used_performance;
        record.current_size = size->current_size;
        record.memory = size->memory;
      }
      ++record.requests;
    });
    if (proposal.size) sizing_memory = proposal.size->memory;
  }
  if (proposal.check) {
    Check& check = checks[*proposal.check];
    if (check.unit.valid())
      check.asked.push_back(units.at(check.unit).unit.host);  // its result may still come
    check.unit = requester.unit;
  }
  totals.copied_cost += proposal.price;
  if (proposal.from != Proposal::From::rule) copies.once.insert(proposal.of);
  if (proposal.from == Proposal::From::plan) std::erase(copies.plan.groups, proposal.of);
  if (proposal.from == Proposal::From::turn) copies.last = proposal.of;
  if (const Group* group = units.group(proposal.of); group != nullptr) {
    for (Held* member : group->members)
      if (!member->live()) note_taken(*member, pace(), now);
  }
  const auto cut_others = [&] {
    if (proposal.cut_at)
      cut_group(proposal.of, *proposal.cut_at, requester.unit, proposal.cut_reason, now, changes);
  };
  if (proposal.as_copy) cut_others();
  open_unit(requester, proposal.kind, proposal.range, proposal.as_copy ? proposal.of : UnitId{},
            std::move(proposal.reason), now, changes);
  if (!proposal.as_copy) cut_others();
  if (proposal.late.valid()) {
    Held& late = units.at(proposal.late);
    copies.by_lease.erase({late.lease_end, late.unit.id});
  }
}

}  // namespace gleaner::policy
