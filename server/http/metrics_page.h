// The server's figures for Prometheus (server/metrics/exposition.h), every family with its meaning in its
// help text; tests/functional/operations_test.py compares what deploy/monitoring asks for. The number of
// series has a bound: no hosts, and at most limits::problems_in_metrics_max problems. Pure.
#pragma once

#include <string>

#include "server/http/figures.h"
#include "server/metrics/exposition.h"
#include "server/service/upkeep/vitals.h"

namespace gleaner::http {

// `connections` may be null: what it would say is left out.
[[nodiscard]] std::string render_metrics(const service::Figures& figures, const RequestFigures& requests,
                                         const ConnectionFigures* connections);

}  // namespace gleaner::http
