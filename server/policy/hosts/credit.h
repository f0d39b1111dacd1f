// How much a stranger may hold: nothing that a host says of itself moves work away from others
// [server/policy/POLICY.md, R9]. Pure.
//
//   credit of a unit = (a shortest unit at its rate + what was accepted from it, for each slot)
//                      x (1 - 2 x the units, for each slot, that others had to take over)
//   open units       <= 8 + what was accepted from it, in shortest units at its rate
//
// Slots are what it says it has: they count for nothing until they deliver. Its rate is what it delivered in
// the time that the server saw; before that it counts as one of the mean, whatever its benchmark says. What
// was taken over is forgotten with the next accepted item, and fades by half in each longest unit, so that an
// honest host that was switched off is asked again.
#pragma once

#include "server/policy/hosts/fleet.h"
#include "server/policy/hosts/held.h"
#include "server/policy/rules/rules.h"

namespace gleaner::policy {

// Hint units that its next unit may cost, or one item if that costs more; 0: none at all; infinite for the
// project's own hosts.
[[nodiscard]] double credit(const Host& host, const Fleet& fleet, const EndgameRules& rules, Timestamp now);
// May this slot of it hold one more unit now?
[[nodiscard]] bool may_hold_more(const Host& host, const Slot& slot, const Fleet& fleet,
                                 const EndgameRules& rules);
// Others took a unit of its over.
void note_taken(Held& held, const EndgameRules& rules, Timestamp now);

}  // namespace gleaner::policy
