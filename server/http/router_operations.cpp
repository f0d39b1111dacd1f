// Router: the metrics of a server.
#include "server/http/metrics_page.h"
#include "server/http/responses.h"
#include "server/http/router.h"

namespace gleaner::http {

void Router::metrics(const Request& request, const Reply& reply) {
  if (const auto reader = admit(request, {"v1", "admin", "metrics"}); !reader.ok())
    return reply(error_response(reader.error()));
  service_.vitals().figures(
      [reply, requests = requests_, connections = connections_](Result<service::Figures> figures) {
        if (!figures.ok()) return reply(error_response(figures.error()));
        Response response = text_response(render_metrics(*figures, *requests, connections.get()));
        response.headers["Content-Type"] = metrics::media_type;
        reply(std::move(response));
      });
}

}  // namespace gleaner::http
