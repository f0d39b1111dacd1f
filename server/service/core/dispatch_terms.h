// Describes problems and hosts to policy::Dispatch. Writer thread only.
#pragma once

#include <string>

#include "server/service/core/transaction.h"

namespace gleaner::service {

// What a problem's row and application mean to it; tell it again whenever state, weight, priority or strategy
// has changed.
[[nodiscard]] policy::ProblemTerms terms_of(const Problem& problem);
[[nodiscard]] policy::ProblemFacts facts_of(const Problem& problem);
// The host gets nothing of problems whose application it is held back from.
[[nodiscard]] policy::HostTerms terms_of(const Model& model, const Host& host, Timestamp now);
void tell_dispatch(Transaction& tx, const Problem& problem);
void tell_dispatch(Transaction& tx, const Host& host);
// Why a host gets no work now on hold, or after its failures, of anything or of one application; empty: it
// does.
[[nodiscard]] std::string held_back(const Model& model, const Host& host, Timestamp now);

}  // namespace gleaner::service
