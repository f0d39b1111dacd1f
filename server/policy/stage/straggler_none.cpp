// No help: idle slots wait. A holder that is silent for a whole lease loses its unit, nothing else happens.
#include "server/policy/stage/straggler.h"

namespace gleaner::policy {
namespace {

class None final : public StragglerRule {
 public:
  [[nodiscard]] Grant help(StageState& /*stage*/, const Requester& /*requester*/, Timestamp /*now*/,
                           Changes& /*changes*/) const override {
    return {{}, 0, "nothing is free"};
  }
};

}  // namespace

StragglerEntry none_straggler() {
  static const None rule;
  return {{Straggler::none, "none", "idle slots wait", "-"}, &rule};
}

}  // namespace gleaner::policy
