// Router: what monitoring systems and load balancers ask, which is no part of the API's versions.
#include "server/http/metrics_page.h"
#include "server/http/responses.h"
#include "server/http/router.h"

namespace gleaner::http {
namespace {

Response plain_text(int status, std::string body) {
  Response response;
  response.status = status;
  response.headers["Content-Type"] = "text/plain; charset=utf-8";
  response.headers["X-Content-Type-Options"] = "nosniff";
  response.headers["Cache-Control"] = "no-store";
  response.body = std::move(body);
  return response;
}

}  // namespace

bool Router::watch_operation(const Request& request, const Reply& reply) {
  const auto& path = request.path;
  const bool known = path == "/healthz" || path == "/readyz" || path == "/metrics";
  if (!known) return false;
  if (request.method != "GET" && request.method != "HEAD") {
    reply(error_response(no_such_operation(request)));
  } else if (path == "/healthz") {
    reply(plain_text(200, "ok\n"));
  } else if (path == "/readyz") {
    const Status ready = service_.vitals().readiness();
    reply(ready.ok() ? plain_text(200, "ready\n") : error_response(ready.error()));
  } else {
    metrics(request, reply);
  }
  return true;
}

void Router::metrics(const Request& request, const Reply& reply) {
  if (const auto reader = admit(request, {"v1", "admin", "metrics"}); !reader.ok())
    return reply(error_response(reader.error()));
  service_.vitals().figures(
      [reply, requests = requests_, connections = connections_](Result<service::Figures> figures) {
        if (!figures.ok()) return reply(error_response(figures.error()));
        Response response = plain_text(200, render_metrics(*figures, *requests, connections.get()));
        response.headers["Content-Type"] = metrics::media_type;
        reply(std::move(response));
      });
}

}  // namespace gleaner::http
