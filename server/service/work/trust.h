// Which results are believed: tells policy::Project, which decides, of deliveries, verdicts and failures, and
// stores what it decided. Writer thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/service/core/transaction.h"

namespace gleaner::service {

// Nobody outside knows the key, so nobody can tell which items are audited; the same delivery, or the same
// problem's end, draws the same.
[[nodiscard]] std::uint64_t draw_for(const Model& model, std::string_view what, std::int64_t number);
// Stores what the project decided; what stages changed comes last, since a stage may be complete with it.
[[nodiscard]] Status store_decided(Transaction& tx, const policy::ProjectChanges& changes);
// Audits of a stage that was read back: what is accepted, what verdicts were taken. Those that were under way
// are asked for again.
[[nodiscard]] Status restore_audits(Transaction& tx, Problem& problem);
// The first result of these items came from the host.
[[nodiscard]] Status note_delivery(Transaction& tx, const Problem& problem, HostId host, SegmentId segment,
                                   const std::vector<Range>& accepted);
// Everything is accepted: what is still to be computed again before it may be combined. False: nothing.
[[nodiscard]] Result<bool> audit_rest(Transaction& tx, const Problem& problem);

// Of a stage of which all is delivered and something is still to be computed by another host: a sentence that
// says by whom. REQUIRES: there is a stage.
[[nodiscard]] std::string opinions_waited_for(const Model& model, const Problem& problem, Timestamp now);

}  // namespace gleaner::service
