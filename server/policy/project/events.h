// What happens to a project besides what its scheduler is told (dispatch/events.h), and what follows from it.
// Facts that the project cannot know (what a kernel ended with, a secret draw) are values of the events; what
// the caller has to store, tell or do is a value of the changes. Value types.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "server/policy/blame.h"
#include "server/policy/dispatch/events.h"
#include "server/policy/stage/stage.h"
#include "server/policy/trust/reputation.h"
#include "shared/protocol/messages.h"

namespace gleaner::policy {

// Results of the host's came, and its stage took these items, the first of their kind.
struct DeliveredEvent {
  ProblemId problem;
  HostId host;
  std::vector<Range> accepted;
  std::uint64_t draw = 0;  // secret, the same for the same delivery: decides which items are audited
};

// Every item of the problem's stage is accepted, and nothing is being compared.
struct CompletedEvent {
  ProblemId problem;
  std::uint64_t draw = 0;  // secret, the same for the same stage
};

// The books of a stage that is read back.
struct AuditedEvent {
  struct Delivery {
    HostId host;
    Range accepted;
    std::uint64_t draw = 0;  // as in DeliveredEvent
  };
  ProblemId problem;
  std::vector<Delivery> deliveries;  // in the order in which they came
  std::vector<Range> verified;       // by verdicts
};

// A kernel failed.
struct FailedEvent {
  ProblemId problem;
  HostId holder;  // of the unit, which is open
  UnitId unit;
  HostId host;  // whose kernel failed: the holder, or one under it
  protocol::FailureKind kind = protocol::FailureKind::kernel_error;
  std::int64_t item = 0;  // at which, by the host's word
  std::string message = {};
  std::int64_t items_accepted = 0, failures = 0;  // of the host, until now
};

struct ProjectChanges {
  struct Standings {
    HostId host;
    ApplicationId application;
    Standing standing;
  };
  // Results that are worth nothing any more: the host's own are to be deleted, and the items are not
  // accepted.
  struct Doubted {
    ProblemId problem;
    HostId host;
    Range range;
  };
  // What happens to items that were compared.
  enum class Settlement {
    nothing,   // too few parties said the same
    agreed,    // what was accepted is right
    disputed,  // another host is asked
    decided,   // the first of the verdict's right opinions is what counts
    undecided  // the items are quarantined, and none of their results is accepted
  };

  std::vector<std::pair<ProblemId, Changes>> stages;  // what stages changed, one entry a stage
  std::vector<Standings> standings;
  Settlement settlement = Settlement::nothing;
  std::vector<HostId> refuted;  // found wrong: none of the project's own any more, and held back
  std::vector<Doubted> doubted;
  bool counted = false;           // the failure counts against the host
  std::vector<Ruling> rulings;    // but set_aside, which the stage has
  std::vector<ProblemId> paused;  // their application fails on most hosts

  [[nodiscard]] Changes& of(ProblemId problem);
};

}  // namespace gleaner::policy
