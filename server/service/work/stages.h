// What a relay must know of the stages of which it has leases, to decide for its own hosts. Thread-safe.
#pragma once

#include "server/service/core/kernel.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service {

// forbidden: `asker` is no relay. not_found: the stage is not the problem's present one, or has ended.
class Stages {
 public:
  explicit Stages(Kernel& kernel) : kernel_(kernel) {}

  void describe(HostId asker, ProblemId problem, int stage, Done<protocol::StageDescription> done);
  // Of the items from `from` on as many as an answer has (shared/protocol/stage_costs.h), compressed.
  // not_found: also where no costs are known, or `from` is behind the last item.
  void costs(HostId asker, ProblemId problem, int stage, std::int64_t from, Done<Bytes> done);

 private:
  Kernel& kernel_;
};

}  // namespace gleaner::service
