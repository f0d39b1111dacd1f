#include "server/policy/project/life_cycle.h"

namespace gleaner::policy {

bool only_failed_items_left(const Stage& stage) {
  const Ledger& ledger = stage.ledger();
  const std::int64_t aside = ledger.set_aside().total();
  return aside > 0 && !stage.complete() && ledger.accepted().total() + aside >= ledger.items() &&
         stage.open_units().empty();
}

}  // namespace gleaner::policy
