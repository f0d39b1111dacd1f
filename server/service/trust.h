// Which results are believed (policy/trust): what of a delivery another host computes again, what verdicts
// mean for the hosts, and what is taken back from a host that was found wrong. Writer thread only.
#pragma once

#include <string>
#include <vector>

#include "server/service/compare.h"
#include "server/service/transaction.h"

namespace gleaner::service {

// The books of a stage that begins.
void begin_audits(Problem& problem);
// The same of a stage that was read back: what is accepted, what verdicts were taken. Audits that were under
// way are asked for again.
[[nodiscard]] Status restore_audits(Transaction& tx, Problem& problem);

// The first result of these items came from the host.
[[nodiscard]] Status audit_accepted(Transaction& tx, Problem& problem, HostId host, SegmentId segment,
                                    const std::vector<Range>& accepted);
// Everything is accepted: what is still to be computed again before it may be combined. False: nothing.
[[nodiscard]] Result<bool> audit_rest(Transaction& tx, Problem& problem);

// What the verdict says of the hosts that gave an opinion. Who was found wrong loses its open units of the
// application and, of every running problem, all that it delivered and nobody verified.
[[nodiscard]] Status learn_from(Transaction& tx, Problem& problem, const ReviewFinding& finding);

// What a verdict on results of this problem asks for, and how far each host is believed.
[[nodiscard]] policy::VerdictTerms verdict_terms(const Model& model, const Problem& problem, Timestamp now);
[[nodiscard]] policy::Opinion witness(const Model& model, const Problem& problem, HostId host, Timestamp now);
// Whom no opinion is asked of besides those who have given one: hosts of their parties
// (policy/trust/witness.h); for spot checks strangers, while the project has hosts of its own.
[[nodiscard]] std::vector<HostId> barred(const Model& model, const Problem& problem,
                                         const std::vector<HostId>& asked, Timestamp now);
// Of a stage of which all is delivered and something is still to be computed by another host: a sentence that
// says by whom. REQUIRES: there is a stage.
[[nodiscard]] std::string opinions_waited_for(const Model& model, const Problem& problem, Timestamp now);

}  // namespace gleaner::service
